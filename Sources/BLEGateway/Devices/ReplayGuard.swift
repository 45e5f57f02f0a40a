import BLEHost
import BLEPackets
import BLESensors

/// The packets of a device that encrypts, to recognise those that somebody has recorded and sends again.
///
/// A counter that goes back is such a packet, with three exceptions. Packets that adapters hear at almost the same time
/// can arrive in the wrong order. A counter below 100, after a silence, is that of a device whose battery was changed,
/// as BTHome's receivers have it. And MiBeacon's frame counter may begin again without a change of the octets above it.
struct ReplayGuard {
    enum Verdict: Equatable {
        /// The first packet with this counter.
        case new
        /// The packet that was heard last, once more.
        case same
        /// An earlier packet, but newer than what was the last one 10 to 20 s ago.
        case late
        /// New, by a device that has begun to count again.
        case restarted
        /// An earlier packet.
        case replayed
    }

    private(set) var last: SensorSeal
    private var heard: Instant
    /// The counter at the start of this span of time, and at the start of the one before.
    private var base: UInt32
    private var olderBase: UInt32 = 0
    private var spanStart: Instant

    /// How long a packet may be late, and how long a device is silent at least while its battery is changed.
    private static let lateness = Microseconds.seconds(10)
    /// Below this a counter may begin again.
    private static let restartLimit: UInt32 = 100

    init(_ seal: SensorSeal, at now: Instant) {
        last = seal
        heard = now
        base = seal.counter
        spanStart = now
    }

    /// The guard of an earlier run of the program.
    init(stored seal: SensorSeal, at now: Instant) {
        self.init(seal, at: now)
        // No packet from before the start is merely late, and nobody knows how long the device was silent.
        olderBase = seal.counter
        heard = Instant(microseconds: now.microseconds - Self.lateness.rawValue)
    }

    /// - Parameters:
    ///   - seal: that of the report.
    ///   - heardBefore: when the previous packet of the device was heard; `nil`: the device was forgotten since.
    /// - Returns: what the packet is; only new ones change the state.
    mutating func judge(
        _ report: SensorReport, _ seal: SensorSeal, at now: Instant, heardBefore: Instant?
    ) -> Verdict {
        if now >= spanStart.advanced(by: Self.lateness) {
            let isLong = now >= spanStart.advanced(by: Self.lateness).advanced(by: Self.lateness)
            olderBase = isLong ? last.counter : base
            base = last.counter
            spanStart = now
        }
        if seal == last { return .same }
        let silence = (heardBefore ?? heard).distance(to: now)
        let verdict = verdict(seal, report, isSilent: silence >= Self.lateness)
        switch verdict {
        case .restarted: self = ReplayGuard(seal, at: now)
        case .new:
            last = seal
            heard = now
        case .same, .late, .replayed: break
        }
        return verdict
    }

    private func verdict(_ seal: SensorSeal, _ report: SensorReport, isSilent: Bool) -> Verdict {
        // A device that does not count has another code each time.
        if seal.counter >= last.counter { return .new }
        let isFrameCounter = report.format != "BTHome v2" && seal.counter >> 8 == last.counter >> 8
        if isFrameCounter, UInt8(truncatingIfNeeded: seal.counter &- last.counter) < 128 { return .new }
        if seal.counter > olderBase { return .late }
        return seal.counter < Self.restartLimit && isSilent ? .restarted : .replayed
    }
}
