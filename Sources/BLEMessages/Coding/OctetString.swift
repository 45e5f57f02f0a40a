/// A value that is a string of octets, or a text.
public protocol OctetString: SingleValue {
    static var isText: Bool { get }
    /// The octets in a message.
    var messageOctets: [UInt8] { get }
    /// - Returns: `nil` if no value has these octets.
    init?(messageOctets octets: ArraySlice<UInt8>)
}

extension OctetString {
    public static var isText: Bool { false }
    public var isZero: Bool { messageOctets.isEmpty }
    @inline(__always) public static var scalarType: ScalarType? { nil }

    @inline(__always)
    public static func codeValue<C: Coder>(
        _ number: Int, _ name: StaticString, _ value: inout Self, _ coder: inout C
    ) throws(MessageError) {
        let octets = try coder.octets(number, name, C.reads ? [] : value.messageOctets, isText: isText)
        guard C.reads else { return }
        guard let read = Self(messageOctets: octets) else { throw .invalidField }
        value = read
    }
}

extension Array: SingleValue, OctetString where Element == UInt8 {
    @inline(__always) public var isZero: Bool { isEmpty }
    @inline(__always) public var messageOctets: [UInt8] { self }
    @inline(__always) public init?(messageOctets octets: ArraySlice<UInt8>) { self.init(octets) }

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
    public var messageOctets: [UInt8] { Array(utf8) }
    public init?(messageOctets octets: ArraySlice<UInt8>) { self.init(validating: octets, as: UTF8.self) }
}
