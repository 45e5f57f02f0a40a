import Glibc

/// The keys that are pressed at the terminal, one after the other.
final class Keyboard: Sendable {
    /// How long the rest of a key's sequence may take, in milliseconds.
    private static let escapeTime: Int32 = 30

    /// Ends with the input and with `stop`.
    let keys: AsyncStream<Key>
    private let end = WaitEnd()

    init(descriptor: Int32 = 0) {
        let (keys, continuation) = AsyncStream<Key>.makeStream(bufferingPolicy: .bufferingOldest(4096))
        self.keys = keys
        // The thread waits in the kernel: no task of the pool must do so.
        ThreadBody { [self] in
            read(descriptor) { continuation.yield($0) }
            continuation.finish()
        }.start()
    }

    func stop() { end.end() }

    private func read(_ descriptor: Int32, _ take: (Key) -> Void) {
        var parser = KeyParser()
        var chunk = [UInt8](repeating: 0, count: 1024)
        reading: while true {
            switch end.wait(for: descriptor, POLLIN, limit: parser.isWaiting ? Self.escapeTime : nil) {
            case .ended: break reading
            case .overdue:
                parser.settle().forEach(take)
                continue
            case .ready: break
            }
            // What is typed then is for another reader.
            if TerminalMode.isPaused {
                usleep(20_000)
                continue
            }
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                parser.parse(chunk[..<count]).forEach(take)
            } else if count == 0 || errno != EINTR && errno != EAGAIN {
                return
            }
        }
    }
}
