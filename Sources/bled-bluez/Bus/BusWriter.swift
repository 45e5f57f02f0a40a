import BLEBlueZ
import CSystemd
import Glibc

/// Appends values to a message.
@safe struct BusWriter {
    private let message: OpaquePointer
    /// Makes the client's end of a socket; the message gets its own copy.
    private let makeSocket: (SocketID) -> Int32?

    init(_ message: OpaquePointer, makeSocket: @escaping (SocketID) -> Int32?) {
        unsafe self.message = message
        self.makeSocket = makeSocket
    }

    /// - Returns: whether all values could be appended.
    mutating func append(_ values: [BusValue]) -> Bool {
        for value in values where !append(value) { return false }
        return true
    }

    private mutating func append(_ value: BusValue) -> Bool {
        switch value {
        case .byte(let value): return basic("y", value)
        case .boolean(let value): return basic("b", value ? 1 as Int32 : 0)
        case .int16(let value): return basic("n", value)
        case .uint16(let value): return basic("q", value)
        case .int32(let value): return basic("i", value)
        case .uint32(let value): return basic("u", value)
        case .int64(let value): return basic("x", value)
        case .uint64(let value): return basic("t", value)
        case .double(let value): return basic("d", value)
        case .string(let text): return self.text("s", text)
        case .path(let text): return self.text("o", text)
        case .signature(let text): return self.text("g", text)
        case .descriptor(let socket):
            guard let descriptor = makeSocket(socket) else { return false }
            defer { Glibc.close(descriptor) }
            return basic("h", descriptor)
        case .octets(let octets):
            return unsafe octets.withUnsafeBytes {
                unsafe sd_bus_message_append_array(message, Self.code("y"), $0.baseAddress, $0.count) >= 0
            }
        case .array(let element, let values):
            return container("a", element) { writer in
                for value in values where !writer.append(value) { return false }
                return true
            }
        case .dictionary(let entry, let entries):
            return container("a", "{" + entry + "}") { writer in
                for pair in entries {
                    let isWritten = writer.container("e", entry) { $0.append(pair.key) && $0.append(pair.value) }
                    guard isWritten else { return false }
                }
                return true
            }
        case .structure(let values):
            return container("r", values.map(\.signature).joined()) { $0.append(values) }
        case .variant(let value): return container("v", value.signature) { $0.append(value) }
        }
    }

    private mutating func container(
        _ type: Unicode.Scalar, _ contents: String, _ body: (inout BusWriter) -> Bool
    ) -> Bool {
        guard unsafe sd_bus_message_open_container(message, Self.code(type), contents) >= 0 else { return false }
        guard body(&self) else { return false }
        return unsafe sd_bus_message_close_container(message) >= 0
    }

    private func basic<Value: BitwiseCopyable>(_ type: Unicode.Scalar, _ value: Value) -> Bool {
        var value = value
        return unsafe sd_bus_message_append_basic(message, Self.code(type), &value) >= 0
    }

    /// A text ends at its first zero: D-Bus has none in texts. Nor has it noncharacters: a device that advertises one in its
    /// name must not keep its object, and all others, from being shown.
    private func text(_ type: Unicode.Scalar, _ text: String) -> Bool {
        let isUsual = text.utf8.allSatisfy { $0 < 0xEF }
        let text = isUsual || !text.unicodeScalars.contains(where: \.isNoncharacter) ? text : text.withoutNoncharacters
        return unsafe text.withCString { unsafe sd_bus_message_append_basic(message, Self.code(type), $0) >= 0 }
    }

    private static func code(_ type: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: type.value) }
}

extension Unicode.Scalar {
    fileprivate var isNoncharacter: Bool { (0xFDD0...0xFDEF).contains(value) || value & 0xFFFE == 0xFFFE }
}

extension String {
    fileprivate var withoutNoncharacters: String {
        var scalars = UnicodeScalarView()
        for scalar in unicodeScalars { scalars.append(scalar.isNoncharacter ? "\u{FFFD}" : scalar) }
        return String(scalars)
    }
}
