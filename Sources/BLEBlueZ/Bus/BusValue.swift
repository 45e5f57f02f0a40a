/// A value of D-Bus (D-Bus Specification, Type System), without the octets that carry it.
public indirect enum BusValue: Hashable, Sendable {
    /// `y`
    case byte(UInt8)
    /// `b`
    case boolean(Bool)
    /// `n`
    case int16(Int16)
    /// `q`
    case uint16(UInt16)
    /// `i`
    case int32(Int32)
    /// `u`
    case uint32(UInt32)
    /// `x`
    case int64(Int64)
    /// `t`
    case uint64(UInt64)
    /// `d`
    case double(Double)
    /// `s`
    case string(String)
    /// `o`
    case path(String)
    /// `g`
    case signature(String)
    /// `h`: the client's end of a socket that the service makes when it sends the value. Those of others are dropped.
    case descriptor(SocketID)
    /// `ay`
    case octets([UInt8])
    /// An array of anything but octets and dictionary entries; the text is the signature of an element.
    case array(of: String, [BusValue])
    /// An array of dictionary entries; the text is the signature of a key and a value, such as `sv`.
    case dictionary(of: String, [Entry])
    /// Values in brackets.
    case structure([BusValue])
    /// `v`
    case variant(BusValue)

    /// An entry of a dictionary.
    public struct Entry: Hashable, Sendable {
        public var key: BusValue
        public var value: BusValue

        public init(_ key: BusValue, _ value: BusValue) {
            self.key = key
            self.value = value
        }
    }

    /// The type of the value as D-Bus writes it.
    public var signature: String {
        switch self {
        case .byte: "y"
        case .boolean: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .path: "o"
        case .signature: "g"
        case .descriptor: "h"
        case .octets: "ay"
        case .array(let element, _): "a" + element
        case .dictionary(let entry, _): "a{" + entry + "}"
        case .structure(let values): "(" + values.map(\.signature).joined() + ")"
        case .variant: "v"
        }
    }
}

/// A socket that a client has acquired; each number is used once.
public struct SocketID: Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension BusValue {
    /// A dictionary of names and variants, `a{sv}`.
    static func properties(_ properties: [(name: String, value: BusValue)]) -> BusValue {
        .dictionary(of: "sv", properties.map { Entry(.string($0.name), .variant($0.value)) })
    }

    static func strings(_ texts: [String]) -> BusValue { .array(of: "s", texts.map { .string($0) }) }
    static func paths(_ paths: [String]) -> BusValue { .array(of: "o", paths.map { .path($0) }) }

    /// The value of a text or a path.
    var text: String? {
        switch self {
        case .string(let text), .path(let text): text
        default: nil
        }
    }

    /// The texts of an array of texts or paths.
    var texts: [String]? {
        guard case .array("s", let values) = self else { return nil }
        return values.compactMap(\.text)
    }

    var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    var uint16: UInt16? { if case .uint16(let value) = self { value } else { nil } }
    var octets: [UInt8]? { if case .octets(let value) = self { value } else { nil } }

    /// The names and values of an `a{sv}`; of two entries with one name the first counts.
    var options: [(name: String, value: BusValue)]? {
        guard case .dictionary("sv", let entries) = self else { return nil }
        var found: [(name: String, value: BusValue)] = []
        for entry in entries {
            guard case .string(let name) = entry.key, case .variant(let value) = entry.value else { return nil }
            if !found.contains(where: { $0.name == name }) { found.append((name, value)) }
        }
        return found
    }
}
