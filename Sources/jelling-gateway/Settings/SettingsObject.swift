import BLE
import BLEText
import Yams

/// A mapping in a settings file, read key by key; errors name the line and the key.
struct SettingsObject {
    let file: String
    let path: String
    private let members: [(key: String, value: Node)]

    init(_ node: Node, file: String, path: String, keys: [String]) throws(SettingsProblem) {
        self.file = file
        self.path = path
        guard case .mapping(let mapping) = node else {
            throw SettingsProblem(
                file: file, line: node.mark?.line, key: path,
                message: "\(Self.kind(of: node)); expected keys and values, `key: value`")
        }
        var members: [(key: String, value: Node)] = []
        for (key, value) in mapping {
            let name = key.scalar?.string ?? ""
            guard keys.contains(name) else {
                throw SettingsProblem(
                    file: file, line: key.mark?.line, key: path.isEmpty ? name : "\(path).\(name)",
                    message: "this is not a known key; known keys: \(keys.joined(separator: ", "))")
            }
            members.append((name, value))
        }
        self.members = members
    }

    func place(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    func problem(_ key: String, _ message: String) -> SettingsProblem {
        SettingsProblem(file: file, line: node(key)?.mark?.line, key: place(key), message: message)
    }

    /// The value of a key; `nil` if the key is missing or has no value.
    func node(_ key: String) -> Node? {
        guard let node = members.first(where: { $0.key == key })?.value else { return nil }
        if case .scalar(let scalar) = node, scalar.style == .plain, ["", "~", "null"].contains(scalar.string) {
            return nil
        }
        return node
    }

    func has(_ key: String) -> Bool { members.contains { $0.key == key } }

    func text(_ key: String) throws(SettingsProblem) -> String? {
        guard let node = node(key) else { return nil }
        guard case .scalar(let scalar) = node else {
            throw problem(key, "\(Self.kind(of: node)); expected a text or a number, `\(key): value`")
        }
        guard !scalar.string.isEmpty else {
            throw problem(key, "it is empty; write a value, or leave the key out")
        }
        return scalar.string
    }

    func boolean(_ key: String) throws(SettingsProblem) -> Bool? {
        guard let text = try text(key) else { return nil }
        switch text.lowercased() {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        default: throw problem(key, "‘\(Self.shown(text))’ is neither; expected true or false")
        }
    }

    func number(_ key: String, in range: ClosedRange<Double>, _ unit: String) throws(SettingsProblem) -> Double? {
        guard let text = try text(key) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            throw problem(
                key, "\(Self.mistake(in: text, range)); expected a number of \(unit) \(Self.described(range))")
        }
        return number
    }

    /// Why a text is not a number of a range.
    private static func mistake(in text: String, _ range: ClosedRange<Double>) -> String {
        guard let number = Double(text), number.isFinite else { return "‘\(shown(text))’ is not a number" }
        return "\(shown(text)) is too \(number < range.lowerBound ? "small" : "large")"
    }

    private static func described(_ range: ClosedRange<Double>) -> String {
        "from \(short(range.lowerBound)) to \(short(range.upperBound))"
    }

    /// What a message shows of a value: not all of a long one, and nothing of one that may be a key in the wrong place.
    private static func shown(_ text: String) -> String {
        let digits = text.count { $0.isHexDigit }
        return digits >= 20 && digits * 5 >= text.count * 4 ? "…" : String(text.prefix(40)).printable
    }

    private static func kind(of node: Node) -> String {
        switch node {
        case .sequence: "this is a list"
        case .mapping: "these are keys and values"
        case .scalar, .alias: "this is a single value"
        }
    }

    private static func short(_ number: Double) -> String {
        number == number.rounded() ? "\(Int(number))" : "\(number)"
    }

