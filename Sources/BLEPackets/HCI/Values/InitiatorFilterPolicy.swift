/// Whom an initiator connects to (Core 5.4, Vol 4, Part E, 7.8.12).
public struct InitiatorFilterPolicy: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The peer that the command names.
    public static let peerAddress = InitiatorFilterPolicy(rawValue: 0x00)
    /// The first device on the filter accept list that is received; the peer address of the command is ignored.
    public static let acceptList = InitiatorFilterPolicy(rawValue: 0x01)
}
