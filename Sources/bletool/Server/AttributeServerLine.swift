import BLE
import BLEScripts

/// An input line of `att-server`.
enum AttributeServerLine: Equatable {
    case pdu([UInt8])
    case update(AttributeHandle, [UInt8], SubscriptionModes)
    case reset

    /// - Throws: `Failure` when the line is invalid.
    init(_ line: String) throws {
        let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" }).map(String.init)
        switch words.first {
        case "reset" where words.count == 1: self = .reset
        case "notify": self = try Self.update(words, .notifications)
        case "indicate": self = try Self.update(words, .indications)
        default:
            guard let bytes = Hexadecimal.bytes(words.joined(separator: " ")) else {
                throw Failure("a line is a PDU in hexadecimal, notify HANDLE HEX, indicate HANDLE HEX, or reset")
            }
            self = .pdu(bytes)
        }
    }

    private static func update(_ words: [String], _ modes: SubscriptionModes) throws -> Self {
        guard words.count >= 2, let handle = Hexadecimal.integer(words[1], as: UInt16.self),
            let value = Hexadecimal.bytes(words[2...].joined(separator: " "))
        else { throw Failure("\(words[0]) needs a handle and a hexadecimal value") }
        return .update(AttributeHandle(rawValue: handle), value, modes)
    }

    /// The output for the line: PDUs separated by spaces, or `-` for none.
    func answer(of session: inout AttributeServerSession) -> String {
        var pdus: [[UInt8]] = []
        switch self {
        case .pdu(let bytes): pdus = session.receive(bytes.span.bytes)
        case .update(let handle, let value, let modes): pdus = session.updateValue(value, of: handle, as: modes)
        case .reset: session.reset()
        }
        return pdus.isEmpty ? "-" : pdus.map { Hexadecimal.text($0) }.joined(separator: " ")
    }
}
