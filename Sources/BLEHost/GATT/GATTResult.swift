import BLEPackets

/// What an operation found or did.
public enum GATTResult: Equatable, Sendable {
    /// Octets of the largest PDU on this link.
    case mtu(UInt16)
    /// Of `discoverServices`, in the order of their handles.
    case services([DiscoveredService])
    /// Of `discoverIncludedServices`, in the order of their handles.
    case includedServices([DiscoveredInclude])
    /// Of `discoverCharacteristics`, in the order of their handles.
    case characteristics([DiscoveredCharacteristic])
    /// Of `discoverDescriptors`, in the order of their handles.
    case descriptors([DiscoveredDescriptor])
    /// Of `read`: the whole value.
    case value([UInt8])
    /// In the order in which they were asked for; the last may be cut where the PDU was full.
    case values([[UInt8]])
    /// Of `readUsingUUID`, in the order of their handles.
    case attributeValues([AttributeValue])
    /// The peer confirmed the write; a write command has been handed to the controller.
    case written
    /// The peer's configuration is as it was asked for.
    case subscribed
    /// This client no longer receives the value.
    case unsubscribed
}

/// A service declaration (Core 5.4, Vol 3, Part G, 3.1).
public struct DiscoveredService: Hashable, Sendable {
    /// What kind of service it is.
    public var uuid: BluetoothUUID
    /// From the declaration to the last attribute of the service.
    public var range: AttributeHandleRange
    /// Whether it means something by itself, and not only in the services that include it.
    public var isPrimary: Bool

    public init(uuid: BluetoothUUID, range: AttributeHandleRange, isPrimary: Bool) {
        self.uuid = uuid
        self.range = range
        self.isPrimary = isPrimary
    }
}

/// An include declaration (Core 5.4, Vol 3, Part G, 3.2).
public struct DiscoveredInclude: Hashable, Sendable {
    /// Of the declaration.
    public var handle: AttributeHandle
    /// What kind of service is included.
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
    /// Of the declaration.
    public var handle: AttributeHandle
    /// Of the value: what is read, written and subscribed to.
    public var valueHandle: AttributeHandle
    /// The last attribute before the next characteristic, or the last of the range that was searched: where the
    /// descriptors end.
    public var endHandle: AttributeHandle
    /// What the declaration allows.
    public var properties: CharacteristicProperties
    /// What kind of characteristic it is.
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
    /// By which it is read and written.
    public var handle: AttributeHandle
    /// What kind of descriptor it is.
    public var uuid: BluetoothUUID

    public init(handle: AttributeHandle, uuid: BluetoothUUID) {
        self.handle = handle
        self.uuid = uuid
    }
}

/// A value and where it stands.
public struct AttributeValue: Hashable, Sendable {
    /// Where the value stands.
    public var handle: AttributeHandle
    /// Up to 512 octets.
    public var value: [UInt8]

    public init(handle: AttributeHandle, value: [UInt8]) {
        self.handle = handle
        self.value = value
    }
}
