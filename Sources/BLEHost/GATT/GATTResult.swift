import BLEPackets

/// What an operation found or did.
public enum GATTResult: Equatable, Sendable {
    /// Octets of the largest PDU on this link.
    case mtu(UInt16)
    case services([DiscoveredService])
    case includedServices([DiscoveredInclude])
    case characteristics([DiscoveredCharacteristic])
    case descriptors([DiscoveredDescriptor])
    case value([UInt8])
    /// In the order in which they were asked for; the last may be cut where the PDU was full.
    case values([[UInt8]])
    case attributeValues([AttributeValue])
    case written
    case subscribed
    case unsubscribed
}

/// A service declaration (Core 5.4, Vol 3, Part G, 3.1).
public struct DiscoveredService: Hashable, Sendable {
    public var uuid: BluetoothUUID
    /// From the declaration to the last attribute of the service.
    public var range: AttributeHandleRange
    public var isPrimary: Bool

    public init(uuid: BluetoothUUID, range: AttributeHandleRange, isPrimary: Bool) {
        self.uuid = uuid
        self.range = range
        self.isPrimary = isPrimary
    }
}

/// An include declaration (Core 5.4, Vol 3, Part G, 3.2).
public struct DiscoveredInclude: Hashable, Sendable {
    public var handle: AttributeHandle
    public var uuid: BluetoothUUID
    /// The included service's own range.
    public var range: AttributeHandleRange

    public init(handle: AttributeHandle, uuid: BluetoothUUID, range: AttributeHandleRange) {
        self.handle = handle
        self.uuid = uuid
        self.range = range
    }
}

/// A characteristic declaration (Core 5.4, Vol 3, Part G, 3.3.1).
public struct DiscoveredCharacteristic: Hashable, Sendable {
    public var handle: AttributeHandle
    public var valueHandle: AttributeHandle
    /// The last attribute before the next characteristic, or the last of the range that was searched: where the
    /// descriptors end.
    public var endHandle: AttributeHandle
    public var properties: CharacteristicProperties
    public var uuid: BluetoothUUID

    public init(
        handle: AttributeHandle, valueHandle: AttributeHandle, endHandle: AttributeHandle,
        properties: CharacteristicProperties, uuid: BluetoothUUID
    ) {
        self.handle = handle
        self.valueHandle = valueHandle
        self.endHandle = endHandle
        self.properties = properties
        self.uuid = uuid
    }
}

/// An attribute among the descriptors of a characteristic (Core 5.4, Vol 3, Part G, 3.3.3).
public struct DiscoveredDescriptor: Hashable, Sendable {
    public var handle: AttributeHandle
    public var uuid: BluetoothUUID

    public init(handle: AttributeHandle, uuid: BluetoothUUID) {
        self.handle = handle
        self.uuid = uuid
    }
}

/// A value and where it stands.
public struct AttributeValue: Hashable, Sendable {
    public var handle: AttributeHandle
    public var value: [UInt8]

    public init(handle: AttributeHandle, value: [UInt8]) {
        self.handle = handle
        self.value = value
    }
}
