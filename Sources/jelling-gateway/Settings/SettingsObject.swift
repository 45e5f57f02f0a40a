import BLE
import BLEText
import Yams

/// A mapping in a settings file, read key by key. What is wrong is added to the review with its line and key, and reads
/// as if the key were missing.
struct SettingsObject {
    let review: SettingsReview
    let path: String
    private let line: Int?
    /// Whether there are keys and values; otherwise that is the problem.
    private let isMapping: Bool
    private let members: [(key: String, value: Node)]

    init(_ node: Node, _ review: SettingsReview, path: String, keys: [String]) {
        self.review = review
        self.path = path
        line = node.mark?.line
        guard case .mapping(let mapping) = node else {
            isMapping = false
            members = []
            let message = "\(Self.kind(of: node)); expected keys and values, `key: value`"
            review.add(SettingsProblem(file: review.file, line: line, key: path, message: message))
            return
        }
        isMapping = true
        var members: [(key: String, value: Node)] = []
        // Only behind the first wrong key: they are many.
        var hint = "; known keys: \(keys.joined(separator: ", "))"
        for (key, value) in mapping {
            let name = key.scalar?.string ?? ""
            let place = path.isEmpty ? name : "\(path).\(name)"
            if keys.contains(name) {
                review.note(place, line: value.mark?.line)
                members.append((name, value))
            } else {
                let message = "this is not a known key\(hint)"
                review.add(SettingsProblem(file: review.file, line: key.mark?.line, key: place, message: message))
                hint = ""
            }
        }
        self.members = members
    }

    func place(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    /// Adds a problem with the value of a key, or with its absence.
    func report(_ key: String, _ message: String) { report(place(key), node(key)?.mark?.line ?? line, message) }

    /// - Returns: the value; if it is `nil` because the key is missing, that is a problem.
    func required<Value>(_ key: String, _ value: Value?, _ hint: String = "") -> Value? {
        if value == nil, isMapping, node(key) == nil { report(key, "is missing" + hint) }
        return value
    }

    /// Adds a problem with what stands at a place; without a line, at that of this mapping.
    func report(_ place: String, _ line: Int?, _ message: String) {
        review.add(SettingsProblem(file: review.file, line: line ?? self.line, key: place, message: message))
    }

    /// Whether there is a mapping without a value.
    var isEmpty: Bool { isMapping && members.allSatisfy { node($0.key) == nil } }

    /// The value of a key; `nil` if the key is missing or has no value.
    func node(_ key: String) -> Node? {
        guard let node = members.first(where: { $0.key == key })?.value else { return nil }
        if case .scalar(let scalar) = node, scalar.style == .plain, ["", "~", "null"].contains(scalar.string) {
            return nil
        }
        return node
    }

    func has(_ key: String) -> Bool { members.contains { $0.key == key } }

    func text(_ key: String) -> String? {
        guard let node = node(key) else { return nil }
        guard case .scalar(let scalar) = node else {
            report(key, "\(Self.kind(of: node)); expected a text or a number, `\(key): value`")
            return nil
        }
        guard !scalar.string.isEmpty else {
            report(key, "it is empty; write a value, or leave the key out")
            return nil
        }
        return scalar.string
    }

    func boolean(_ key: String) -> Bool? {
        guard let text = text(key) else { return nil }
        switch text.lowercased() {
        case "true", "yes", "on": return true
        case "false", "no", "off": return false
        default:
            report(key, "‘\(Self.shown(text))’ is neither; expected true or false")
            return nil
        }
    }

    func number(_ key: String, in range: ClosedRange<Double>, _ unit: String) -> Double? {
        guard let text = text(key) else { return nil }
        guard let number = Double(text), range.contains(number) else {
            report(
                key, "\(Self.mistake(in: text, range)); expected a number of \(unit) \(Self.described(range))")
            return nil
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

    func integer(_ key: String, in range: ClosedRange<Int>, _ unit: String) -> Int? {
        guard let number = number(key, in: Double(range.lowerBound)...Double(range.upperBound), unit) else {
            return nil
        }
        guard number == number.rounded() else {
            let range = Self.described(Double(range.lowerBound)...Double(range.upperBound))
            report(key, "\(number) has a fraction; expected a whole number of \(unit) \(range)")
            return nil
        }
        return Int(number)
    }

    /// A duration in seconds, which may have a fraction.
    func span(_ key: String, in range: ClosedRange<Double>) -> Microseconds? {
        number(key, in: range, "seconds").map { .microseconds(Int64($0 * 1e6)) }
    }

    func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, _ type: Choice.Type
    ) -> Choice? where Choice.RawValue == String {
        guard let text = text(key) else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let choices = Choice.allCases.map(\.rawValue).joined(separator: " or ")
            report(key, "‘\(Self.shown(text))’ is not known; expected \(choices)")
            return nil
        }
        return choice
    }

    func address(_ key: String) -> UInt64? {
        guard let text = text(key) else { return nil }
        guard let address = DeviceAddress(text) else {
            report(key, "‘\(Self.shown(text))’ is not an address; write A4:C1:38:00:00:01")
            return nil
        }
        return address.value
    }

    func octets(_ key: String, counts: [Int]) -> [UInt8]? {
        guard let text = text(key) else { return nil }
        let digits = Array(text.utf8)
        let isHexadecimal = text.allSatisfy { $0.isASCII && $0.isHexDigit }
        guard isHexadecimal, counts.contains(where: { $0 * 2 == digits.count }) else {
            // The value is a secret: do not repeat it in the message.
            report(
                key,
                (isHexadecimal ? "it has \(digits.count) digits" : "it has other characters than hexadecimal digits")
                    + "; expected \(counts.map { "\($0 * 2)" }.joined(separator: " or ")) hexadecimal digits")
            return nil
        }
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
        }
    }

