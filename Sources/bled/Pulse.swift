import Synchronization

/// The sign of life of several threads together: it is given when each has given its own since the last time.
final class Pulse: Sendable {
    private let beats = Mutex<[Bool]>([])
    private let beat: @Sendable () -> Void

    init(_ beat: @escaping @Sendable () -> Void) { self.beat = beat }

    /// Adds a thread.
    /// - Returns: the function that the thread calls to show that it is alive.
    func member() -> @Sendable () -> Void {
        let number = beats.withLock { beats in
            beats.append(false)
            return beats.count - 1
        }
        return { [self] in
            let isWhole = beats.withLock { beats in
                beats[number] = true
                guard beats.allSatisfy({ $0 }) else { return false }
                beats = beats.map { _ in false }
                return true
            }
            if isWhole { beat() }
        }
    }
}
