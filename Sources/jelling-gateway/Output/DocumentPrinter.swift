import BLEGateway
import Dispatch
import Glibc
import Logging
import Synchronization

/// Prints documents to standard output, one per line, on a separate thread: a reader that does not read must not stop
/// the gateway.
final class DocumentPrinter: Sendable {
    private struct State {
        var accepted = 0
        var waiting = 0
        var hasReportedLoss = false
    }

    private let state = Mutex(State())
    private let thread = DispatchQueue(label: "print")
    private let limit: Int?
    private let logger: Logger
    /// Called when enough documents were printed, or standard output is closed.
    private let onEnd: @Sendable () -> Void

    /// The maximum number of documents that wait for the reader.
    private static let waitingLimit = 1000

    init(limit: Int?, logger: Logger, onEnd: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.logger = logger
        self.onEnd = onEnd
    }

    func print(_ message: GatewayMessage) {
        guard message.kind == .document else { return }
        let (isPrinted, isLast, isFirstLoss) = state.withLock { state in
            if let limit, state.accepted >= limit { return (false, false, false) }
            if state.waiting >= Self.waitingLimit {
                defer { state.hasReportedLoss = true }
                return (false, false, !state.hasReportedLoss)
            }
            state.accepted += 1
            state.waiting += 1
            return (true, state.accepted == limit, false)
        }
        if isFirstLoss { logger.warning("standard output is not read fast enough: documents are not printed") }
        guard isPrinted else { return }
        thread.async { [self] in
            let isWritten = Self.write(message.payload + [UInt8(ascii: "\n")])
            state.withLock { $0.waiting -= 1 }
            if !isWritten || isLast { onEnd() }
        }
    }

    /// Waits a short time until everything is printed.
    func finish() {
        let done = WakeUp()
        thread.async { done.signal() }
        done.wait(2000)
    }

    private static func write(_ octets: [UInt8]) -> Bool {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(1, $0.baseAddress, $0.count) }
            if count < 0 {
                if errno == EINTR { continue }
                return false
            }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
