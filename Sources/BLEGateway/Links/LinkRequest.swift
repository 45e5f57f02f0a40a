import BLEHost
import BLEPackets

/// What a requester asks for. Devices are named by the 48 bits of their address.
public enum LinkRequest: Equatable, Sendable {
    /// Answered by `connected` or `connectionFailed`, once.
    case connect(DeviceAddress, timeout: Microseconds = .seconds(20))
    /// Ends the link, or the attempt. Answered by `disconnected` and `slots`, also without a link.
    case disconnect(UInt64)
    /// Answered by `ended` with the same tag, once.
    case perform(LinkOperation, on: UInt64, tag: UInt64)
    /// Removes the bond with a device and ends the requester's link to it. Answered by `ended` with the same tag, once.
    case forgetBond(UInt64, tag: UInt64)
}

/// What a requester gets.
public enum LinkEvent: Equatable, Sendable {
    case connected(UInt64, attMTU: Int)
    case connectionFailed(UInt64, LinkFailure)
    /// A link has ended, for this reason of HCI. Its operations have ended before.
    case disconnected(UInt64, reason: UInt8)
    case ended(tag: UInt64, address: UInt64, Result<LinkAnswer, LinkFailure>)
    case notified(UInt64, AttributeHandle, [UInt8])
    /// Slots were taken or became free.
    case slots(LinkSlots)
}

/// The slots for links, of all requesters together.
public struct LinkSlots: Equatable, Sendable {
    public var limit: Int
    /// The devices to which links are, begin or end, in the order in which they began.
    public var taken: [UInt64]

    public var free: Int { max(0, limit - taken.count) }

    public init(limit: Int, taken: [UInt64] = []) {
        self.limit = limit
        self.taken = taken
    }
}

/// The bounds of what requesters may use.
public struct LinkLimits: Equatable, Sendable {
    /// The maximum number of links at once, of all requesters.
    public var slots = 3
    /// The longest time of an attempt to connect.
    public var attemptTime = Microseconds.seconds(20)
    /// The maximum number of operations that wait on a link.
    public var operations = 128
    /// The maximum length of a value, in octets (Core 5.4, Vol 3, Part F, 3.2.9).
    public var valueOctets = 512
    /// The time in which an operation has to end.
    public var operationTime = Microseconds.seconds(30)
    /// The time in which the discovery of all services has to end.
    public var discoveryTime = Microseconds.seconds(60)

    public init() {}
}
