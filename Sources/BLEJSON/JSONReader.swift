/// Why a text is not valid JSON.
public struct JSONProblem: Error, Equatable, Sendable {
    /// The line, counted from 1.
    public var line: Int
    /// The cause, as text.
    public var message: String

    public init(line: Int, message: String) {
        self.line = line
        self.message = message
    }
}

/// Reads JSON (RFC 8259) from files that people write for these tools.
///
/// The order of keys is kept. Errors name their line. The time is proportional to the length of the text; nesting,
/// length and the number of values are bounded, so that no text needs more than about 100 MB of memory.
public struct JSONReader {
    /// The limits of a text.
    public struct Limits: Sendable {
        /// The nesting of arrays and objects.
        public var depth = 64
        /// Octets of the text.
        public var byteCount = 16 << 20
        /// The number of values at all levels.
        public var valueCount = 1_000_000
        /// Characters of a number.
        public var numberLength = 1000

        /// Limits far above any file that people write for these tools.
        public init() {}
    }

    private let bytes: [UInt8]
    private let limits: Limits
    private var position = 0
    private var valueCount = 0

    private init(_ bytes: [UInt8], _ limits: Limits) {
        self.bytes = bytes
        self.limits = limits
    }

    /// - Throws: `JSONProblem` if the text is not one JSON value, or exceeds the limits.
    public static func value(in bytes: [UInt8], limits: Limits = Limits()) throws(JSONProblem) -> JSONValue {
        guard bytes.count <= limits.byteCount else {
            throw JSONProblem(line: 1, message: "the text is longer than \(limits.byteCount) octets")
        }
        var reader = JSONReader(bytes, limits)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.position == reader.bytes.count else { throw reader.failure("unexpected text after the value") }
        return value
    }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func failure(_ message: String) -> JSONProblem {
        JSONProblem(line: bytes[..<min(position, bytes.count)].count { $0 == 0x0A } + 1, message: message)
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func consume(_ byte: UInt8) -> Bool {
        skipSpace()
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func consume(word: StaticString) -> Bool {
        let word = Array(word.description.utf8)
        guard bytes[position...].starts(with: word) else { return false }
        position += word.count
        return true
    }

    private mutating func value(depth: Int) throws(JSONProblem) -> JSONValue {
        guard depth < limits.depth else { throw failure("too deeply nested: more than \(limits.depth) levels") }
        valueCount += 1
        guard valueCount <= limits.valueCount else { throw failure("there are more than \(limits.valueCount) values") }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case let byte? where byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte):
            return try number()
        case nil: throw failure("a value is missing")
        default:
            if consume(word: "true") { return true }
            if consume(word: "false") { return false }
            if consume(word: "null") { return .null }
            throw failure("not a JSON value")
        }
    }

    private mutating func object(depth: Int) throws(JSONProblem) -> JSONValue {
        var members: [JSONValue.Member] = []
        var keys = KeySet()
        position += 1
        if consume(UInt8(ascii: "}")) { return .object([]) }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw failure("expected a key in quotes") }
            let key = try string()
            guard keys.insert(key, beside: members) else { throw failure("‘\(Self.short(key))’ appears twice") }
            guard consume(UInt8(ascii: ":")) else { throw failure("‘:’ is missing after ‘\(Self.short(key))’") }
            members.append(JSONValue.Member(key: key, value: try value(depth: depth + 1)))
        } while consume(UInt8(ascii: ","))
        guard consume(UInt8(ascii: "}")) else { throw failure("expected ‘,’ or ‘}’") }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(JSONProblem) -> JSONValue {
        var values: [JSONValue] = []
        position += 1
        if consume(UInt8(ascii: "]")) { return [] }
        repeat { values.append(try value(depth: depth + 1)) } while consume(UInt8(ascii: ","))
        guard consume(UInt8(ascii: "]")) else { throw failure("expected ‘,’ or ‘]’") }
        return .array(values)
    }

    private mutating func number() throws(JSONProblem) -> JSONValue {
        let start = position
        while let byte = next, Self.isOfNumber(byte) { position += 1 }
        guard position - start <= limits.numberLength else { throw failure("a number has too many digits") }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if let value = Int(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw failure("‘\(text)’ is not a number") }
        return .number(value)
    }

    private static func isOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    /// A key as a message shows it.
    private static func short(_ key: String) -> String {
        key.utf8.count <= 64 ? key : String(key.prefix(32)) + "…"
    }

    private mutating func string() throws(JSONProblem) -> String {
        var octets: [UInt8] = []
        position += 1
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: octets, as: UTF8.self) else { throw failure("this is not UTF-8") }
                return text
            case UInt8(ascii: "\\"): octets += String(try escaped()).utf8
            case 0..<0x20: throw failure("unterminated string in its line")
            default: octets.append(byte)
            }
        }
        throw failure("the string does not end")
    }

    private mutating func escaped() throws(JSONProblem) -> Unicode.Scalar {
        guard let byte = next else { throw failure("the string does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let high = try codeUnit()
            guard 0xD800..<0xDC00 ~= high, consume(word: "\\u") else { return Unicode.Scalar(high) ?? "\u{FFFD}" }
            let low = try codeUnit()
            guard 0xDC00..<0xE000 ~= low else { throw failure("unpaired surrogate") }
            return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}"
        default: throw failure("‘\\’ starts an unknown escape")
        }
    }

    private mutating func codeUnit() throws(JSONProblem) -> UInt32 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ $0 < 0x80 && Character(Unicode.Scalar($0)).isHexDigit }),
            let value = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure("expected four digits after ‘\\u’") }
        position += 4
        return value
    }
}

/// The keys of an object: compared one by one if they are few, otherwise in a set.
private struct KeySet {
    private static let few = 8
    private var many: Set<String> = []

    /// - Returns: whether the key is new.
    mutating func insert(_ key: String, beside members: [JSONValue.Member]) -> Bool {
        if members.count < Self.few { return !members.contains { $0.key == key } }
        if members.count == Self.few { many = Set(members.map(\.key)) }
        return many.insert(key).inserted
    }
}
