import BLEHost
import BLEPackets
import FoundationEssentials

extension WireRequest {
    /// A command for the local GATT server; `nil` for one that the protocol does not carry.
    static func command(_ command: ServerCommand) -> OneOf_Command? {
        switch command {
        case .publish(let service): return .publish(WireServiceDefinition(service))
        case .removeService(let handle): return .removeService(handle.wire)
        case .setDeviceName(let name): return .setDeviceName(name)
        case .respond(let question, let answer):
            var respond = WireRespond()
            respond.question = question.rawValue
            switch answer {
            case .value(let octets): respond.value = Data(octets)
            case .success: respond.success = WireNothing()
            case .failure(let error, let handle):
                respond.error.code = UInt32(error.rawValue)
                if let handle { respond.error.handle = handle.wire }
            }
            return .respond(respond)
        case .updateValue(let handle, let octets, let links):
            var update = WireUpdate()
            update.handle = handle.wire
            update.value = Data(octets)
            if let links { update.links.links = links.map(\.wire) }
            return .updateValue(update)
        case .disableServices: return nil
        }
    }
}

extension WireRespond {
    var command: ServerCommand {
        get throws(WireError) {
            let id = GATTRequestID(rawValue: question)
            switch answer {
            case .value(let octets): return .respond(id, .value(Array(octets)))
            case .success: return .respond(id, .success)
            case .error(let error):
                guard let code = UInt8(exactly: error.code) else { throw .invalidField }
                return .respond(
                    id,
                    .failure(
                        ATTError(rawValue: code),
                        handle: error.hasHandle ? try AttributeHandle(wire: error.handle) : nil))
            case nil: throw .invalidField
            }
        }
    }
}

extension WireUpdate {
    var command: ServerCommand {
        get throws(WireError) {
            .updateValue(
                try AttributeHandle(wire: handle), value: Array(value),
                links: hasLinks ? links.links.map { LinkID(wire: $0) } : nil)
        }
    }
}

// MARK: Advertising

extension WireAdvertise {
    public init(_ request: AdvertiseRequest) {
        self.init()
        switch request.content {
        case .packed(let name, let uuids):
            packed = WirePackedAdvertisement()
            if let name { packed.localName = name }
            packed.services = uuids.map { Data($0.wire) }
        case .raw(let advertisement, let scanResponse):
            raw.advertisement = Data(advertisement)
            raw.scanResponse = Data(scanResponse)
        }
        isConnectable = request.isConnectable
        isInBackground = request.isInBackground
        interval = UInt32(request.interval?.rawValue ?? 0)
        resumesAfterConnection = request.resumesAfterConnection
        if let target = request.target {
            self.target.peer = WireAddress(target.peer)
            self.target.form =
                switch target.form {
                case .lowDutyCycle: .lowDutyCycle
                case .highDutyCycle: .highDutyCycle
                case .extended: .extended
                }
        }
    }
}

extension AdvertiseRequest {
    /// - Throws: `WireError.invalidField`.
    public init(_ wire: WireAdvertise) throws(WireError) {
        let content: Content
        switch wire.content {
        case .packed(let packed):
            content = .packed(
                localName: packed.hasLocalName ? packed.localName : nil,
                serviceUUIDs: try BluetoothUUID.requested(packed.services))
        case .raw(let raw):
            content = .raw(advertisement: Array(raw.advertisement), scanResponse: Array(raw.scanResponse))
        case nil: throw .invalidField
        }
        // Core 5.4, Vol 4, Part E, 7.8.5.
        guard wire.interval == 0 || 0x20...0x4000 ~= wire.interval else { throw .invalidField }
        self.init(
            content, isConnectable: wire.isConnectable, isInBackground: wire.isInBackground,
            interval: wire.interval == 0 ? nil : AdvertisingInterval(rawValue: UInt16(wire.interval)),
            resumesAfterConnection: wire.resumesAfterConnection,
            target: wire.hasTarget ? try AdvertisingTarget(wire.target) : nil)
    }
}

extension AdvertisingTarget {
    init(_ wire: WireAdvertisingTarget) throws(WireError) {
        let form: Form
        switch wire.form {
        case .lowDutyCycle: form = .lowDutyCycle
        case .highDutyCycle: form = .highDutyCycle
        case .extended: form = .extended
        case .unspecified, .UNRECOGNIZED: throw .invalidField
        }
        self.init(peer: try DeviceAddress(wire.peer), form: form)
    }
}

// MARK: Services

extension WireServiceDefinition {
    init(_ service: GATTServiceDefinition) {
        self.init()
        uuid = Data(service.uuid.wire)
        isPrimary = service.isPrimary
        includedServices = service.includedServices.map(\.wire)
        characteristics = service.characteristics.map { WireCharacteristicDefinition($0) }
    }
}

