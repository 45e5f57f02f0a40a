import BLEPackets

/// What the GATT client of a link has to tell.
public enum GATTClientEvent: Equatable, Sendable {
    /// An operation ended; no other event with its identifier follows.
    case completed(OperationID, Result<GATTResult, GATTFailure>)
    /// A value that the peer sent.
    case notification(GATTNotification)
    /// Service Changed invalidated these values, in ascending order; subscriptions to them have ended (Core 5.4, Vol 3,
    /// Part G, 7.1).
    case subscriptionsForgotten([AttributeHandle])
    /// Octets of the largest PDU from now on.
    case mtuChanged(UInt16)
    /// No more write commands are taken until there is room (SPEC 2.3 canSendWriteWithoutResponse).
    case writeCommandsFull
    /// There is room for write commands again.
    case writeCommandsReady
}

/// A value that a server sent by itself.
public struct GATTNotification: Equatable, Sendable {
    /// Of the characteristic's value.
    public var handle: AttributeHandle
    /// What the server sent: at most ATT_MTU − 3 octets.
    public var value: [UInt8]
    /// Whether it came as an indication; the confirmation is already on its way.
    public var isIndication: Bool
    /// Who holds a subscription, in ascending order.
    public var clients: [ClientID]

    public init(handle: AttributeHandle, value: [UInt8], isIndication: Bool, clients: [ClientID]) {
        self.handle = handle
        self.value = value
        self.isIndication = isIndication
        self.clients = clients
    }

    /// The handles that are void where this is a value of Service Changed: all of them where it does not say which
    /// (Core 5.4, Vol 3, Part G, 7.1).
    public var changedHandles: AttributeHandleRange {
        guard value.count == 4 else { return .all }
        let range = AttributeHandleRange(
            AttributeHandle(rawValue: UInt16(value[0]) | UInt16(value[1]) << 8),
            AttributeHandle(rawValue: UInt16(value[2]) | UInt16(value[3]) << 8))
        return range.isValid ? range : .all
    }
}

/// What the owner of a GATT client has to do.
public enum GATTClientAction: Equatable, Sendable {
    /// Send a PDU on the bearer's channel.
    case send([UInt8], tag: ATTSendTag)
    /// Report an event.
    case event(GATTClientEvent)
    /// The bearer is dead: end the link.
    case disconnect
    /// Make the link more secure, and call `secured` with the outcome. No other operation starts before that.
    case secure(ATTError)
}
