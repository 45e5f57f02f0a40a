import BLEAppLifecycle
import BLEHost
import BLEMessages
import MessageDrawing

/// Requests of a daemon's programs, drawn from octets by the descriptions of the messages. The caller delivers
/// them; `nil` means that the octets give no values that go together.
enum DrawnRequest {
    /// - Parameter known: numbers that mean something to the tool, by the names of their fields.
    static func ofTool(_ number: UInt64, _ octets: [UInt8], known: [String: [UInt64]]) -> FromClient? {
        guard let command = try? ToolCommand.drawn(from: octets[...], known: known) else { return nil }
        return .request(ToolRequest(OperationID(rawValue: number), command))
    }

    static func ofApp(_ octets: [UInt8], from manager: ManagerID) -> FromClient? {
        guard let request = try? ClientRequest.drawn(from: octets[...]) else { return nil }
        return .appRequest(AppRequest(request, from: manager))
    }

    static func ofOperator(_ octets: [UInt8]) -> FromClient? {
        (try? OperatorRequest.drawn(from: octets[...])).map { .operatorRequest($0) }
    }
}
