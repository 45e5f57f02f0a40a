import Glibc
import Synchronization

/// Standard input as it comes. Each wait has a separate thread, so that tasks go on meanwhile, and ends with the task
/// that waits.
final class InputOctets: Sendable {
    /// How often a wait checks for cancellation, in milliseconds.
    private static let cancellationCheckInterval: Int32 = 100

    private let descriptor: Int32
    private let isCancelled = Atomic<Bool>(false)

    init(descriptor: Int32 = 0) { self.descriptor = descriptor }

    /// What has arrived, as soon as there is something; `nil` at the end of the input and when the task is cancelled.
    func next() async -> [UInt8]? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                ThreadBody { [self] in continuation.resume(returning: wait()) }.start()
            }
        } onCancel: {
            isCancelled.store(true, ordering: .relaxed)
        }
    }

    private func wait() -> [UInt8]? {
        while !isCancelled.load(ordering: .relaxed) {
            var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&waited, 1, Self.cancellationCheckInterval) > 0 else { continue }
            var chunk = [UInt8](repeating: 0, count: 65536)
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count > 0 { return [UInt8](chunk[..<count]) }
            if count == 0 || errno != EINTR && errno != EAGAIN { return nil }
        }
        return nil
    }
}
