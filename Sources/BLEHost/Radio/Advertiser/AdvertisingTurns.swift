import BLEPackets

/// Scanning and advertising one after the other, for controllers that do not advertise while they scan (btstack#28).
///
///     free ──refused while scanning──▶ trying ──begun without scanning──▶ advertising ◀──▶ scanning
///      ▲                                 │ refused again, or too late          │
///      └─────────────────────────────────┴───── only one of them is wanted ────┘
///
/// What is refused may have another reason, such as a link: scanning makes room once, and only if advertising then
/// begins, the controller counts as one that needs turns.
struct AdvertisingTurns {
    private enum State: Equatable {
        case free
        case trying(until: Instant)
        case advertising(until: Instant)
        case scanning(until: Instant)
    }

    static let length: Microseconds = .seconds(3)
    /// How long scanning goes on if advertising was refused even without it.
    static let pause: Microseconds = .seconds(30)
    static let trial: Microseconds = .seconds(5)

    private var state = State.free
    /// Whether advertising was refused without scanning, too.
    private var isScanInnocent = false
    /// Whether advertising has begun since the turns began.
    private var hasAdvertised = false

    /// Whether scanning makes room for advertising.
    var scanRests: Bool {
        switch state {
        case .trying, .advertising: true
        case .free, .scanning: false
        }
    }

    /// Whether advertising makes room for scanning.
    var advertisingRests: Bool { if case .scanning = state { true } else { false } }

    /// Whether clients' advertising goes on, although the controller may scan at the moment.
    var keepsAdvertising: Bool { hasAdvertised }

    var nextDeadline: Instant? {
        switch state {
        case .free: nil
        case .trying(let end), .advertising(let end), .scanning(let end): end
        }
    }

    /// - Parameters:
    ///   - areNeeded: whether the controller is known to need turns.
    ///   - areBothWanted: whether clients want scanning and advertising.
    mutating func update(areNeeded: Bool, areBothWanted: Bool, at now: Instant) {
        guard areBothWanted else {
            (state, hasAdvertised) = (.free, false)
            return
        }
        switch state {
        case .free: if areNeeded { state = .advertising(until: now.advanced(by: Self.length)) }
        case .trying(let end):
            guard end <= now else { return }
            (state, isScanInnocent) = (.free, true)
        case .advertising(let end): if end <= now { state = .scanning(until: now.advanced(by: Self.length)) }
        case .scanning(let end): if end <= now { state = .advertising(until: now.advanced(by: Self.length)) }
        }
    }

    /// The controller refused to advertise.
    /// - Parameter isScanning: whether it scanned.
    mutating func refused(isScanning: Bool, at now: Instant) {
        switch state {
        case .free: if isScanning, !isScanInnocent { state = .trying(until: now.advanced(by: Self.trial)) }
        case .trying: if !isScanning { (state, isScanInnocent) = (.free, true) }
        case .advertising:
            if !isScanning { (state, hasAdvertised) = (.scanning(until: now.advanced(by: Self.pause)), false) }
        case .scanning: break
        }
    }

    /// Advertising has begun.
    /// - Returns: whether it shows that scanning had been in the way.
    mutating func began(at now: Instant) -> Bool {
        hasAdvertised = state != .free
        guard case .trying = state else { return false }
        state = .advertising(until: now.advanced(by: Self.length))
        return true
    }
}
