import BLEPackets

/// The attributes of a service (Core 5.4, Vol 3, Part G, 3).
struct ServiceLayout {
    private(set) var rows: [Attribute] = []
    private(set) var published: GATTPublishedService
    private let start: AttributeHandle
    private let owner: ClientID

    /// - Parameter start: the handle of the declaration; the others follow without a gap, and wrap around if there is
    ///   no room.
    init(_ definition: GATTServiceDefinition, at start: AttributeHandle, owner: ClientID, database: GATTDatabase) {
        self.start = start
        self.owner = owner
        published = GATTPublishedService(
            uuid: definition.uuid, isPrimary: definition.isPrimary, range: AttributeHandleRange(start, start),
            characteristics: [], owner: owner)
        add(
            definition.isPrimary ? .primaryService : .secondaryService, .readable,
            .stored(definition.uuid.attributeValue))
        for handle in definition.includedServices {
            if let service = database.service(startingAt: handle) { add(include: service) }
        }
        for characteristic in definition.characteristics { add(characteristic) }
        published.range.last = rows.last?.handle ?? start
        rows[0].groupEnd = published.range.last
    }

    /// Equal for two services that look the same to a client, whatever their handles are.
    var signature: [UInt8] { Self.signature(of: rows[...], from: start) }

    static func signature(of rows: ArraySlice<Attribute>, from start: AttributeHandle) -> [UInt8] {
        var message = PacketWriter(reservingCapacity: rows.count * 20)
        for row in rows {
            describe(row, from: start, into: &message)
            message.write(row.type.high)
            message.write(row.type.low)
        }
        return message.bytes
    }

    /// Writes what the database hash uses of an attribute, with handles relative to `start`.
    static func describe(_ attribute: Attribute, from start: AttributeHandle, into message: inout PacketWriter) {
        guard let short = attribute.type.shortValue else { return }
        switch short {
        case 0x2800, 0x2801, 0x2802, 0x2803, 0x2900:
            message.write(attribute.handle.rawValue &- start.rawValue)
            message.write(short)
            guard case .stored(var octets) = attribute.value else { return }
            if short == 0x2803, start != .none, octets.count >= 3 {
                let handle = (UInt16(octets[1]) | UInt16(octets[2]) << 8) &- start.rawValue
                octets[1] = UInt8(truncatingIfNeeded: handle)
                octets[2] = UInt8(truncatingIfNeeded: handle >> 8)
            }
            message.write(bytes: octets)
        case 0x2901...0x2905:
            message.write(attribute.handle.rawValue &- start.rawValue)
            message.write(short)
        default: break
        }
    }

    private var next: AttributeHandle {
        AttributeHandle(rawValue: start.rawValue &+ UInt16(truncatingIfNeeded: rows.count))
    }

    @discardableResult
    private mutating func add(
        _ type: BluetoothUUID, _ permissions: AttributePermissions, _ value: Attribute.Value, keySize: UInt8 = 0
    ) -> AttributeHandle {
        var row = Attribute(
            handle: next, type: type.forAttributes, permissions: permissions, value: value, owner: owner)
        row.minimumKeySize = keySize
        rows.append(row)
        return row.handle
    }

    private mutating func add(include service: GATTPublishedService) {
        var value = PacketWriter(reservingCapacity: 6)
        value.write(service.range.first.rawValue)
        value.write(service.range.last.rawValue)
        if service.uuid.forAttributes.width == .bits16 { service.uuid.encode(into: &value) }
        add(.include, .readable, .stored(value.bytes))
    }

    private mutating func add(_ characteristic: GATTCharacteristicDefinition) {
        var properties = characteristic.properties
        if !characteristic.extendedProperties.isEmpty { properties.insert(.extendedProperties) }
        let index = rows.count
        let valueHandle = AttributeHandle(rawValue: next.rawValue &+ 1)
        var declaration = PacketWriter(reservingCapacity: 19)
        declaration.write(properties.rawValue)
        declaration.write(valueHandle.rawValue)
        characteristic.uuid.forAttributes.encode(into: &declaration)
        var entry = GATTPublishedCharacteristic(
            uuid: characteristic.uuid, declaration: next, valueHandle: valueHandle, configuration: .none,
            descriptors: [])
        add(.characteristic, .readable, .stored(declaration.bytes))
        add(
            characteristic.uuid, characteristic.effectivePermissions, Self.value(of: characteristic),
            keySize: characteristic.minimumKeySize)
        if !characteristic.extendedProperties.isEmpty {
            let bits = characteristic.extendedProperties.rawValue
            add(
                .characteristicExtendedProperties, .readable,
                .stored([UInt8(truncatingIfNeeded: bits), UInt8(truncatingIfNeeded: bits >> 8)]))
        }
        if !properties.isDisjoint(with: [.notify, .indicate]) {
            entry.configuration = addConfiguration(of: valueHandle, properties, characteristic)
            rows[index + 1].configuration = entry.configuration
        }
        if properties.contains(.broadcast) {
            add(
                .serverCharacteristicConfiguration, characteristic.broadcastPermissions, .serverConfiguration,
                keySize: characteristic.minimumKeySize)
        }
        for descriptor in characteristic.descriptors {
            let value = descriptor.value.map { Attribute.Value.stored($0) } ?? .dynamic
            entry.descriptors.append(
                add(
                    descriptor.uuid, GATTDatabase.withImplied(descriptor.permissions), value,
                    keySize: characteristic.minimumKeySize))
        }
        addAggregateFormat(of: characteristic, entry.descriptors)
        rows[index].groupEnd = rows.last?.handle ?? valueHandle
        published.characteristics.append(entry)
    }