    func integer(_ key: String, in range: ClosedRange<Int>, _ unit: String) throws(SettingsProblem) -> Int? {
        guard let number = try number(key, in: Double(range.lowerBound)...Double(range.upperBound), unit) else {
            return nil
        }
        guard number == number.rounded() else {
            let range = Self.described(Double(range.lowerBound)...Double(range.upperBound))
            throw problem(key, "\(number) has a fraction; expected a whole number of \(unit) \(range)")
        }
        return Int(number)
    }

    /// A duration in seconds, which may have a fraction.
    func span(_ key: String, in range: ClosedRange<Double>) throws(SettingsProblem) -> Microseconds? {
        try number(key, in: range, "seconds").map { .microseconds(Int64($0 * 1e6)) }
    }

    func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, _ type: Choice.Type
    ) throws(SettingsProblem) -> Choice? where Choice.RawValue == String {
        guard let text = try text(key) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let choices = Choice.allCases.map(\.rawValue).joined(separator: " or ")
            throw problem(key, "‘\(Self.shown(text))’ is not known; expected \(choices)")
        }
        return choice
    }

    func address(_ key: String) throws(SettingsProblem) -> UInt64? {
        guard let text = try text(key) else { return nil }
        guard let address = DeviceAddress(text) else {
            throw problem(key, "‘\(Self.shown(text))’ is not an address; write A4:C1:38:00:00:01")
        }
        return address.value
    }

    func octets(_ key: String, counts: [Int]) throws(SettingsProblem) -> [UInt8]? {
        guard let text = try text(key) else { return nil }
        let digits = Array(text.utf8)
        var octets: [UInt8] = []
        for index in stride(from: 0, to: digits.count - 1, by: 2) {
            guard let octet = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else {
                break
            }
            octets.append(octet)
        }
        guard octets.count * 2 == digits.count, counts.contains(octets.count) else {
            // The value is a secret: do not repeat it in the message.
            let isHexadecimal = text.allSatisfy { $0.isASCII && $0.isHexDigit }
            throw problem(
                key,
                (isHexadecimal ? "it has \(digits.count) digits" : "it has other characters than hexadecimal digits")
                    + "; expected \(counts.map { "\($0 * 2)" }.joined(separator: " or ")) hexadecimal digits")
        }
        return octets
    }

    func object(_ key: String, keys: [String]) throws(SettingsProblem) -> SettingsObject? {
        guard let node = node(key) else { return nil }
        return try SettingsObject(node, file: file, path: place(key), keys: keys)
    }

    func list(_ key: String) throws(SettingsProblem) -> [(path: String, node: Node)] {
        guard let node = node(key) else { return [] }
        guard case .sequence(let sequence) = node else {
            throw problem(key, "\(Self.kind(of: node)); expected a list, `\(key): [...]`")
        }
        return sequence.enumerated().map { (path: "\(place(key))[\($0.offset)]", node: $0.element) }
    }

    func objects(_ key: String, keys: [String]) throws(SettingsProblem) -> [SettingsObject] {
        var objects: [SettingsObject] = []
        for (path, node) in try list(key) {
            objects.append(try SettingsObject(node, file: file, path: path, keys: keys))
        }
        return objects
    }

    /// A mapping from names to numbers, in the order of the file.
    func numbers(_ key: String, in range: ClosedRange<Double>) throws(SettingsProblem) -> [String: Double]? {
        guard let node = node(key) else { return nil }
        guard case .mapping(let mapping) = node else {
            throw problem(key, "\(Self.kind(of: node)); expected names and numbers, `temperature: 0.2`")
        }
        var numbers: [String: Double] = [:]
        for (name, value) in mapping {
            let text = name.scalar?.string ?? ""
            guard let number = value.scalar.flatMap({ Double($0.string) }), range.contains(number) else {
                throw SettingsProblem(
                    file: file, line: value.mark?.line, key: "\(place(key)).\(text)",
                    message: (value.scalar.map { Self.mistake(in: $0.string, range) } ?? Self.kind(of: value))
                        + "; expected a number " + Self.described(range))
            }
            numbers[text] = number
        }
        return numbers
    }
}
