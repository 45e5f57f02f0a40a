/// A value of CBOR (RFC 8949), as far as device management uses it.
public indirect enum CBORValue: Hashable, Sendable {
    /// 0 to 2⁶⁴ − 1.
    case unsigned(UInt64)
    /// The number −1 − n.
    case negative(UInt64)
    /// A byte string.
    case octets([UInt8])
    /// A text string; octets that are not UTF-8 have been replaced.
    case text(String)
    /// An array.
    case array([CBORValue])
    /// A map in the order of its octets. A key may occur twice; `subscript` finds the first.
    case map([Member])
    /// `true` or `false`.
    case boolean(Bool)
    /// A floating-point number.
    case float(Double)
    /// `null` or `undefined`.
    case null

    /// A key of a map, and its value.
    public struct Member: Hashable, Sendable {
        /// The key.
        public var key: CBORValue
        /// What it stands for.
        public var value: CBORValue

        public init(_ key: CBORValue, _ value: CBORValue) {
            self.key = key
            self.value = value
        }
    }

    /// The value of a text key in a map; `nil` where there is none, and for what is no map.
    public subscript(key: String) -> CBORValue? {
        guard case .map(let members) = self else { return nil }
        return members.first { $0.key == .text(key) }?.value
    }

    /// The number, if it is one that fits.
    public var integer: Int? {
        switch self {
        case .unsigned(let number): Int(exactly: number)
        case .negative(let number): Int(exactly: number).map { -1 - $0 }
        default: nil
        }
    }

    /// The text, if it is one.
    public var string: String? { if case .text(let text) = self { text } else { nil } }

    /// The octets of a byte string.
    public var byteString: [UInt8]? { if case .octets(let octets) = self { octets } else { nil } }

    /// The truth value, if it is one.
    public var isTrue: Bool? { if case .boolean(let isTrue) = self { isTrue } else { nil } }

    /// The elements of an array.
    public var elements: [CBORValue]? { if case .array(let elements) = self { elements } else { nil } }

    /// The members of a map.
    public var members: [Member]? { if case .map(let members) = self { members } else { nil } }

    /// An integer of either sign.
    public static func integer(_ number: Int) -> CBORValue {
        number < 0 ? .negative(UInt64(-1 - number)) : .unsigned(UInt64(number))
    }

    /// A map with text keys.
    public static func object(_ members: KeyValuePairs<String, CBORValue?>) -> CBORValue {
        .map(members.compactMap { key, value in value.map { Member(.text(key), $0) } })
    }
}
