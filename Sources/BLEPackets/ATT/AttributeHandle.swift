/// The name of an attribute on its server, 0x0001 to 0xFFFF; zero names none (Core 5.4, Vol 3, Part F, 3.2.2).
public struct AttributeHandle: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByIntegerLiteral {
    public let rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }
    @inlinable public init(integerLiteral value: UInt16) { rawValue = value }

    /// No attribute, as in an Error Response to a request without a handle. Never a handle in a database.
    @inlinable public static var none: AttributeHandle { AttributeHandle(rawValue: 0) }
    /// The lowest handle that an attribute can have, and the beginning of a search through everything.
    @inlinable public static var first: AttributeHandle { AttributeHandle(rawValue: 1) }
    /// The highest handle that an attribute can have; also the end of a range that has no other end.
    @inlinable public static var last: AttributeHandle { AttributeHandle(rawValue: 0xFFFF) }

    /// The next handle; `nil` after the last.
    @inlinable public var next: AttributeHandle? {
        rawValue == 0xFFFF ? nil : AttributeHandle(rawValue: rawValue &+ 1)
    }

    @inlinable
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Handles from one to another, both included.
///
/// A range may come from a PDU and be invalid: check `isValid`, because a server must answer invalid ranges with
/// Invalid Handle.
public struct AttributeHandleRange: Hashable, Sendable {
    /// The first handle of the range; zero makes the range invalid.
    public var first: AttributeHandle
    /// The last handle of the range, which belongs to it.
    public var last: AttributeHandle

    /// Creates a range from both handles, even if it is not valid.
    @inlinable
    public init(_ first: AttributeHandle, _ last: AttributeHandle) {
        self.first = first
        self.last = last
    }

    /// Every handle there is.
    @inlinable public static var all: AttributeHandleRange { AttributeHandleRange(.first, .last) }

    /// Whether the range names at least one attribute: it begins above zero and does not end before its beginning.
    @inlinable public var isValid: Bool { first.rawValue != 0 && first <= last }

    /// Whether the handle is in the range; always `false` if the range ends before its beginning.
    @inlinable
    public func contains(_ handle: AttributeHandle) -> Bool { first <= handle && handle <= last }

    @inlinable
    init(decoding reader: inout PacketReader) throws(DecodingError) {
        first = AttributeHandle(rawValue: try reader.read())
        last = AttributeHandle(rawValue: try reader.read())
    }

    func encode(into packet: inout PacketWriter) {
        packet.write(first.rawValue)
        packet.write(last.rawValue)
    }
}
