import BLEAppLifecycle
import BLEHost
import BLEMessages
import MessageDrawing

/// Requests of a daemon's programs, drawn from octets by the descriptions of the messages. The caller delivers
/// them; `nil` means that the octets give no values that go together.
enum DrawnRequest {
    /// Numbers that fields can have which refuse most others.
    static let valid: [String: [UInt64]] = [
        "io_capability": [0, 1, 2, 3, 4], "minimum_key_size": [7, 16], "maximum_key_size": [16],
        "minimum_interval": [6, 24], "maximum_interval": [24, 80, 3200], "minimum_timeout": [0, 10],
        "maximum_timeout": [10, 600, 3200], "count": [1, 2, 5],
    ]

    /// - Parameter known: numbers that mean something to the tool, by the names of their fields.
    static func ofTool(_ number: UInt64, _ octets: [UInt8], known: [String: [UInt64]]) -> FromClient? {
        guard let command = try? ToolCommand.drawn(from: octets[...], known: known.merging(valid) { $1 }) else {
            return nil
        }
        return .request(ToolRequest(OperationID(rawValue: number), command))
    }

    static func ofApp(_ octets: [UInt8], from manager: ManagerID) -> FromClient? {
        guard let request = try? ClientRequest.drawn(from: octets[...], known: valid) else { return nil }
        return .appRequest(AppRequest(request, from: manager))
    }

    static func ofOperator(_ octets: [UInt8]) -> FromClient? {
        (try? OperatorRequest.drawn(from: octets[...])).map { .operatorRequest($0) }
    }
}
