import Synchronization

/// The sign of life of several threads together: it is given when each has given its own since the last time.
public final class ThreadHeartbeat: Sendable {
    private let beats = Mutex<[Bool]>([])
    private let beat: @Sendable () -> Void

    public init(_ beat: @escaping @Sendable () -> Void) { self.beat = beat }

    /// Adds a thread, when it calls the function for the first time: one that never begins is not waited for.
    /// - Returns: the function that the thread calls to show that it is alive.
    public func member() -> @Sendable () -> Void {
        let place = Mutex<Int?>(nil)
        return { [self] in
            let isWhole = beats.withLock { beats in
                let number = place.withLock { place in
                    let number = place ?? beats.count
                    place = number
                    return number
                }
                if number == beats.count { beats.append(true) } else { beats[number] = true }
                guard beats.allSatisfy({ $0 }) else { return false }
                beats = beats.map { _ in false }
                return true
            }
            if isWhole { beat() }
        }
    }
}
