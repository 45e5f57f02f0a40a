import BLEGateway
import Glibc
import Synchronization

/// Prints documents to standard output, one per line.
final class DocumentPrinter: Sendable {
    private let printed = Mutex(0)
    private let limit: Int?
    /// Called when enough documents were printed, or standard output is closed.
    private let onEnd: @Sendable () -> Void

    init(limit: Int?, onEnd: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.onEnd = onEnd
    }

    func print(_ message: GatewayMessage) {
        guard message.kind == .document else { return }
        let isEnd = printed.withLock { printed in
            if let limit, printed >= limit { return false }
            printed += 1
            return !Self.write(message.payload + [UInt8(ascii: "\n")]) || printed == limit
        }
        if isEnd { onEnd() }
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
