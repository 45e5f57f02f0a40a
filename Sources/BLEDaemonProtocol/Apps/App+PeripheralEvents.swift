import BLEAppLifecycle
import BLEHost
import BLEPackets
import FoundationEssentials

extension WireAppPeripheralEvent {
    init(_ event: PeripheralEvent, of peer: PeerIdentifier) {
        self.init()
        self.peer = peer.wire
        var failure: ClientError?
        switch event {
        case .servicesDiscovered(let services, let error):
            servicesDiscovered.services = services.map { WireAppRemoteService($0) }
            failure = error
        case .includedServicesDiscovered(let service, let found, let error):
            includedServicesDiscovered.parent = service.wire
            includedServicesDiscovered.services = found.map { WireAppRemoteService($0) }
            failure = error
        case .characteristicsDiscovered(let service, let found, let error):
            characteristicsDiscovered.parent = service.wire
            characteristicsDiscovered.characteristics = found.map { WireAppRemoteCharacteristic($0) }
            failure = error
        case .descriptorsDiscovered(let characteristic, let found, let error):
            descriptorsDiscovered.parent = characteristic.wire
            descriptorsDiscovered.descriptors = found.map { WireDescriptor($0) }
            failure = error
        case .valueUpdated(let characteristic, let value, let error):
            valueUpdated = WireAppValue(characteristic, value)
            failure = error
        case .descriptorValueUpdated(let descriptor, let value, let error):
            descriptorValueUpdated = WireAppValue(descriptor, value)
            failure = error
        case .valueWritten(let characteristic, let error):
            valueWritten = characteristic.wire
            failure = error
        case .descriptorWritten(let descriptor, let error):
            descriptorWritten = descriptor.wire
            failure = error
        case .notificationStateUpdated(let characteristic, let isNotifying, let error):
            notificationStateUpdated.characteristic = characteristic.wire
            notificationStateUpdated.isNotifying = isNotifying
            failure = error
        case .rssiRead(let rssi, let error):
            rssiRead = Int32(rssi)
            failure = error
        case .nameUpdated(let name):
            nameUpdated = WireAppName()
            if let name { nameUpdated.name = name }
        case .servicesModified(let invalidated): servicesModified.numbers = invalidated.map(\.wire)
        case .writeWithoutResponseAvailable(let isAvailable): writeWithoutResponseAvailable = isAvailable
        case .writeLimitsChanged(let limits): writeLimitsChanged = WireAppWriteLimits(limits)
        case .channelOpened(let channel, let psm, let error):
            channelOpened.psm = UInt32(psm)
            if let channel { channelOpened.channel = channel.rawValue }
            failure = error
        }
        if let failure { self.error = WireAppError(failure) }
    }
}

extension PeripheralEvent {
    /// `nil` for an event of a newer daemon that is unknown here.
    init?(_ wire: WireAppPeripheralEvent) throws(WireError) {
        guard let event = wire.event else { return nil }
        let error = wire.hasError ? try ClientError(wire.error) : nil
        switch event {
        case .servicesDiscovered(let found):
            self = .servicesDiscovered(try RemoteService.list(found.services), error)
        case .includedServicesDiscovered(let found):
            self = .includedServicesDiscovered(
                service: try RemoteAttributeID(wire: found.parent), try RemoteService.list(found.services), error)
        case .characteristicsDiscovered(let found):
            self = .characteristicsDiscovered(
                service: try RemoteAttributeID(wire: found.parent),
                try RemoteCharacteristic.list(found.characteristics), error)
        case .descriptorsDiscovered(let found):
            self = .descriptorsDiscovered(
                characteristic: try RemoteAttributeID(wire: found.parent),
                try RemoteDescriptor.list(found.descriptors), error)
        case .valueUpdated(let update):
            self = .valueUpdated(characteristic: try RemoteAttributeID(wire: update.id), update.octets, error)
        case .descriptorValueUpdated(let update):
            self = .descriptorValueUpdated(try RemoteAttributeID(wire: update.id), update.octets, error)
        case .valueWritten(let characteristic):
            self = .valueWritten(characteristic: try RemoteAttributeID(wire: characteristic), error)
        case .descriptorWritten(let descriptor):
            self = .descriptorWritten(try RemoteAttributeID(wire: descriptor), error)
        case .notificationStateUpdated(let state):
            self = .notificationStateUpdated(
                characteristic: try RemoteAttributeID(wire: state.characteristic), isNotifying: state.isNotifying,
                error)
        case .rssiRead(let rssi): self = .rssiRead(rssi: Int8(clamping: rssi), error)
        case .nameUpdated(let update): self = .nameUpdated(update.hasName ? update.name : nil)
        case .servicesModified(let list):
            var invalidated: [RemoteAttributeID] = []
            for number in list.numbers { invalidated.append(try RemoteAttributeID(wire: number)) }
            self = .servicesModified(invalidated: invalidated)
        case .writeWithoutResponseAvailable(let isAvailable): self = .writeWithoutResponseAvailable(isAvailable)
        case .writeLimitsChanged(let limits): self = .writeLimitsChanged(WriteLimits(limits))
        case .channelOpened(let opened):
            self = .channelOpened(
                opened.hasChannel ? L2CAPChannelID(rawValue: opened.channel) : nil,
                psm: try UInt16(wire: opened.psm), error)
        }
    }
}

