import BLEHost
import BLESensors

/// The packets of a device that encrypts, to recognise those that somebody has recorded and sends again.
///
///     first ──▶ series ──continues it──▶ series
///                 │  ▲
///                 │  └── the series goes on: what was doubtful is dropped
///                 ▼
///              doubtful ──four fresh packets in 10 s or more──▶ the series of these
///
/// A packet continues the series of the device if its counter is higher by a step that fits the pace of the series. Any
/// other is doubtful: its counter fell back, as after a change of the battery, or it is far ahead, as a packet is that
/// was recorded before such a change. Doubtful packets prove that the counter restarted if they are fresh, which is
/// that none of them was received before under this key, their counters rise strictly, and the series is silent
/// meanwhile. A packet that was received before proves nothing, in whatever order it comes.
///
/// Packets that adapters receive at almost the same time can arrive in the wrong order. And MiBeacon's frame counter
/// may begin again without a change of the octets above it.
struct ReplayGuard: Equatable {
    enum Verdict: Equatable {
        /// It continues the series.
        case new
        /// The last packet, once more.
        case same
        /// An earlier packet, but newer than what was the last one 10 to 20 s ago.
        case late
        /// It proves, with those before it, that the counter restarted.
        case restarted
        /// It does not fit the series, and proves nothing yet.
        case doubtful
        /// It was received before, and does not continue the series.
        case replayed
    }

    /// Fresh packets that may be the beginning of another series.
    private struct Candidate: Equatable {
        var first: UInt32
        var last: UInt32
        var count = 1
        var began: Instant
    }

    /// The last packet of the series.
    private(set) var last: SensorSeal
    /// The highest counter of the series before this one; `nil`: this is the first.
    private(set) var highestBefore: UInt32?
    private var heard: Instant
    /// The counter with which the series begins, and when that was.
    private var first: UInt32
    private var began: Instant
    /// The counter at the start of this span of time, and at the start of the one before.
    private var base: UInt32
    private var olderBase: UInt32 = 0
    private var spanStart: Instant
    private var candidate: Candidate?

    /// How long a packet may be late, and a proof takes at least.
    private static let lateness = Microseconds.seconds(10)
    /// The number of packets of a proof.
    private static let proofCount = 4
    /// The step that always fits.
    private static let step = 256.0

    init(_ seal: SensorSeal, highestBefore: UInt32?, at now: Instant) {
        last = seal
        self.highestBefore = highestBefore
        heard = now
        first = seal.counter
        began = now
        base = seal.counter
        spanStart = now
    }

    /// The guard of a series that was proved.
    private init(_ seal: SensorSeal, from candidate: Candidate, highestBefore: UInt32, at now: Instant) {
        self.init(seal, highestBefore: highestBefore, at: now)
        first = candidate.first
        began = candidate.began
        olderBase = candidate.first
    }

    /// The guard of an earlier run of the program.
    init(stored seal: SensorSeal, highestBefore: UInt32?, at now: Instant) {
        self.init(seal, highestBefore: highestBefore, at: now)
        // No packet from before the start is merely late.
        olderBase = seal.counter
    }

    /// - Parameters:
    ///   - seal: that of the report.
    ///   - wasHeard: whether the packet was received before under this key.
    /// - Returns: what the packet is.
    mutating func judge(_ report: SensorReport, _ seal: SensorSeal, wasHeard: Bool, at now: Instant) -> Verdict {
        if now >= spanStart.advanced(by: Self.lateness) {
            let isLong = now >= spanStart.advanced(by: Self.lateness).advanced(by: Self.lateness)
            olderBase = isLong ? last.counter : base
            base = last.counter
            spanStart = now
        }
        if seal == last { return .same }
        if continues(seal, report, at: now) {
            // No packet of the device had such a counter before if it is higher than all of them.
            let isBeyond = seal.counter > max(last.counter, highestBefore ?? 0)
            if wasHeard, !isBeyond { return .replayed }
            last = seal
            heard = now
            candidate = nil
            return .new
        }
        if seal.counter < last.counter, seal.counter > olderBase, last.counter - seal.counter <= UInt32(Self.step) {
            return .late
        }
        return judgeDoubtful(seal, wasHeard: wasHeard, at: now)
    }

    private func continues(_ seal: SensorSeal, _ report: SensorReport, at now: Instant) -> Bool {
        let isFrameCounter = report.format != "BTHome v2"
        guard seal.counter >= last.counter else {
            return isFrameCounter && seal.counter >> 8 == last.counter >> 8
                && UInt8(truncatingIfNeeded: seal.counter &- last.counter) < 128
        }
        return isFrameCounter || Double(seal.counter - last.counter) <= longestStep(at: now)
    }

    /// Four times what the device has counted in the same time, and `step` for a device that begins.
    private func longestStep(at now: Instant) -> Double {
        let span = began.distance(to: heard).rawValue
        guard span >= Self.lateness.rawValue, last.counter > first else { return Self.step }
        return Self.step + 4 * Double(last.counter - first) / Double(span) * Double(heard.distance(to: now).rawValue)
    }

    private mutating func judgeDoubtful(_ seal: SensorSeal, wasHeard: Bool, at now: Instant) -> Verdict {
        // The packets of a proof come again, too, from this adapter and from others.
        if wasHeard {
            guard let candidate, candidate.first...candidate.last ~= seal.counter else { return .replayed }
            return .doubtful
        }
        // What does not go on with the proof begins another one. Otherwise one packet of the old series with a high
        // counter would keep all lower ones of the device out.
        guard var candidate, seal.counter > candidate.last, Double(seal.counter - candidate.last) <= Self.step else {
            self.candidate = Candidate(first: seal.counter, last: seal.counter, began: now)
            return .doubtful
        }
        candidate.last = seal.counter
        candidate.count += 1
        guard candidate.count >= Self.proofCount, candidate.began.distance(to: now) >= Self.lateness else {
            self.candidate = candidate
            return .doubtful
        }
        self = ReplayGuard(seal, from: candidate, highestBefore: max(last.counter, highestBefore ?? 0), at: now)
        return .restarted
    }
}
