import Glibc
import Synchronization

/// The keys that are pressed at the terminal, one after the other.
final class Keyboard: Sendable {
    /// How often the thread checks whether it should stop, in milliseconds.
    private static let slice: Int32 = 100
    /// How long the rest of a key's sequence may take, in milliseconds.
    private static let escapeTime: Int32 = 30

    /// Ends with the input and with `stop`.
    let keys: AsyncStream<Key>
    private let isOver = Mutex(false)

    init(descriptor: Int32 = 0) {
        let (keys, continuation) = AsyncStream<Key>.makeStream(bufferingPolicy: .bufferingOldest(4096))
        self.keys = keys
        // The thread waits in the kernel: no task of the pool must do so.
        ThreadBody { [self] in
            read(descriptor) { continuation.yield($0) }
            continuation.finish()
        }.start()
    }

    func stop() { isOver.withLock { $0 = true } }

    private func read(_ descriptor: Int32, _ take: (Key) -> Void) {
        var parser = KeyParser()
        var chunk = [UInt8](repeating: 0, count: 1024)
        while !isOver.withLock({ $0 }) {
            if TerminalMode.isPaused {
                usleep(20_000)
                continue
            }
            var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&waited, 1, parser.isWaiting ? Self.escapeTime : Self.slice)
            if ready == 0 { parser.settle().forEach(take) }
            guard ready > 0, !TerminalMode.isPaused else { continue }
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                parser.parse(chunk[..<count]).forEach(take)
            } else if count == 0 || errno != EINTR && errno != EAGAIN {
                return
            }
        }
    }
}