    func object(_ key: String, keys: [String]) -> SettingsObject? {
        guard let node = node(key) else { return nil }
        return SettingsObject(node, review, path: place(key), keys: keys)
    }

    func list(_ key: String) -> [(path: String, node: Node)] {
        guard let node = node(key) else { return [] }
        guard case .sequence(let sequence) = node else {
            report(key, "\(Self.kind(of: node)); expected a list, `\(key): [...]`")
            return []
        }
        return sequence.enumerated().map { (path: "\(place(key))[\($0.offset)]", node: $0.element) }
    }

    func texts(_ key: String) -> [String] {
        var texts: [String] = []
        for (path, node) in list(key) {
            guard case .scalar(let scalar) = node, !scalar.string.isEmpty else {
                report(path, node.mark?.line, "expected a text")
                continue
            }
            texts.append(scalar.string)
        }
        return texts
    }

    func objects(_ key: String, keys: [String]) -> [SettingsObject] {
        list(key).map { SettingsObject($0.node, review, path: $0.path, keys: keys) }
    }

    /// A mapping from names to numbers, in the order of the file.
    func numbers(_ key: String, in range: ClosedRange<Double>) -> [String: Double]? {
        guard let node = node(key) else { return nil }
        guard case .mapping(let mapping) = node else {
            report(key, "\(Self.kind(of: node)); expected names and numbers, `temperature: 0.2`")
            return nil
        }
        var numbers: [String: Double] = [:]
        for (name, value) in mapping {
            let text = name.scalar?.string ?? ""
            guard let number = value.scalar.flatMap({ Double($0.string) }), range.contains(number) else {
                let mistake = value.scalar.map { Self.mistake(in: $0.string, range) } ?? Self.kind(of: value)
                report(
                    "\(place(key)).\(text)", value.mark?.line,
                    "\(mistake); expected a number \(Self.described(range))")
                continue
            }
            numbers[text] = number
        }
        return numbers
    }
}
