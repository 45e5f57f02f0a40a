/// The controller's name for a periodic train that it follows, 0x0000 to 0x0EFF (Core 5.4, Vol 4, Part E, 5.3).
public struct SynchronizationHandle: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }
}
