/// The first octet of a Security Manager PDU (Core 5.4, Vol 3, Part H, 3.3).
public struct SMPOpcode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Whether the code is defined; other PDUs are ignored.
    @inlinable public var isKnown: Bool { rawValue >= 0x01 && rawValue <= 0x0E }
}
