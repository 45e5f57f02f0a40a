/// A value that is a string of octets, or a text.
public protocol OctetString: SingleValue {
    static var isText: Bool { get }
    var octets: [UInt8] { get }
    /// - Returns: `nil` if no value has these octets.
    init?(octets: ArraySlice<UInt8>)
}

extension OctetString {
    public static var isText: Bool { false }
    public var isZero: Bool { octets.isEmpty }
    @inline(__always) public static var scalarType: ScalarType? { nil }

    @inline(__always)
    public static func codeValue<C: Coder>(
        _ number: Int, _ name: StaticString, _ value: inout Self, _ coder: inout C
    ) throws(MessageError) {
        let octets = try coder.octets(number, name, C.reads ? [] : value.octets, isText: isText)
        guard C.reads else { return }
        guard let read = Self(octets: octets) else { throw .invalidField }
        value = read
    }
}

extension Array: SingleValue, OctetString where Element == UInt8 {
    @inline(__always) public var isZero: Bool { isEmpty }
    @inline(__always) public var octets: [UInt8] { self }
    @inline(__always) public init?(octets: ArraySlice<UInt8>) { self.init(octets) }

    @inline(__always)
    public static func codeField<C: Coder>(
        _ number: Int, _ name: StaticString, _ value: inout Self, _ coder: inout C
    ) throws(MessageError) {
        try UInt8.codeList(number, name, &value, &coder, atMost: .max)
    }
}

extension String: OctetString {
    public static var blank: String { "" }
    public static var isText: Bool { true }
    public var octets: [UInt8] { Array(utf8) }
    public init?(octets: ArraySlice<UInt8>) { self.init(validating: octets, as: UTF8.self) }
}
