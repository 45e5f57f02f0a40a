import BLEAppLifecycle
import Foundation

/// Handles the system's events of a peripheral: the objects change first, then the delegate is called.
extension CBPeripheral {
    /// Handles what a loop of writes must see at once.
    func foresee(takesWritesWithoutResponse: Bool) {
        content.with { $0.takesWritesWithoutResponse = takesWritesWithoutResponse }
    }

    func receive(_ event: PeripheralEvent) {
        switch event {
        case .servicesDiscovered(let services, let error):
            adopt(services)
            delegate?.peripheral(self, didDiscoverServices: error?.publicError)
        case .includedServicesDiscovered(let service, let included, let error):
            guard let service = attribute(service, CBService.self) else { return }
            if error == nil {
                let objects = included.map { object(of: $0) }
                service.content.with { $0.includedServices = objects }
            }
            delegate?.peripheral(self, didDiscoverIncludedServicesFor: service, error: error?.publicError)
        case .characteristicsDiscovered(let service, let characteristics, let error):
            guard let service = attribute(service, CBService.self) else { return }
            if error == nil { adopt(characteristics, in: service) }
            delegate?.peripheral(self, didDiscoverCharacteristicsFor: service, error: error?.publicError)
        case .descriptorsDiscovered(let characteristic, let descriptors, let error):
            guard let characteristic = attribute(characteristic, CBCharacteristic.self) else { return }
            if error == nil { adopt(descriptors, in: characteristic) }
            delegate?.peripheral(self, didDiscoverDescriptorsFor: characteristic, error: error?.publicError)
        case .valueUpdated(let characteristic, let value, let error):
            guard let characteristic = attribute(characteristic, CBCharacteristic.self) else { return }
            if let value { characteristic.content.with { $0.value = Data(value) } }
            delegate?.peripheral(self, didUpdateValueFor: characteristic, error: error?.publicError)
        case .descriptorValueUpdated(let descriptor, let value, let error):
            guard let descriptor = attribute(descriptor, CBDescriptor.self) else { return }
            if let value {
                let decoded = DescriptorValue.decode(value, of: descriptor.uuid)
                descriptor.content.with { $0.value = decoded }
            }
            delegate?.peripheral(self, didUpdateValueFor: descriptor, error: error?.publicError)
        case .valueWritten(let characteristic, let error):
            guard let characteristic = attribute(characteristic, CBCharacteristic.self) else { return }
            delegate?.peripheral(self, didWriteValueFor: characteristic, error: error?.publicError)
        case .descriptorWritten(let descriptor, let error):
            guard let descriptor = attribute(descriptor, CBDescriptor.self) else { return }
            delegate?.peripheral(self, didWriteValueFor: descriptor, error: error?.publicError)
        case .notificationStateUpdated(let characteristic, let isNotifying, let error):
            guard let characteristic = attribute(characteristic, CBCharacteristic.self) else { return }
            characteristic.content.with { $0.isNotifying = isNotifying }
            delegate?.peripheral(self, didUpdateNotificationStateFor: characteristic, error: error?.publicError)
        case .rssiRead(let rssi, let error):
            if error == nil { content.with { $0.rssi = NSNumber(value: rssi) } }
            delegate?.peripheral(self, didReadRSSI: NSNumber(value: rssi), error: error?.publicError)
        case .nameUpdated(let name):
            content.with { $0.name = name }
            delegate?.peripheralDidUpdateName(self)
        case .servicesModified(let invalidated):
            delegate?.peripheral(self, didModifyServices: invalidate(invalidated))
        case .writeWithoutResponseAvailable(let isAvailable):
            // Another write may have filled the queue again in the meantime.
            if isAvailable, canSendWriteWithoutResponse {
                delegate?.peripheralIsReady(toSendWriteWithoutResponse: self)
            }
        case .writeLimitsChanged(let limits):
            content.with { $0.limits = limits }
        case .channelOpened(let id, let psm, let error):
            let opened = id.map { L2CAPChannelTable.shared.open($0, psm: psm, peer: self, on: channel) }
            delegate?.peripheral(self, didOpen: opened, error: error?.publicError)
        }
    }

    // MARK: The tree

    private func attribute<Kind: CBAttribute>(_ id: RemoteAttributeID, _ kind: Kind.Type) -> Kind? {
        content.with { ($0.attributes[id] ?? $0.invalidated[id]) as? Kind }
    }

    /// Returns the object of an attribute: the same one when the attribute is discovered again.
    private func object<Kind: CBAttribute>(_ id: RemoteAttributeID, _ uuid: CBUUID, orMake make: () -> Kind) -> Kind {
        if let known = content.with({ $0.attributes[id] as? Kind }), known.uuid == uuid { return known }
        let object = make()
        content.with { $0.attributes[id] = object }
        return object
    }

    private func object(of service: RemoteService) -> CBService {
        let uuid = CBUUID(service.uuid)
        let object = object(service.id, uuid) {
            CBService(uuid: uuid, isPrimary: service.isPrimary, peripheral: self, remoteID: service.id)
        }
        if let characteristics = service.characteristics { adopt(characteristics, in: object) }
        return object
    }

    func adopt(_ services: [RemoteService]) {
        let objects = services.map { object(of: $0) }
        // Included services are known once all services are.
        for (service, object) in zip(services, objects) {
            guard let ids = service.includedServices else { continue }
            let included = ids.compactMap { attribute($0, CBService.self) }
            object.content.with { $0.includedServices = included }
        }
        content.with { $0.services = objects }
    }

    private func adopt(_ characteristics: [RemoteCharacteristic], in service: CBService) {
        let objects = characteristics.map { characteristic in
            let uuid = CBUUID(characteristic.uuid)
            let object = object(characteristic.id, uuid) {
                CBCharacteristic(
                    uuid: uuid, properties: CBCharacteristicProperties(rawValue: UInt(characteristic.properties)),
                    service: service, remoteID: characteristic.id)
            }
            object.content.with { $0.isNotifying = characteristic.isNotifying }
            if let descriptors = characteristic.descriptors { adopt(descriptors, in: object) }
            return object
        }
        service.content.with { $0.characteristics = objects }
    }

    private func adopt(_ descriptors: [RemoteDescriptor], in characteristic: CBCharacteristic) {
        let objects = descriptors.map { descriptor in
            let uuid = CBUUID(descriptor.uuid)
            return object(descriptor.id, uuid) {
                CBDescriptor(uuid: uuid, characteristic: characteristic, remoteID: descriptor.id)
            }
        }
        characteristic.content.with { $0.descriptors = objects }
    }

    /// - Returns: the services that are no longer valid.
    private func invalidate(_ ids: [RemoteAttributeID]) -> [CBService] {
        let invalidated = ids.compactMap { attribute($0, CBService.self) }
        content.with { state in
            state.services?.removeAll { service in invalidated.contains { $0 === service } }
            for service in invalidated { Self.forget(service, in: &state) }
        }
        return invalidated
    }

    private static func forget(_ service: CBService, in state: inout State) {
        let characteristics = service.characteristics ?? []
        let attributes: [CBAttribute] = [service] + characteristics + characteristics.flatMap { $0.descriptors ?? [] }
        for attribute in attributes {
            guard let id = attribute.remoteID else { continue }
            state.attributes[id] = nil
            state.invalidated[id] = attribute
        }
    }
}
