import BLE
import Synchronization

/// The end of an adapter's use: after ^C or a signal, a device or a controller that does not answer is not waited for.
final class Leaving: Sendable {
    /// How long the work may take to end after it was cancelled.
    static let limit = Duration.seconds(2)

    private let adapter: Adapter
    /// Closes the adapter under the work; its value is whether it did.
    private let overdue = Mutex<Task<Bool, Never>?>(nil)

    init(_ adapter: Adapter) { self.adapter = adapter }

    /// The work was cancelled: what has not ended when the time is over ends with the adapter.
    func begin() {
        let adapter = adapter
        overdue.withLock { task in
            guard task == nil else { return }
            task = Task {
                do { try await Task.sleep(for: Self.limit) } catch { return false }
                await adapter.close()
                return true
            }
        }
    }

    /// The work has ended: closes the adapter, unless that has been done.
    func close() async {
        if let task = overdue.withLock({ $0 }) {
            task.cancel()
            if await task.value { return }
        }
        await adapter.close()
    }
}
