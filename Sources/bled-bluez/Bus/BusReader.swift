import BLEBlueZ
import CSystemd
import Glibc

/// Why a message could not be read.
enum BusReadingError: Error {
    /// It is no valid message.
    case malformed
    /// It has more values, or deeper ones, than anybody needs.
    case tooLarge

    var busError: BusError {
        switch self {
        case .malformed: BusError(name: "org.freedesktop.DBus.Error.InvalidArgs", text: "The message cannot be read")
        case .tooLarge:
            BusError(name: "org.freedesktop.DBus.Error.LimitsExceeded", text: "The message has too many values")
        }
    }
}

/// Reads the values of a message, whatever they are.
@safe struct BusReader {
    private let message: OpaquePointer
    /// How many values may still be read: octets in one array count as one.
    private var budget = 65_536
    /// How many octets of texts and arrays may still be read.
    private var octetBudget = 1 << 20
    private static let greatestDepth = 32

    private init(_ message: OpaquePointer) { unsafe self.message = message }

    /// All arguments of a message.
    static func arguments(of message: OpaquePointer) throws(BusReadingError) -> [BusValue] {
        var reader = unsafe BusReader(message)
        return try reader.values(depth: 0)
    }

    /// The values up to the end of the container, or of the message.
    private mutating func values(depth: Int) throws(BusReadingError) -> [BusValue] {
        var values: [BusValue] = []
        while let value = try next(depth: depth) { values.append(value) }
        return values
    }

    /// `nil` at the end.
    private mutating func next(depth: Int) throws(BusReadingError) -> BusValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        let result = unsafe sd_bus_message_peek_type(message, &type, &contents)
        guard result >= 0 else { throw .malformed }
        guard result > 0 else { return nil }
        budget -= 1
        guard budget >= 0, depth < Self.greatestDepth else { throw .tooLarge }
        let inner = unsafe contents.map { unsafe String(cString: $0) } ?? ""
        switch UInt8(bitPattern: type) {
        case UInt8(ascii: "y"): return .byte(try basic(type, 0 as UInt8))
        case UInt8(ascii: "b"): return .boolean(try basic(type, 0 as Int32) != 0)
        case UInt8(ascii: "n"): return .int16(try basic(type, 0 as Int16))
        case UInt8(ascii: "q"): return .uint16(try basic(type, 0 as UInt16))
        case UInt8(ascii: "i"): return .int32(try basic(type, 0 as Int32))
        case UInt8(ascii: "u"): return .uint32(try basic(type, 0 as UInt32))
        case UInt8(ascii: "x"): return .int64(try basic(type, 0 as Int64))
        case UInt8(ascii: "t"): return .uint64(try basic(type, 0 as UInt64))
        case UInt8(ascii: "d"): return .double(try basic(type, 0 as Double))
        case UInt8(ascii: "s"): return .string(try text(type))
        case UInt8(ascii: "o"): return .path(try text(type))
        case UInt8(ascii: "g"): return .signature(try text(type))
        case UInt8(ascii: "h"):
            // The descriptor belongs to the message and ends with it.
            _ = try basic(type, 0 as Int32)
            return .descriptor(SocketID(rawValue: 0))
        case UInt8(ascii: "a") where inner == "y": return .octets(try octets())
        case UInt8(ascii: "a"): return try array(inner, depth)
        case UInt8(ascii: "v"):
            try enter("v", inner)
            guard let value = try next(depth: depth + 1) else { throw .malformed }
            try leave()
            return .variant(value)
        case UInt8(ascii: "r"):
            try enter("r", inner)
            let values = try values(depth: depth + 1)
            try leave()
            return .structure(values)
        default: throw .malformed
        }
    }

    private mutating func array(_ inner: String, _ depth: Int) throws(BusReadingError) -> BusValue {
        try enter("a", inner)
        defer { unsafe _ = sd_bus_message_exit_container(message) }
        guard inner.first == "{" else { return .array(of: inner, try values(depth: depth + 1)) }
        let entry = String(inner.dropFirst().dropLast())
        var entries: [BusValue.Entry] = []
        while true {
            let entered = unsafe sd_bus_message_enter_container(message, CChar(UInt8(ascii: "e")), entry)
            guard entered >= 0 else { throw .malformed }
            guard entered > 0 else { break }
            guard let key = try next(depth: depth + 1), let value = try next(depth: depth + 1) else {
                throw .malformed
            }
            entries.append(BusValue.Entry(key, value))
            try leave()
        }
        return .dictionary(of: entry, entries)
    }

    private func enter(_ type: Unicode.Scalar, _ contents: String) throws(BusReadingError) {
        let entered = unsafe sd_bus_message_enter_container(message, CChar(truncatingIfNeeded: type.value), contents)
        guard entered > 0 else { throw .malformed }
    }

    private func leave() throws(BusReadingError) {
        guard unsafe sd_bus_message_exit_container(message) >= 0 else { throw .malformed }
    }

    private func basic<Value: BitwiseCopyable>(_ type: CChar, _ empty: Value) throws(BusReadingError) -> Value {
        var value = empty
        guard unsafe sd_bus_message_read_basic(message, type, &value) > 0 else { throw .malformed }
        return value
    }

    private mutating func text(_ type: CChar) throws(BusReadingError) -> String {
        var text: UnsafePointer<CChar>?
        guard unsafe sd_bus_message_read_basic(message, type, &text) > 0, let text = unsafe text else {
            throw .malformed
        }
        try spend(unsafe strlen(text))
        return unsafe String(cString: text)
    }

    private mutating func spend(_ octets: Int) throws(BusReadingError) {
        guard octets <= octetBudget else { throw .tooLarge }
        octetBudget -= octets
    }

    private mutating func octets() throws(BusReadingError) -> [UInt8] {
        var start: UnsafeRawPointer?
        var count = 0
        let type = CChar(UInt8(ascii: "y"))
        guard unsafe sd_bus_message_read_array(message, type, &start, &count) >= 0 else { throw .malformed }
        guard let start = unsafe start, count > 0 else { return [] }
        try spend(count)
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }
}
