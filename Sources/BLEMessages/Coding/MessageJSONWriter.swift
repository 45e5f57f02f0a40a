import BLEJSON

/// Writes JSON: the names of the schema, octets as hexadecimal digits, numbers as the schema has them.
public struct MessageJSONWriter: Coder {
    public static var reads: Bool { false }

    /// The text so far.
    public private(set) var text: [UInt8] = [UInt8(ascii: "{")]
    public var isChosen = false
    public var isRecording: Bool { true }
    private var isInList = false

    public init() {}

    private mutating func separate() {
        if let last = text.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") { text.append(UInt8(ascii: ",")) }
    }

    private mutating func begin(_ name: StaticString) {
        separate()
        if !isInList { text += "\"\(name)\":".utf8 }
    }

    public mutating func hasField(_ number: Int, _ name: StaticString, _ presence: Presence, isSet: Bool) -> Bool {
        guard presence == .option else { return isSet }
        guard isSet, !isChosen else { return false }
        isChosen = true
        return true
    }

    /// Numbers above `Int64.max` are those with the same 64 bits.
    public mutating func scalar(_ number: Int, _ name: StaticString, _ bits: UInt64, _ type: ScalarType) -> UInt64 {
        begin(name)
        text += (type == .bool ? (bits != 0 ? "true" : "false") : String(Int64(bitPattern: bits))).utf8
        return 0
    }

    public mutating func octets(
        _ number: Int, _ name: StaticString, _ content: [UInt8], isText: Bool
    ) -> ArraySlice<UInt8> {
        begin(name)
        if isText {
            JSONValue.string(String(decoding: content, as: UTF8.self)).write(into: &text)
        } else {
            text.append(UInt8(ascii: "\""))
            for octet in content { text += [Self.digits[Int(octet >> 4)], Self.digits[Int(octet & 15)]] }
            text.append(UInt8(ascii: "\""))
        }
        return []
    }

    private static let digits = Array("0123456789abcdef".utf8)

    public mutating func begin(_ number: Int, _ name: StaticString, _ type: @autoclosure () -> String) -> Bool {
        begin(name)
        text.append(UInt8(ascii: "{"))
        defer { isInList = false }
        return isInList
    }

    public mutating func end(_ wasInList: inout Bool) -> Bool {
        text.append(UInt8(ascii: "}"))
        isInList = wasInList
        return true
    }

    public mutating func beginList(_ number: Int, _ name: StaticString, _ type: ScalarType?, count: Int) {
        begin(name)
        text.append(UInt8(ascii: "["))
        isInList = true
    }

    public mutating func endList() {
        text.append(UInt8(ascii: "]"))
        isInList = false
    }
}

extension Message {
    /// The message as an object in one line of UTF-8.
    /// - Throws: `MessageError.invalidField` for a value that the schema does not have.
    public func json() throws(MessageError) -> [UInt8] {
        var (writer, copy) = (MessageJSONWriter(), self)
        try Self.describe(&copy, &writer)
        return writer.text + [UInt8(ascii: "}")]
    }
}
