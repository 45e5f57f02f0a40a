@_spi(VirtualTime) import BLETransport

/// The time of a radio. It runs like any clock, and a test stops it or lets time pass at once.
///
/// Timeouts and intervals of adapters on the radio follow this clock. Code under test that waits by itself can take a
/// clock as a parameter and be given this one.
public struct TestClock: Clock {
    /// A moment, as the time since the machine started.
    public struct Instant: InstantProtocol, CustomStringConvertible {
        let microseconds: UInt64

        public func advanced(by duration: Duration) -> Instant {
            let (seconds, attoseconds) = duration.components
            let moved = Int64(microseconds) + seconds * 1_000_000 + attoseconds / 1_000_000_000_000
            return Instant(microseconds: UInt64(max(0, moved)))
        }

        public func duration(to other: Instant) -> Duration {
            .microseconds(Int64(other.microseconds) - Int64(microseconds))
        }

        public static func < (a: Instant, b: Instant) -> Bool { a.microseconds < b.microseconds }

        public var description: String { "\(Double(microseconds) / 1_000_000) s" }
    }

    let loop: EventLoop

    public var now: Instant { Instant(microseconds: loop.nowMicroseconds) }
    public var minimumResolution: Duration { .microseconds(1) }

    /// Waits until this clock has reached a time.
    /// - Throws: `CancellationError` if the task is cancelled first.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let sleeper = TestSleeper()
        let loop = loop
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.run { sleeper.start(continuation, on: loop, at: deadline.microseconds) }
            }
        } onCancel: {
            loop.run { sleeper.end() }
        }
        try Task.checkCancellation()
    }

    /// Stops the clock: nothing that waits for time happens before `advance(by:)` or `start()`. Controllers still
    /// answer commands.
    public func stop() async { await onLoop { $0.setClockRunning(false) } }

    /// Lets a stopped clock run on from where it stands.
    public func start() async { await onLoop { $0.setClockRunning(true) } }

    /// Lets time pass at once. What happens on the air in that time happens in its order, and the tasks of the code
    /// under test get time to react between two such moments; a test that relies on a reaction waits for it.
    public func advance(by duration: Duration) async {
        let end = now.advanced(by: duration).microseconds
        while await onLoop({ $0.step(notAfter: end) }) {
            // Tasks that were resumed in that moment run before the next one.
            for _ in 0..<8 { await Task.yield() }
        }
    }

    /// Runs a closure on the loop, and what it defers, and waits for that.
    @discardableResult
    private func onLoop<Value: Sendable>(_ body: @escaping @Sendable (EventLoop) -> Value) async -> Value {
        let loop = loop
        return await withCheckedContinuation { continuation in
            loop.run {
                let value = body(loop)
                loop.runLater { loop.runLater { loop.runLater { continuation.resume(returning: value) } } }
            }
        }
    }
}

/// One sleeping task; used on the loop's thread only.
private final class TestSleeper: @unchecked Sendable {
    // @unchecked Sendable is safe because everything is used only on the loop's thread.
    private var continuation: CheckedContinuation<Void, Never>?
    private var deadline: EventLoop.Deadline?
    private var hasEnded = false

    func start(_ continuation: CheckedContinuation<Void, Never>, on loop: EventLoop, at microseconds: UInt64) {
        guard !hasEnded else { return continuation.resume() }
        self.continuation = continuation
        deadline = loop.makeDeadline { self.end() }
        deadline?.set(atMicroseconds: microseconds)
    }

    func end() {
        hasEnded = true
        deadline?.cancel()
        deadline = nil
        continuation?.resume()
        continuation = nil
    }
}