extension WireCharacteristicDefinition {
    init(_ definition: GATTCharacteristicDefinition) {
        self.init()
        uuid = Data(definition.uuid.wire)
        properties = UInt32(definition.properties.rawValue)
        permissions = UInt32(definition.permissions.rawValue)
        if let value = definition.value { self.value = Data(value) }
        descriptors = definition.descriptors.map { descriptor in
            WireDescriptorDefinition.with {
                $0.uuid = Data(descriptor.uuid.wire)
                $0.permissions = UInt32(descriptor.permissions.rawValue)
                if let value = descriptor.value { $0.value = Data(value) }
            }
        }
        extendedProperties = UInt32(definition.extendedProperties.rawValue)
        needsEncryptionToSubscribe = definition.needsEncryptionToSubscribe
        minimumKeySize = UInt32(definition.minimumKeySize)
    }
}

extension GATTServiceDefinition {
    init(_ wire: WireServiceDefinition) throws(WireError) {
        var included: [AttributeHandle] = []
        for handle in wire.includedServices { included.append(try AttributeHandle(wire: handle)) }
        var characteristics: [GATTCharacteristicDefinition] = []
        for entry in wire.characteristics { characteristics.append(try GATTCharacteristicDefinition(entry)) }
        self.init(
            uuid: try BluetoothUUID(wire: wire.uuid), isPrimary: wire.isPrimary, includedServices: included,
            characteristics: characteristics)
    }

    /// The attributes that it takes at most.
    public var attributeCount: Int {
        1 + includedServices.count
            + characteristics.reduce(0) { count, characteristic in
                // Declaration and value, the client's configuration and the extended properties.
                count + 4 + characteristic.descriptors.count + (characteristic.properties.contains(.broadcast) ? 1 : 0)
                    // The list of several formats.
                    + (characteristic.descriptors.count > 1 ? 1 : 0)
            }
    }
}

extension GATTCharacteristicDefinition {
    init(_ wire: WireCharacteristicDefinition) throws(WireError) {
        var descriptors: [GATTDescriptorDefinition] = []
        for entry in wire.descriptors {
            descriptors.append(
                GATTDescriptorDefinition(
                    uuid: try BluetoothUUID(wire: entry.uuid),
                    permissions: try AttributePermissions(wire: entry.permissions),
                    value: entry.hasValue ? Array(entry.value) : nil))
        }
        guard let properties = UInt8(exactly: wire.properties),
            let extended = UInt16(exactly: wire.extendedProperties), wire.minimumKeySize <= 16
        else { throw .invalidField }
        self.init(
            uuid: try BluetoothUUID(wire: wire.uuid), properties: CharacteristicProperties(rawValue: properties),
            permissions: try AttributePermissions(wire: wire.permissions),
            value: wire.hasValue ? Array(wire.value) : nil, descriptors: descriptors,
            extendedProperties: CharacteristicExtendedProperties(rawValue: extended),
            needsEncryptionToSubscribe: wire.needsEncryptionToSubscribe, minimumKeySize: UInt8(wire.minimumKeySize))
    }
}

extension AttributePermissions {
    fileprivate init(wire value: UInt32) throws(WireError) {
        guard let value = UInt16(exactly: value) else { throw .invalidField }
        self.init(rawValue: value)
    }
}

extension WirePublishedService {
    init(_ service: GATTPublishedService) {
        self.init()
        uuid = Data(service.uuid.wire)
        isPrimary = service.isPrimary
        range = WireRange(service.range)
        characteristics = service.characteristics.map { characteristic in
            WirePublishedCharacteristic.with {
                $0.uuid = Data(characteristic.uuid.wire)
                $0.declaration = characteristic.declaration.wire
                $0.valueHandle = characteristic.valueHandle.wire
                $0.configuration = characteristic.configuration.wire
                $0.descriptors = characteristic.descriptors.map(\.wire)
            }
        }
    }
}

extension GATTPublishedService {
    init(_ wire: WirePublishedService) throws(WireError) {
        var characteristics: [GATTPublishedCharacteristic] = []
        for entry in wire.characteristics {
            var descriptors: [AttributeHandle] = []
            for handle in entry.descriptors { descriptors.append(try AttributeHandle(wire: handle)) }
            characteristics.append(
                GATTPublishedCharacteristic(
                    uuid: try BluetoothUUID(wire: entry.uuid),
                    declaration: try AttributeHandle(wire: entry.declaration),
                    valueHandle: try AttributeHandle(wire: entry.valueHandle),
                    configuration: try AttributeHandle(wire: entry.configuration), descriptors: descriptors))
        }
        self.init(
            uuid: try BluetoothUUID(wire: wire.uuid), isPrimary: wire.isPrimary,
            range: try AttributeHandleRange(wire.range), characteristics: characteristics, owner: .local)
    }
}
