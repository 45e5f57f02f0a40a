import Synchronization

/// How far an update is.
public struct UpdateProgress: Equatable, Sendable {
    /// What is being done.
    public enum Phase: String, Sendable {
        /// The device is asked for its state.
        case preparing
        /// The application is asked to start the bootloader.
        case startingBootloader
        /// The image is sent.
        case uploading
        /// The device restarts, and its bootloader installs the image.
        case restarting
        /// The link is lost: the device is looked for.
        case reconnecting
        /// The new image is confirmed.
        case confirming
    }

    /// What is being done.
    public var phase: Phase
    /// The part of the file that is sent, from 1, and how many there are.
    public var part = 1
    /// See `part`.
    public var parts = 1
    /// Octets that the device has, while it is `uploading`.
    public var done = 0
    /// Octets of the part.
    public var total = 0
    /// Octets per second since the upload of this part began or went on; `nil` before that is known.
    public var rate: Double?

    /// The seconds that the upload of this part takes yet, at this rate.
    public var secondsLeft: Double? { rate.flatMap { $0 > 0 ? Double(total - done) / $0 : nil } }

    public init(phase: Phase) { self.phase = phase }
}

/// Measures an upload, and reports how far it is.
final class UploadMeter: Sendable {
    private struct State {
        var shown: UpdateProgress
        var first: Int?
        var timed: (octets: Int, time: ContinuousClock.Instant)?
        var last = 0
        var lastTime: ContinuousClock.Instant?
    }

    private let state: Mutex<State>
    private let report: @Sendable (UpdateProgress) -> Void
    private let start = ContinuousClock.now

    /// - Parameters:
    ///   - part: the part that is sent, from 0.
    ///   - total: its octets.
    init(part: Int, of parts: Int, total: Int, _ report: @escaping @Sendable (UpdateProgress) -> Void) {
        var shown = UpdateProgress(phase: .uploading)
        (shown.part, shown.parts, shown.total) = (part + 1, parts, total)
        state = Mutex(State(shown: shown))
        self.report = report
        report(shown)
    }

    /// The device has so many octets.
    func reached(_ done: Int) {
        let shown = state.withLock { state in
            let now = ContinuousClock.now
            if state.first == nil { state.first = done }
            state.last = max(state.last, done)
            state.lastTime = now
            if let timed = state.timed, done >= timed.octets {
                let seconds = timed.time.duration(to: now) / .seconds(1)
                if seconds > 0.2 { state.shown.rate = Double(done - timed.octets) / seconds }
            } else {
                state.timed = (done, now)
            }
            state.shown.done = done
            return state.shown
        }
        report(shown)
    }

    /// The octets that were sent: the first report says what the device had.
    var sent: Int { state.withLock { $0.last - ($0.first ?? $0.last) } }

    /// The octets that the device has.
    var reachedCount: Int { state.withLock { $0.last } }

    /// Whether the device has everything.
    var isComplete: Bool { state.withLock { $0.last == $0.shown.total } }

    /// How long it took until the last report, in seconds.
    var seconds: Double { state.withLock { $0.lastTime.map { start.duration(to: $0) / .seconds(1) } ?? 0 } }
}
