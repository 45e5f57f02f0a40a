/// Which of the later events the controller may send; none after a reset (Core 5.4, Vol 4, Part E, 7.3.69).
public struct EventMaskPage2: OptionSet, Hashable, Sendable {
    public var rawValue: UInt64
    @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Buffers that became free, counted in blocks; no use for LE.
    public static let numberOfCompletedDataBlocks = EventMaskPage2(rawValue: 1 << 8)
    /// An encrypted link has had no authenticated packet for too long.
    public static let authenticatedPayloadTimeoutExpired = EventMaskPage2(rawValue: 1 << 23)
    /// Encryption that begins, ends or fails, with the length of the key.
    public static let encryptionChangeV2 = EventMaskPage2(rawValue: 1 << 25)
}
