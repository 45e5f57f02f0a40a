import BLEPackets

/// What the GATT client of a link reports.
public enum GATTClientEvent: Equatable, Sendable {
    /// An operation ended; no other event with its identifier follows.
    case completed(OperationID, Result<GATTResult, GATTFailure>)
    /// A value that the peer sent.
    case notification(GATTNotification)
    /// Service Changed invalidated these value handles, in ascending order; subscriptions to them have ended (Core 5.4,
    /// Vol 3, Part G, 7.1).
    case subscriptionsForgotten([AttributeHandle])
    /// The new ATT_MTU in octets.
    case mtuChanged(UInt16)
    /// No more write commands are accepted until there is room (SPEC 2.3 canSendWriteWithoutResponse).
    case writeCommandsFull
    /// There is room for write commands again.
    case writeCommandsReady
}

/// A value that a server sent unasked.
public struct GATTNotification: Equatable, Sendable {
    /// The handle of the characteristic value.
    public var handle: AttributeHandle
    /// What the server sent: at most ATT_MTU − 3 octets.
    public var value: [UInt8]
    /// Whether it came as an indication; the confirmation is already being sent, unless this client sends it by
    /// `GATTOperation.confirm`.
    public var isIndication: Bool
    /// The clients that subscribed to it, in ascending order.
    public var clients: [ClientID]

    public init(handle: AttributeHandle, value: [UInt8], isIndication: Bool, clients: [ClientID]) {
        self.handle = handle
        self.value = value
        self.isIndication = isIndication
        self.clients = clients
    }

    /// The invalidated handles if this is a value of Service Changed; all handles if it does not name a range (Core
    /// 5.4, Vol 3, Part G, 7.1).
    public var changedHandles: AttributeHandleRange {
        guard value.count == 4 else { return .all }
        let range = AttributeHandleRange(
            AttributeHandle(rawValue: UInt16(value[0]) | UInt16(value[1]) << 8),
            AttributeHandle(rawValue: UInt16(value[2]) | UInt16(value[3]) << 8))
        return range.isValid ? range : .all
    }
}

/// What the owner of a GATT client must do.
public enum GATTClientAction: Equatable, Sendable {
    /// Send a PDU on the bearer's channel.
    case send([UInt8], tag: ATTSendTag)
    /// Send a PDU on an enhanced bearer.
    case sendEnhanced([UInt8], bearer: UInt32)
    /// Report an event.
    case event(GATTClientEvent)
    /// The bearer is dead: end the link.
    case disconnect
    /// The enhanced bearer is dead: close its channel.
    case closeBearer(UInt32)
    /// Make the link more secure for this client, then call `secured` with the outcome. No other operation starts
    /// before that.
    case secure(ATTError, for: ClientID)
}
