import BLEPackets

/// What a client may ask of a peer's GATT server.
///
/// The operations of a client on one link run one after another in the order in which they were started; only write
/// commands overtake requests that wait for an answer. Several clients of a link take turns. Each ends exactly once,
/// with a `GATTResult` or a `GATTFailure`.
public enum GATTOperation: Equatable, Sendable {
    /// Exchanges ATT_MTU, once for each link (Core 5.4, Vol 3, Part G, 4.3.1).
    ///
    /// `preferred` is the largest PDU that we receive, in octets, at least 23. Ends with `mtu`, even if it has already
    /// been exchanged or if the peer supports only 23.
    case exchangeMTU(preferred: UInt16)

    /// Primary services: all if `uuids` is empty, otherwise those listed (Core 5.4, Vol 3, Part G, 4.4.1 and 4.4.2;
    /// SPEC CEN-11). More than eight are found by discovering all. Ends with `services`.
    case discoverServices(uuids: [BluetoothUUID])
    /// All secondary services (Core 5.4, Vol 3, Part G, 4.4). Ends with `services`.
    case discoverSecondaryServices
    /// Services that the service with this range includes (Core 5.4, Vol 3, Part G, 4.5.1). Ends with
    /// `includedServices`.
    case discoverIncludedServices(AttributeHandleRange)
    /// Characteristics of the service with this range: all if `uuids` is empty, otherwise those listed (Core 5.4, Vol
    /// 3, Part G, 4.6; SPEC CEN-12). Ends with `characteristics`.
    case discoverCharacteristics(AttributeHandleRange, uuids: [BluetoothUUID])
    /// Descriptors in the range, which begins behind a characteristic's value and ends with the characteristic (Core
    /// 5.4, Vol 3, Part G, 4.7.1). An empty range ends at once with no descriptors. Ends with `descriptors`.
    case discoverDescriptors(AttributeHandleRange)

    /// The complete value, whatever its length (Core 5.4, Vol 3, Part G, 4.8.1 and 4.8.3; SPEC 2.3). Ends with `value`.
    case read(AttributeHandle)
    /// The value from octet `offset` on (Core 5.4, Vol 3, Part G, 4.8.3). Ends with `value`.
    case readLong(AttributeHandle, offset: UInt16)
    /// The values of all attributes of a type in the range (Core 5.4, Vol 3, Part G, 4.8.2). Ends with
    /// `attributeValues`; if there is none, it fails with Attribute Not Found.
    case readUsingUUID(BluetoothUUID, AttributeHandleRange)
    /// Two or more values of known lengths, concatenated (Core 5.4, Vol 3, Part G, 4.8.4). Ends with `value`.
    case readMultiple([AttributeHandle])
    /// Two or more values of any length (Core 5.4, Vol 3, Part G, 4.8.5). Ends with `values`, which has fewer values
    /// if they do not all fit into one PDU.
    case readMultipleVariable([AttributeHandle])

    /// Writes a value of up to 512 octets: with a Write Request if it fits, otherwise with prepared writes (Core 5.4,
    /// Vol 3, Part G, 4.9.3 and 4.9.4; SPEC 2.3). Ends with `written`.
    case write(AttributeHandle, value: [UInt8])
    /// Writes a value of up to 512 octets with prepared writes, even if it is short (Core 5.4, Vol 3, Part G, 4.9.4).
    /// Ends with `written`.
    case writeLong(AttributeHandle, value: [UInt8])
    /// Writes octets from `offset` on with prepared writes; `isReliable`: the server's echo is compared with what was
    /// sent (Core 5.4, Vol 3, Part G, 4.9.4 and 4.9.5). The server says whether the value may end behind them. Ends with
    /// `written`.
    case writePart(AttributeHandle, offset: UInt16, value: [UInt8], isReliable: Bool)
    /// Writes several values, all or none, and compares the server's echo with what was sent (Core 5.4, Vol 3, Part G,
    /// 4.9.5). Ends with `written`.
    case reliableWrite([AttributeWrite])
    /// Writes a value of up to ATT_MTU − 3 octets without a response (Core 5.4, Vol 3, Part G, 4.9.1). Ends with
    /// `written` when the PDU has been handed to the controller.
    case writeCommand(AttributeHandle, value: [UInt8])
    /// Writes a value of up to ATT_MTU − 15 octets with a signature instead of encryption and without a response; on an
    /// encrypted link with a Write Command instead (Core 5.4, Vol 3, Part G, 4.9.2). The peer must be bonded and have
    /// our signing key. Ends with `written` when the PDU has been handed to the controller.
    case writeSigned(AttributeHandle, value: [UInt8])

    /// Subscribes to the values of a characteristic (Core 5.4, Vol 3, Part G, 4.10 and 4.11).
    ///
    /// The peer's configuration is written when the first client subscribes; each call counts for its client until
    /// `unsubscribe` or until the client releases the link (SPEC 5.5 rule 5). Ends with `subscribed`; values that
    /// arrived before follow it. The subscription ends if the peer invalidates the value by Service Changed, provided
    /// that a client has discovered that characteristic.
    ///
    /// Some devices notify without a configuration, or with one that cannot be written. The configuration
    /// `AttributeHandle.none` subscribes to what such a device sends: nothing is written.
    case subscribe(AttributeHandle, configuration: AttributeHandle, mode: SubscriptionMode)
    /// Subscribes to indications as `subscribe` does, and from then on the client says by `confirm` when it has taken a
    /// value. The peer gets the confirmation when all such clients of the value have said so, have unsubscribed or have
    /// gone, but no later than after `GATTClientSettings.confirmationLimit`. Ends with `subscribed`.
    case subscribeConfirming(AttributeHandle, configuration: AttributeHandle)
    /// Confirms the indication of a value that the client was given last. Ends at once with `confirmed`, also if there is
    /// none.
    case confirm(AttributeHandle)
    /// Undoes one `subscribe` or `subscribeConfirming` of this client; the peer's configuration is written when the last client unsubscribes.
    /// Ends with `unsubscribed`.
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
    /// The handle of the value.
    public var handle: AttributeHandle
    /// The value, at most 512 octets.
    public var value: [UInt8]

    public init(handle: AttributeHandle, value: [UInt8]) {
        self.handle = handle
        self.value = value
    }
}
