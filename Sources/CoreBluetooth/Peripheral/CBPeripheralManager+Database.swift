import BLEAppLifecycle
import Foundation

/// The objects of published services and their identifiers.
extension CBPeripheralManager {
    func central(_ description: CentralDescription) -> CBCentral {
        let (object, isNew) = centrals.object(of: description.identifier) { CBCentral(description) }
        if !isNew { object.update(description) }
        return object
    }

    func characteristic(_ id: LocalAttributeID) -> CBMutableCharacteristic? {
        content.with { $0.attributes[id] as? CBMutableCharacteristic }
    }

    // MARK: Publishing

    /// Assigns identifiers to a service and everything in it. The app cannot change any of it from now on.
    func publish(_ service: CBMutableService) -> LocalService {
        let characteristics = (service.characteristics ?? []).map { characteristic in
            let (properties, permissions, value) = characteristic.content.with {
                ($0.properties, $0.permissions, $0.value)
            }
            let descriptors = (characteristic.descriptors ?? []).map { descriptor in
                LocalDescriptor(
                    id: number(descriptor), uuid: descriptor.uuid.value,
                    value: DescriptorValue.encode(descriptor.value))
            }
            return LocalCharacteristic(
                id: number(characteristic), uuid: characteristic.uuid.value,
                properties: UInt16(truncatingIfNeeded: properties.rawValue),
                permissions: UInt8(truncatingIfNeeded: permissions.rawValue), value: value.map { [UInt8]($0) },
                descriptors: descriptors)
        }
        let included = (service.includedServices ?? []).map { included in
            // An unpublished service has no identifier; the unused identifier zero makes the system reject it.
            included.localID(on: channel) ?? LocalAttributeID(rawValue: 0)
        }
        let id = number(service)
        content.with { $0.services.append(service) }
        return LocalService(
            id: id, uuid: service.uuid.value, isPrimary: service.isPrimary, includedServices: included,
            characteristics: characteristics)
    }

    private func number(_ attribute: CBAttribute) -> LocalAttributeID {
        let id = content.with { state in
            state.lastAttribute += 1
            let id = LocalAttributeID(rawValue: state.lastAttribute)
            state.attributes[id] = attribute
            return id
        }
        attribute.publication.with { $0 = CBAttribute.Publication(id: id, channel: channel) }
        return id
    }

    func serviceAdded(_ id: LocalAttributeID, _ error: ClientError?) {
        guard let service = content.with({ $0.attributes[id] as? CBMutableService }) else { return }
        if error != nil { unpublish(service) }
        delegate?.peripheralManager(self, didAdd: service, error: error?.publicError)
    }

    /// Releases a service: the app may change it again.
    func unpublish(_ service: CBMutableService) {
        content.with { state in state.services.removeAll { $0 === service } }
        release(service)
        for characteristic in service.characteristics ?? [] {
            release(characteristic)
            characteristic.content.with { $0.subscribedCentrals = [] }
            for descriptor in characteristic.descriptors ?? [] { release(descriptor) }
        }
    }

    private func release(_ attribute: CBAttribute) {
        guard let id = attribute.localID(on: channel) else { return }
        attribute.publication.with { $0 = nil }
        content.with { $0.attributes[id] = nil }
    }

    func endSubscriptions() {
        for case let characteristic as CBMutableCharacteristic in content.with({ Array($0.attributes.values) }) {
            characteristic.content.with { $0.subscribedCentrals = [] }
        }
    }

    // MARK: Restoring

    /// Creates the objects of the published services and returns the delegate's dictionary (SPEC SPR-12, SPR-36).
    func restore(_ restored: RestoredPeripheral) -> [String: Any] {
        var dictionary: [String: Any] = [:]
        var services: [LocalAttributeID: CBMutableService] = [:]
        for service in restored.services { services[service.id] = object(of: service, among: services) }
        for subscription in restored.subscriptions {
            let centrals = subscription.centrals.map { central($0) }
            characteristic(subscription.characteristic)?.content.with { $0.subscribedCentrals = centrals }
        }
        if !restored.services.isEmpty {
            dictionary[CBPeripheralManagerRestoredStateServicesKey] = restored.services.compactMap { services[$0.id] }
        }
        if let advertisement = restored.advertisement {
            content.with { $0.isAdvertising = true }
            var data: [String: Any] = [:]
            if let name = advertisement.localName { data[CBAdvertisementDataLocalNameKey] = name }
            if !advertisement.serviceUUIDs.isEmpty {
                data[CBAdvertisementDataServiceUUIDsKey] = [CBUUID](advertisement.serviceUUIDs)
            }
            dictionary[CBPeripheralManagerRestoredStateAdvertisementDataKey] = data
        }
        return dictionary
    }

    private func object(
        of service: LocalService, among earlier: [LocalAttributeID: CBMutableService]
    ) -> CBMutableService {
        let object = CBMutableService(type: CBUUID(service.uuid), primary: service.isPrimary)
        object.includedServices = service.includedServices.compactMap { earlier[$0] }
        object.characteristics = service.characteristics.map { characteristic in
            let object = CBMutableCharacteristic(
                type: CBUUID(characteristic.uuid),
                properties: CBCharacteristicProperties(rawValue: UInt(characteristic.properties)),
                value: characteristic.value.map { Data($0) },
                permissions: CBAttributePermissions(rawValue: UInt(characteristic.permissions)))
            object.descriptors = characteristic.descriptors.map { descriptor in
                let uuid = CBUUID(descriptor.uuid)
                let object = CBMutableDescriptor(
                    restoring: uuid, value: DescriptorValue.decode(descriptor.value, of: uuid))
                adopt(object, as: descriptor.id)
                return object
            }
            adopt(object, as: characteristic.id)
            return object
        }
        adopt(object, as: service.id)
        content.with { $0.services.append(object) }
        return object
    }

    private func adopt(_ attribute: CBAttribute, as id: LocalAttributeID) {
        content.with {
            $0.attributes[id] = attribute
            $0.lastAttribute = max($0.lastAttribute, id.rawValue)
        }
        attribute.publication.with { $0 = CBAttribute.Publication(id: id, channel: channel) }
    }
}
