import BLEJSON

/// Reads what `MessageJSONWriter` writes. Members that the description does not have are skipped.
public struct MessageJSONReader: Coder {
    public static var reads: Bool { true }

    public var isChosen = false
    public var isRecording: Bool { true }
    private var object: JSONValue
    /// The value that is coded next; `nil`: it is not there and counts as zero.
    private var value: JSONValue?
    /// The elements of the present list that are left, the last one first.
    private var elements: [JSONValue] = []

    public init(_ object: JSONValue) { self.object = object }

    public mutating func hasField(
        _ number: Int, _ name: StaticString, _ presence: Presence, isSet: Bool
    ) throws(MessageError) -> Bool {
        value = presence == .repeated ? elements.popLast() : object[name.description]
        if presence == .option, value != nil { isChosen = true }
        return value != nil || presence == .plain
    }

    public mutating func scalar(
        _ number: Int, _ name: StaticString, _ bits: UInt64, _ type: ScalarType
    ) throws(MessageError) -> UInt64 {
        switch value {
        case nil: return 0
        case .boolean(let flag)? where type == .bool: return flag ? 1 : 0
        case .integer(let number)? where type != .bool: return UInt64(bitPattern: Int64(number))
        default: throw .malformed
        }
    }

    public mutating func octets(
        _ number: Int, _ name: StaticString, _ content: [UInt8], isText: Bool
    ) throws(MessageError) -> ArraySlice<UInt8> {
        guard let value else { return [] }
        guard case .string(let text) = value else { throw .malformed }
        if isText { return Array(text.utf8)[...] }
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { throw .malformed }
        var read: [UInt8] = []
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let octet = UInt8(text: digits[place], digits[place + 1]) else { throw .malformed }
            read.append(octet)
        }
        return read[...]
    }

    public mutating func begin(
        _ number: Int, _ name: StaticString, _ type: @autoclosure () -> String
    ) throws(MessageError) -> Self {
        let outer = self
        object = value ?? .object([])
        guard case .object = object else { throw .malformed }
        return outer
    }

    public mutating func end(_ outer: inout Self) -> Bool {
        self = outer
        return true
    }

    public mutating func beginList(_ number: Int, _ name: StaticString, _ type: ScalarType?, count: Int) {
        // Anything but a list has no elements.
        if case .array(let values)? = object[name.description] { elements = values.reversed() } else { elements = [] }
    }
}

extension Message {
    /// Reads an object that `json` has written.
    /// - Throws: `MessageError.malformed` or `invalidField`.
    public init(json object: JSONValue) throws(MessageError) {
        var (reader, message) = (MessageJSONReader(object), Self.blank)
        guard case .object = object else { throw .malformed }
        try Self.describe(&message, &reader)
        self = message
    }
}

extension UInt8 {
    /// The octet with these two hexadecimal digits.
    fileprivate init?(text high: UInt8, _ low: UInt8) {
        self.init(String(decoding: [high, low], as: UTF8.self), radix: 16)
    }
}
