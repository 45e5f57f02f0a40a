/// A number: an integer, a flag, or a type that has one as its raw value.
public protocol Scalar: SingleValue {
    static var type: ScalarType { get }
    /// The number; negative ones as in `Int64`.
    var bits: UInt64 { get }
    /// - Returns: `nil` if no value has the number.
    init?(bits: UInt64)
}

extension Scalar {
    @inline(__always) public var isZero: Bool { bits == 0 }
    @inline(__always) public static var scalarType: ScalarType? { type }

    @inline(__always)
    public static func codeValue<C: Coder>(
        _ number: Int, _ name: StaticString, _ value: inout Self, _ coder: inout C
    ) throws(MessageError) {
        let bits = try coder.scalar(number, name, C.reads ? 0 : value.bits, type)
        guard C.reads else { return }
        guard let read = Self(bits: bits) else { throw .invalidField }
        value = read
    }
}

extension Scalar where Self: FixedWidthInteger {
    public static var blank: Self { 0 }
}

extension Scalar where Self: FixedWidthInteger & UnsignedInteger {
    @inline(__always) public static var type: ScalarType { bitWidth > 32 ? .uint64 : .uint32 }
    @inline(__always) public var bits: UInt64 { UInt64(self) }
    @inline(__always) public init?(bits: UInt64) { self.init(exactly: bits) }
}

extension Scalar where Self: FixedWidthInteger & SignedInteger {
    @inline(__always) public static var type: ScalarType { bitWidth > 32 ? .int64 : .sint32 }
    @inline(__always) public var bits: UInt64 { UInt64(bitPattern: Int64(self)) }
    @inline(__always) public init?(bits: UInt64) { self.init(exactly: Int64(bitPattern: bits)) }
}

/// Enumerations and structures with a raw value. An enumeration without a case for zero states its `blank`.
extension Scalar where Self: RawRepresentable, RawValue: Scalar {
    public static var blank: Self { Self(rawValue: .blank)! }
    @inline(__always) public static var type: ScalarType { RawValue.type }
    @inline(__always) public var bits: UInt64 { rawValue.bits }
    @inline(__always)
    public init?(bits: UInt64) {
        guard let raw = RawValue(bits: bits) else { return nil }
        self.init(rawValue: raw)
    }
}

extension UInt8: Scalar {
    /// A list of octets is a string of octets.
    @inline(__always)
    public static func codeList<C: Coder>(
        _ number: Int, _ name: StaticString, _ values: inout [Self], _ coder: inout C, atMost limit: Int
    ) throws(MessageError) {
        guard try coder.hasField(number, name, .plain, isSet: C.reads || !values.isEmpty) else { return }
        try [UInt8].codeValue(number, name, &values, &coder)
    }
}
extension UInt16: Scalar {}
extension UInt32: Scalar {}
extension UInt64: Scalar {}
extension Int8: Scalar {}
extension Int64: Scalar {}

extension Bool: Scalar {
    public static var blank: Bool { false }
    @inline(__always) public static var type: ScalarType { .bool }
    @inline(__always) public var bits: UInt64 { self ? 1 : 0 }
    @inline(__always) public init?(bits: UInt64) { self = bits != 0 }
}
