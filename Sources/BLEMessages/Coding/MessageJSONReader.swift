import BLEJSON

/// Reads what `MessageJSONWriter` writes. Members that the description does not have are skipped.
///
/// A description throws errors that name no member. The reader remembers where it is, so that `problem` has the path.
public struct MessageJSONReader: Coder {
    public static var reads: Bool { true }

    public var isChosen = false
    public var isRecording: Bool { true }
    private var object: JSONValue
    /// The value that is coded next; `nil`: it is not there and counts as zero.
    private var value: JSONValue?
    /// The elements of the present list that are left, the last one first.
    private var elements: [JSONValue] = []

    /// The names and places that lead to the present object.
    private var path = ""
    /// Whether the present object is not there and counts as an empty one.
    private var isAbsent = false
    /// The member that is coded.
    private var member: StaticString = ""
    /// The place of the present element in its list.
    private var place: Int?
    /// The case that the present object has.
    private var chosen: StaticString?
    private var step = Step.other
    private var found: MessageJSONProblem?

    /// What was done last: an error that the description throws now is about this.
    private enum Step {
        case value, octets, element, choice, other
    }

    public init(_ object: JSONValue) { self.object = object }

    /// What was wrong, after the description has thrown an error.
    public var problem: MessageJSONProblem {
        if let found { return found }
        return switch step {
        case .value: problem(value.map { .impossible($0.brief) } ?? .missing)
        // They may be a key.
        case .octets: problem(value.map { .impossible($0.briefOctets) } ?? .missing)
        case .element: MessageJSONProblem(path: listPath, .tooLong)
        case .choice: MessageJSONProblem(path: path, isAbsent ? .missing : .noKnownChoice)
        case .other: MessageJSONProblem(path: path, .inconsistent)
        }
    }

    private var listPath: String { path.isEmpty ? member.description : "\(path).\(member)" }
    private var memberPath: String { listPath + (place.map { "[\($0)]" } ?? "") }

    private func problem(_ cause: MessageJSONProblem.Cause) -> MessageJSONProblem {
        MessageJSONProblem(path: memberPath, cause)
    }

    /// Remembers that the present value is of another kind.
    private mutating func mismatch(_ needed: String) -> MessageError {
        let brief = step == .octets ? value?.briefOctets : value?.brief
        found = problem(.unexpected(needed: needed, found: brief ?? "nothing"))
        return .malformed
    }

    public mutating func hasField(
        _ number: Int, _ name: StaticString, _ presence: Presence, isSet: Bool
    ) throws(MessageError) -> Bool {
        (member, step) = (name, .other)
        switch presence {
        case .repeated:
            guard found == nil else { throw .malformed }
            value = elements.popLast()
            if value != nil { (place, step) = ((place ?? -1) + 1, .element) }
        case .option:
            value = object[name.description]
            guard value != nil else { return false }
            if let chosen, chosen.description != name.description {
                found = MessageJSONProblem(path: path, .twoChoices(chosen.description, name.description))
                throw .invalidField
            }
            (isChosen, chosen) = (true, name)
        case .plain, .optional: value = object[name.description]
        }
        return value != nil || presence == .plain
    }

    public mutating func scalar(
        _ number: Int, _ name: StaticString, _ bits: UInt64, _ type: ScalarType
    ) throws(MessageError) -> UInt64 {
        step = .value
        switch value {
        case nil: return 0
        case .boolean(let flag)? where type == .bool: return flag ? 1 : 0
        case .integer(let number)? where type != .bool: return UInt64(bitPattern: Int64(number))
        case .number? where type != .bool: throw mismatch("a whole number of 64 bits")
        default: throw mismatch(type == .bool ? "true or false" : "a number")
        }
    }

    public mutating func octets(
        _ number: Int, _ name: StaticString, _ content: [UInt8], isText: Bool
    ) throws(MessageError) -> ArraySlice<UInt8> {
        step = isText ? .value : .octets
        guard let value else { return [] }
        let needed = isText ? "a text" : "a text with two hexadecimal digits for each octet"
        guard case .string(let text) = value else { throw mismatch(needed) }
        if isText { return Array(text.utf8)[...] }
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { throw mismatch(needed) }
        var read: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let octet = UInt8(text: digits[place], digits[place + 1]) else { throw mismatch(needed) }
            read.append(octet)
        }
        return read[...]
    }

    public mutating func begin(
        _ number: Int, _ name: StaticString, _ type: @autoclosure () -> String
    ) throws(MessageError) -> Self {
        let outer = self
        object = value ?? .object([])
        guard case .object = object else { throw mismatch("an object") }
        (path, isAbsent) = (memberPath, value == nil)
        (elements, place, chosen, isChosen, step) = ([], nil, nil, false, .other)
        return outer
    }

    public mutating func end(_ outer: inout Self) -> Bool {
        self = outer
        step = .value
        return true
    }

    public mutating func beginList(_ number: Int, _ name: StaticString, _ type: ScalarType?, count: Int) {
        (member, place, elements, step) = (name, nil, [], .other)
        value = object[name.description]
        switch value {
        case nil: break
        case .array(let values)?: elements = values.reversed()
        // The next step throws it.
        default: _ = mismatch("a list")
        }
    }

    public mutating func endList() { place = nil }

    public mutating func repeatsChoice() -> Bool {
        step = .choice
        return false
    }
}

extension JSONValue {
    /// The value in few words, or the kind of a value that has members.
    fileprivate var brief: String {
        switch self {
        case .object: "an object"
        case .array: "a list"
        case .string(let text) where text.unicodeScalars.count > 40:
            JSONValue.string(String(String.UnicodeScalarView(text.unicodeScalars.prefix(32))) + "…").text
        case .null, .boolean, .integer, .number, .string: text
        }
    }

    /// The same without the content of a text.
    fileprivate var briefOctets: String {
        if case .string(let text) = self { "a text of length \(text.unicodeScalars.count)" } else { brief }
    }
}

extension Message {
    /// Reads an object that `json` has written.
    public init(json object: JSONValue) throws(MessageJSONProblem) {
        guard case .object = object else {
            throw MessageJSONProblem(path: "", .unexpected(needed: "an object", found: object.brief))
        }
        var (reader, message) = (MessageJSONReader(object), Self.blank)
        do throws(MessageError) { try Self.describe(&message, &reader) } catch { throw reader.problem }
        self = message
    }
}

extension UInt8 {
    /// The octet with these two hexadecimal digits.
    fileprivate init?(text high: UInt8, _ low: UInt8) {
        // A sign is no digit.
        guard high != UInt8(ascii: "+"), high != UInt8(ascii: "-") else { return nil }
        self.init(String(decoding: [high, low], as: UTF8.self), radix: 16)
    }
}