    /// A value with several formats needs a list of them (Core 5.4, Vol 3, Part G, 3.3.3.6), unless the app has its
    /// own.
    private mutating func addAggregateFormat(
        of characteristic: GATTCharacteristicDefinition, _ handles: [AttributeHandle]
    ) {
        var list = PacketWriter(reservingCapacity: 4)
        for (descriptor, handle) in zip(characteristic.descriptors, handles) {
            if descriptor.uuid == .characteristicAggregateFormat { return }
            if descriptor.uuid == .characteristicPresentationFormat { list.write(handle.rawValue) }
        }
        guard list.count > 2 else { return }
        add(.characteristicAggregateFormat, .readable, .stored(list.bytes))
    }

    private mutating func addConfiguration(
        of valueHandle: AttributeHandle, _ properties: CharacteristicProperties,
        _ characteristic: GATTCharacteristicDefinition
    ) -> AttributeHandle {
        // Every client can read it, whatever the value requires (Core 5.4, Vol 3, Part G, 3.3.3.3).
        var permissions: AttributePermissions = [.readable, .writeable, .commandWriteable]
        permissions.formUnion(characteristic.securityToReceive)
        let configuration = Attribute.ClientConfiguration(
            valueHandle: valueHandle, allowed: SubscriptionModes(properties), initial: [], isStrict: true)
        return add(
            .clientCharacteristicConfiguration, permissions, .clientConfiguration(configuration),
            keySize: characteristic.minimumKeySize)
    }

    private static func value(of characteristic: GATTCharacteristicDefinition) -> Attribute.Value {
        switch characteristic.uuid {
        case .clientSupportedFeatures: .clientSupportedFeatures
        case .databaseHash: .databaseHash
        default: characteristic.value.map { .stored($0) } ?? .dynamic
        }
    }
}

extension GATTCharacteristicDefinition {
    /// The access that both properties and permissions allow (SPEC PER-2).
    var effectivePermissions: AttributePermissions {
        var effective: AttributePermissions = []
        let granted = GATTDatabase.withImplied(permissions)
        if properties.contains(.read), granted.contains(.readable) {
            effective.insert(.readable)
            effective.formUnion(granted.intersection(.readSecurity))
        }
        if properties.contains(.write), granted.contains(.writeable) { effective.insert(.writeable) }
        if properties.contains(.writeWithoutResponse), granted.contains(.writeable) {
            effective.insert(.commandWriteable)
        }
        if properties.contains(.authenticatedSignedWrites), granted.contains(.writeable) {
            effective.insert(.signedWriteable)
        }
        if !effective.isDisjoint(with: [.writeable, .commandWriteable, .signedWriteable]) {
            effective.formUnion(granted.intersection(.writeSecurity))
        }
        return effective
    }
}

extension GATTCharacteristicDefinition {
    /// The access to the Server Characteristic Configuration: what is broadcast everybody can read, so that switching
    /// it on needs the security that reading or writing the value needs.
    var broadcastPermissions: AttributePermissions {
        var access: AttributePermissions = [.readable, .writeable]
        access.formUnion(effectivePermissions.intersection(.writeSecurity))
        access.formUnion(securityToReceive)
        return access
    }

    /// The security that switching on notifications, indications or broadcasts needs. It is at least what reading the
    /// value needs: a client that could subscribe with less would wait for values that are never sent to it (Core 5.4,
    /// Vol 3, Part C, 10.3.1.1).
    fileprivate var securityToReceive: AttributePermissions {
        let effective = effectivePermissions
        var security: AttributePermissions = []
        if effective.contains(.readEncryption) || needsEncryptionToSubscribe { security.insert(.writeEncryption) }
        if effective.contains(.readAuthentication) { security.insert(.writeAuthentication) }
        if effective.contains(.readAuthorization) { security.insert(.writeAuthorization) }
        return security
    }
}

extension GATTServiceDefinition {
    /// Apple Notification Center Service, which belongs to the system (SPEC 2.4).
    private static let notificationCenter = BluetoothUUID(high: 0x7905_F431_B5CE_4E99, low: 0xA40F_4B1E_122D_00D0)

    /// Checks the rules for services that apps publish.
    func check() throws(GATTPublishError) {
        if GATTDatabase.isKept(uuid) || uuid == Self.notificationCenter { throw .uuidNotAllowed(uuid) }
        for characteristic in characteristics {
            let uuid = characteristic.uuid
            // These concern the whole server; its own service has them.
            if uuid == .clientSupportedFeatures || uuid == .databaseHash { throw .uuidNotAllowed(uuid) }
            if characteristic.properties.contains(.extendedProperties) { throw .propertyNotAllowed(uuid) }
            if let value = characteristic.value {
                guard value.count <= maximumAttributeLength else { throw .valueTooLong(uuid) }
                guard characteristic.isReadOnly else { throw .cachedValueNotReadOnly(uuid) }
            }
            for descriptor in characteristic.descriptors {
                if [
                    .characteristicExtendedProperties, .clientCharacteristicConfiguration,
                    .serverCharacteristicConfiguration,
                ].contains(descriptor.uuid) {
                    throw .descriptorNotAllowed(descriptor.uuid)
                }
                if let value = descriptor.value, value.count > maximumAttributeLength {
                    throw .valueTooLong(descriptor.uuid)
                }
            }
        }
    }
}

extension GATTCharacteristicDefinition {
    private static let writes: CharacteristicProperties = [.write, .writeWithoutResponse, .authenticatedSignedWrites]

    fileprivate var isReadOnly: Bool {
        permissions.isDisjoint(with: .anyWrite) && properties.isDisjoint(with: Self.writes)
    }
}