extension WireAppValue {
    fileprivate init(_ attribute: RemoteAttributeID, _ octets: [UInt8]?) {
        self.init()
        id = attribute.wire
        if let octets { value = Data(octets) }
    }

    fileprivate var octets: [UInt8]? { hasValue ? Array(value) : nil }
}

// MARK: Remote databases

extension WireAppRemoteService {
    init(_ service: RemoteService) {
        self.init()
        id = service.id.wire
        uuid = Data(service.uuid.wire)
        isPrimary = service.isPrimary
        endHandle = UInt32(service.endHandle)
        if let included = service.includedServices { includedServices.numbers = included.map(\.wire) }
        if let found = service.characteristics {
            characteristics.characteristics = found.map { WireAppRemoteCharacteristic($0) }
        }
    }
}

extension RemoteService {
    init(_ wire: WireAppRemoteService) throws(WireError) {
        var included: [RemoteAttributeID] = []
        for number in wire.includedServices.numbers { included.append(try RemoteAttributeID(wire: number)) }
        self.init(
            id: try RemoteAttributeID(wire: wire.id), uuid: try BluetoothUUID(wire: wire.uuid),
            isPrimary: wire.isPrimary, endHandle: try UInt16(wire: wire.endHandle),
            includedServices: wire.hasIncludedServices ? included : nil,
            characteristics: wire.hasCharacteristics
                ? try RemoteCharacteristic.list(wire.characteristics.characteristics) : nil)
    }

    static func list(_ wire: [WireAppRemoteService]) throws(WireError) -> [RemoteService] {
        var services: [RemoteService] = []
        for service in wire { services.append(try RemoteService(service)) }
        return services
    }
}

extension WireAppRemoteCharacteristic {
    init(_ characteristic: RemoteCharacteristic) {
        self.init()
        id = characteristic.id.wire
        uuid = Data(characteristic.uuid.wire)
        properties = UInt32(characteristic.properties)
        isNotifying = characteristic.isNotifying
        if let found = characteristic.descriptors { descriptors.descriptors = found.map { WireDescriptor($0) } }
        valueHandle = UInt32(characteristic.valueHandle)
        endHandle = UInt32(characteristic.endHandle)
        if let handle = characteristic.configuration { configuration = UInt32(handle) }
    }
}

extension RemoteCharacteristic {
    init(_ wire: WireAppRemoteCharacteristic) throws(WireError) {
        self.init(
            id: try RemoteAttributeID(wire: wire.id), uuid: try BluetoothUUID(wire: wire.uuid),
            properties: try UInt8(wire: wire.properties), isNotifying: wire.isNotifying,
            descriptors: wire.hasDescriptors ? try RemoteDescriptor.list(wire.descriptors.descriptors) : nil,
            valueHandle: try UInt16(wire: wire.valueHandle), endHandle: try UInt16(wire: wire.endHandle),
            configuration: wire.hasConfiguration ? try UInt16(wire: wire.configuration) : nil)
    }

    static func list(_ wire: [WireAppRemoteCharacteristic]) throws(WireError) -> [RemoteCharacteristic] {
        var characteristics: [RemoteCharacteristic] = []
        for characteristic in wire { characteristics.append(try RemoteCharacteristic(characteristic)) }
        return characteristics
    }
}

extension WireDescriptor {
    fileprivate init(_ descriptor: RemoteDescriptor) {
        self.init()
        handle = descriptor.id.wire
        uuid = Data(descriptor.uuid.wire)
    }
}

extension RemoteDescriptor {
    static func list(_ wire: [WireDescriptor]) throws(WireError) -> [RemoteDescriptor] {
        var descriptors: [RemoteDescriptor] = []
        for descriptor in wire {
            descriptors.append(
                RemoteDescriptor(
                    id: try RemoteAttributeID(wire: descriptor.handle), uuid: try BluetoothUUID(wire: descriptor.uuid)))
        }
        return descriptors
    }
}
