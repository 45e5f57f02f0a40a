/// A value of a scenario file, which is JSON (RFC 8259); objects keep the order of their keys.
enum ScenarioValue: Equatable {
    case null
    case boolean(Bool)
    case number(Double)
    case text(String)
    case list([ScenarioValue])
    case object([(key: String, value: ScenarioValue)])

    static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.boolean(let a), .boolean(let b)): a == b
        case (.number(let a), .number(let b)): a == b
        case (.text(let a), .text(let b)): a == b
        default: false
        }
    }
}

/// Reads the JSON of a scenario. It stands here because this module imports nothing but the standard library.
struct ScenarioText {
    private static let maximumDepth = 32

    private let bytes: [UInt8]
    private var position = 0

    /// - Throws: `SimulatedScenario.Problem` with the line where the text is none.
    static func value(in bytes: [UInt8]) throws(SimulatedScenario.Problem) -> ScenarioValue {
        var text = ScenarioText(bytes: bytes)
        let value = try text.value(depth: 0)
        text.skipSpace()
        guard text.position == bytes.count else { throw text.problem("nothing was expected any more") }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func problem(_ message: String) -> SimulatedScenario.Problem {
        let line = bytes.prefix(position).count { $0 == 0x0A } + 1
        return .init(place: "line \(line)", message: message)
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func take(word: String) -> Bool {
        guard bytes[position...].starts(with: word.utf8) else { return false }
        position += word.utf8.count
        return true
    }

    private mutating func value(depth: Int) throws(SimulatedScenario.Problem) -> ScenarioValue {
        guard depth < Self.maximumDepth else { throw problem("it is too deeply nested") }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try list(depth: depth)
        case UInt8(ascii: "\""): return .text(try text())
        case nil: throw problem("a value is missing")
        default:
            if take(word: "true") { return .boolean(true) }
            if take(word: "false") { return .boolean(false) }
            if take(word: "null") { return .null }
            return .number(try number())
        }
    }

    private mutating func object(depth: Int) throws(SimulatedScenario.Problem) -> ScenarioValue {
        var members: [(key: String, value: ScenarioValue)] = []
        position += 1
        if take(UInt8(ascii: "}")) { return .object([]) }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw problem("a key in quotes was expected") }
            let key = try text()
            guard !members.contains(where: { $0.key == key }) else { throw problem("‘\(key)’ stands there twice") }
            guard take(UInt8(ascii: ":")) else { throw problem("‘:’ was expected behind ‘\(key)’") }
            members.append((key, try value(depth: depth + 1)))
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw problem("‘,’ or ‘}’ was expected") }
        return .object(members)
    }

    private mutating func list(depth: Int) throws(SimulatedScenario.Problem) -> ScenarioValue {
        var values: [ScenarioValue] = []
        position += 1
        if take(UInt8(ascii: "]")) { return .list([]) }
        repeat { values.append(try value(depth: depth + 1)) } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw problem("‘,’ or ‘]’ was expected") }
        return .list(values)
    }

    private mutating func number() throws(SimulatedScenario.Problem) -> Double {
        let start = position
        while let byte = next, "+-.0123456789eE".utf8.contains(byte) { position += 1 }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard let value = Double(text), value.isFinite else { throw problem("‘\(text)’ is no value") }
        return value
    }

    private mutating func text() throws(SimulatedScenario.Problem) -> String {
        var octets: [UInt8] = []
        position += 1
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: octets, as: UTF8.self)
            case UInt8(ascii: "\\"): octets += try escaped()
            case 0..<0x20: throw problem("the text does not end in its line")
            default: octets.append(byte)
            }
        }
        throw problem("the text does not end")
    }

    private mutating func escaped() throws(SimulatedScenario.Problem) -> [UInt8] {
        guard let byte = next else { throw problem("the text does not end") }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "u"):
            let digits = String(decoding: bytes[position...].prefix(4), as: UTF8.self)
            guard digits.utf8.count == 4, let code = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(code) else {
                throw problem("‘\\u’ stands before no character")
            }
            position += 4
            return Array(String(Character(scalar)).utf8)
        default: throw problem("‘\\’ stands before what cannot follow it")
        }
    }
}
