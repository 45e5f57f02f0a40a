import BLEPackets

/// The result of an operation.
public enum GATTResult: Equatable, Sendable {
    /// The ATT_MTU of this link in octets.
    case mtu(UInt16)
    /// Result of `discoverServices` and `discoverSecondaryServices`, in the order of their handles.
    case services([DiscoveredService])
    /// Result of `discoverIncludedServices`, in the order of their handles.
    case includedServices([DiscoveredInclude])
    /// Result of `discoverCharacteristics`, in the order of their handles.
    case characteristics([DiscoveredCharacteristic])
    /// Result of `discoverDescriptors`, in the order of their handles.
    case descriptors([DiscoveredDescriptor])
    /// Result of `read`, `readLong` and `readMultiple`: the value that was asked for.
    case value([UInt8])
    /// Result of `readMultipleVariable`, in the requested order; the last may be cut if the PDU was full.
    case values([[UInt8]])
    /// Result of `readUsingUUID`, in the order of their handles.
    case attributeValues([AttributeValue])
    /// The peer confirmed the write, or the controller has the write command.
    case written
    /// The peer's configuration has the requested mode.
    case subscribed
    /// This client no longer receives the value.
    case unsubscribed
    /// This client has taken an indication.
    case confirmed
}

/// A service declaration (Core 5.4, Vol 3, Part G, 3.1).
public struct DiscoveredService: Hashable, Sendable {
    /// The type of the service.
    public var uuid: BluetoothUUID
    /// From the declaration to the last attribute of the service.
    public var range: AttributeHandleRange
    /// Whether it is a primary service.
    public var isPrimary: Bool

    public init(uuid: BluetoothUUID, range: AttributeHandleRange, isPrimary: Bool) {
        self.uuid = uuid
        self.range = range
        self.isPrimary = isPrimary
    }
}

/// An include declaration (Core 5.4, Vol 3, Part G, 3.2).
public struct DiscoveredInclude: Hashable, Sendable {
    /// The handle of the declaration.
    public var handle: AttributeHandle
    /// The type of the included service.
    public var uuid: BluetoothUUID
    /// The handle range of the included service itself.
    public var range: AttributeHandleRange

    public init(handle: AttributeHandle, uuid: BluetoothUUID, range: AttributeHandleRange) {
        self.handle = handle
        self.uuid = uuid
        self.range = range
    }
}

/// A characteristic declaration (Core 5.4, Vol 3, Part G, 3.3.1).
public struct DiscoveredCharacteristic: Hashable, Sendable {
    /// The handle of the declaration.
    public var handle: AttributeHandle
    /// The handle of the value, for reading, writing and subscribing.
    public var valueHandle: AttributeHandle
    /// The last attribute before the next characteristic, or the last of the searched range: the descriptors end here.
    public var endHandle: AttributeHandle
    /// What the declaration allows.
    public var properties: CharacteristicProperties
    /// The type of the characteristic.
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
    /// The handle for reading and writing.
    public var handle: AttributeHandle
    /// The type of the descriptor.
    public var uuid: BluetoothUUID

    public init(handle: AttributeHandle, uuid: BluetoothUUID) {
        self.handle = handle
        self.uuid = uuid
    }
}

/// The value of an attribute, with its handle.
public struct AttributeValue: Hashable, Sendable {
    /// The handle of the attribute.
    public var handle: AttributeHandle
    /// The value, up to 512 octets.
    public var value: [UInt8]

    public init(handle: AttributeHandle, value: [UInt8]) {
        self.handle = handle
        self.value = value
    }
}
