import BLEText

/// A JSON value whose objects keep the order of their keys.
///
/// It needs no library: these tools read and write little JSON, and write output line by line.
public enum JSONValue: Equatable, Sendable {
    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A number without fraction and exponent that fits into `Int`.
    case integer(Int)
    /// A finite number with a fraction.
    case number(Double)
    /// A string.
    case string(String)
    /// Values in their order.
    case array([JSONValue])
    /// Members in their order. In a parsed text each key occurs once.
    case object([Member])

    /// A key of an object and its value.
    public struct Member: Equatable, Sendable {
        /// The key; escapes of the text are resolved.
        public var key: String
        /// The value.
        public var value: JSONValue

        public init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// A number or null.
    public init(_ value: (some BinaryInteger)?) { self = value.map { .integer(Int(clamping: $0)) } ?? .null }
    /// A string or null.
    public init(_ value: String?) { self = value.map { .string($0) } ?? .null }
    /// A truth value or null.
    public init(_ value: Bool?) { self = value.map { .boolean($0) } ?? .null }
    /// An array of strings.
    public init(_ values: [String]) { self = .array(values.map { .string($0) }) }

    /// The member of an object; `nil` if there is none.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key == key }?.value
    }

    /// A number, with a fraction or without; `nil` for another value.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The object with one more member at its end; other values are not changed.
    public func adding(_ key: String, _ value: JSONValue) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members + [Member(key: key, value: value)])
    }
}

extension JSONValue: ExpressibleByDictionaryLiteral, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral
{
    /// An object with its members in this order. A duplicate key is kept.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member(key: $0.0, value: $0.1) })
    }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue {
    /// The value in one line of UTF-8 (RFC 8259).
    public var text: String {
        var bytes: [UInt8] = []
        write(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends the value in one line of UTF-8, without a line feed (RFC 8259).
    public func write(into bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .boolean(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): bytes.append(contentsOf: String(value).utf8)
        case .number(let value): bytes.append(contentsOf: value.description.utf8)
        case .string(let value): Self.write(value, into: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(into: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(member.key, into: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(into: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Characters that are invisible, move the cursor or change the writing direction are escaped, because a person may
    /// read the line; for programs the text is the same.
    private static func write(_ string: String, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        defer { bytes.append(UInt8(ascii: "\"")) }
        if string.utf8.allSatisfy({ $0 < 0x80 }) { return writeASCII(string.utf8, into: &bytes) }
        for scalar in string.unicodeScalars {
            if scalar.isASCII {
                writeASCII(CollectionOfOne(UInt8(scalar.value)), into: &bytes)
            } else if TextSieve.isHidden(scalar) {
                for unit in UTF16.encode(scalar)! {
                    let digits = String(unit, radix: 16)
                    bytes.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.utf8.count))\(digits)".utf8)
                }
            } else {
                bytes.append(contentsOf: UTF8.encode(scalar)!)
            }
        }
    }

    private static func writeASCII(_ octets: some Sequence<UInt8>, into bytes: inout [UInt8]) {
        for byte in octets {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), byte])
            case 0x0A: bytes.append(contentsOf: "\\n".utf8)
            case 0x0D: bytes.append(contentsOf: "\\r".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            case 0..<0x20, 0x7F: bytes.append(contentsOf: "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
            default: bytes.append(byte)
            }
        }
    }
}
