import BLEDaemonClient
import BLETransport
import Foundation
import Testing

@Suite("An operator at a daemon that hangs")
struct OperatorPatienceTests {
    /// Takes connections and never says anything.
    private let path = "@jelling-silent-\(UUID())"

    @Test("gives up after the limit")
    func limit() async throws {
        let listener = try UnixListener(path: path, mode: 0o600)
        defer { listener.close() }
        let path = path
        await #expect(throws: DaemonOperator.Failure.noAnswer(after: .seconds(1))) {
            try await DaemonOperator.perform(.status, at: path, within: .seconds(1))
        }
    }

    @Test("ends when its task is cancelled, before or after it began")
    func cancellation() async throws {
        let listener = try UnixListener(path: path, mode: 0o600)
        defer { listener.close() }
        let path = path
        for pause in [0, 1, 200] {
            let asking = Task { try await DaemonOperator.perform(.status, at: path) }
            try await Task.sleep(for: .milliseconds(pause))
            asking.cancel()
            await #expect(throws: DaemonOperator.Failure.cancelled) { try await asking.value }
        }
    }
}
