import BLEPackets

/// What a client may ask of a peer's GATT server.
///
/// Operations of one link are carried out one after another in the order in which they were started; write commands
/// alone overtake requests that wait for an answer. Each ends exactly once, with a `GATTResult` or a `GATTFailure`.
public enum GATTOperation: Equatable, Sendable {
    /// Agrees on the size of PDUs, once for a link (Core 5.4, Vol 3, Part G, 4.3.1).
    ///
    /// `preferred` is the largest PDU that we receive, in octets, at least 23. Ends with `mtu`, also where it has been
    /// exchanged before and where the peer knows no other size than 23.
    case exchangeMTU(preferred: UInt16)

    /// Primary services: all when `uuids` is empty, else those named (Core 5.4, Vol 3, Part G, 4.4.1 and 4.4.2;
    /// SPEC CEN-11). Ends with `services`.
    case discoverServices(uuids: [BluetoothUUID])
    /// All secondary services (Core 5.4, Vol 3, Part G, 4.4). Ends with `services`.
    case discoverSecondaryServices
    /// Services that the service with this range includes (Core 5.4, Vol 3, Part G, 4.5.1). Ends with
    /// `includedServices`.
    case discoverIncludedServices(AttributeHandleRange)
    /// Characteristics of the service with this range: all when `uuids` is empty, else those named
    /// (Core 5.4, Vol 3, Part G, 4.6; SPEC CEN-12). Ends with `characteristics`.
    case discoverCharacteristics(AttributeHandleRange, uuids: [BluetoothUUID])
    /// Descriptors within the range, which begins behind a characteristic's value and ends with the characteristic
    /// (Core 5.4, Vol 3, Part G, 4.7.1). A range without a handle ends at once with none. Ends with `descriptors`.
    case discoverDescriptors(AttributeHandleRange)

    /// The whole value, however long (Core 5.4, Vol 3, Part G, 4.8.1 and 4.8.3; SPEC 2.3). Ends with `value`.
    case read(AttributeHandle)
    /// The value from `offset` on (Core 5.4, Vol 3, Part G, 4.8.3). Ends with `value`.
    case readLong(AttributeHandle, offset: UInt16)
    /// The values of all attributes of a type in the range (Core 5.4, Vol 3, Part G, 4.8.2). Ends with
    /// `attributeValues`; none at all is the failure Attribute Not Found.
    case readUsingUUID(BluetoothUUID, AttributeHandleRange)
    /// Two or more values of known lengths, concatenated (Core 5.4, Vol 3, Part G, 4.8.4). Ends with `value`.
    case readMultiple([AttributeHandle])
    /// Two or more values of any length (Core 5.4, Vol 3, Part G, 4.8.5). Ends with `values`, which holds fewer
    /// where they do not fit into one PDU.
    case readMultipleVariable([AttributeHandle])

    /// Sets a value of up to 512 octets: by Write Request where it fits, else by prepared writes
    /// (Core 5.4, Vol 3, Part G, 4.9.3 and 4.9.4; SPEC 2.3). Ends with `written`.
    case write(AttributeHandle, value: [UInt8])
    /// Sets a value of up to 512 octets by prepared writes, however short (Core 5.4, Vol 3, Part G, 4.9.4). Ends with
    /// `written`.
    case writeLong(AttributeHandle, value: [UInt8])
    /// Sets several values, all or none, and compares what the server understood (Core 5.4, Vol 3, Part G, 4.9.5).
    /// Ends with `written`.
    case reliableWrite([AttributeWrite])
    /// Sets a value of up to MTU − 3 octets without a response (Core 5.4, Vol 3, Part G, 4.9.1). Ends with `written`
    /// when the PDU has been handed to the controller.
    case writeCommand(AttributeHandle, value: [UInt8])
    /// Sets a value of up to MTU − 15 octets with a signature in place of encryption, and learns nothing of it: by a
    /// Write Command where the link is encrypted (Core 5.4, Vol 3, Part G, 4.9.2). The peer must be bonded and hold our
    /// signing key. Ends with `written` when the PDU has been handed to the controller.
    case writeSigned(AttributeHandle, value: [UInt8])

    /// Asks for the values of a characteristic whenever they change (Core 5.4, Vol 3, Part G, 4.10 and 4.11).
    ///
    /// The peer is told when the first client asks; each call counts for its client until `unsubscribe` or until the
    /// client leaves (SPEC 5.5 rule 5). Ends with `subscribed`; values that came before follow it. It is over when the
    /// peer declares the value void by Service Changed, if a client has discovered that.
    case subscribe(AttributeHandle, configuration: AttributeHandle, mode: SubscriptionMode)
    /// Undoes one `subscribe` of this client; the peer is told when the last client goes. Ends with `unsubscribed`.
    case unsubscribe(AttributeHandle)
}

/// How a server sends changed values.
public enum SubscriptionMode: UInt16, Sendable {
    /// Without confirmation: bit 0 of the Client Characteristic Configuration (Core 5.4, Vol 3, Part G, 3.3.3.3).
    case notifications = 0x0001
    /// With confirmation: bit 1.
    case indications = 0x0002
}

/// One value of a reliable write.
public struct AttributeWrite: Equatable, Sendable {
    /// Of the value that is written.
    public var handle: AttributeHandle
    /// At most 512 octets.
    public var value: [UInt8]

    public init(handle: AttributeHandle, value: [UInt8]) {
        self.handle = handle
        self.value = value
    }
}

#if !hasFeature(Embedded)
extension GATTOperation: Codable {}
extension SubscriptionMode: Codable {}
extension AttributeWrite: Codable {}

/// In text, as a UUID prints: short where it stands on the Bluetooth base.
extension BluetoothUUID: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let uuid = BluetoothUUID(text) else {
            throw Swift.DecodingError.dataCorruptedError(in: container, debugDescription: "no UUID: \(text)")
        }
        self = uuid
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
#endif
