import BLEPackets

/// Makes the controller scan as the clients want.
///
///     idle ──want──▶ (listing ──▶) configuring ──done──▶ enabling ──done──▶ scanning
///      ▲                                                                      │ want changes, nobody wants, or silence
///      └──────────────────────────── disabling ◀──────────────────────────────┘
///
/// Parameters change only while scanning is off, and scanning is switched off only while it is on: otherwise the
/// controller answers Command Disallowed (0x0C, pain 1). If it answers this nevertheless, our picture is wrong: the
/// machine switches scanning off and begins again, a limited number of times.
///
/// Wishes may change faster than the controller should follow (`ChangeLimit`). Then what becomes weaker waits: the scan
/// goes on with all that it has, and what is wanted in addition is added. There are few things to add, so that there
/// are few changes until one is free again. The host filters for each client anyhow.
struct ScanMachine {
    private enum State {
        case idle
        /// Writes the filter accept list.
        case listing(ScanParameters, remaining: [DeviceAddress])
        case configuring(ScanParameters)
        case enabling(ScanParameters)
        case scanning(ScanParameters)
        /// Another owner of the controller scans, and its reports come here, too.
        case listening(ScanParameters)
        /// The controller refused to scan, and may do it later.
        case paused(until: Instant)
        /// - Parameter least: what it begins with again while changes are limited.
        case disabling(least: ScanParameters?)
    }

    enum Action: Equatable {
        case none
        case clearAcceptList
        case addToAcceptList(DeviceAddress)
        case setParameters(ScanParameters)
        case setEnabled(Bool)
        /// The controller refuses to scan like this; the wish is dropped.
        case fail(HCIStatus)
    }

    private static let attempts = 3
    /// How many pauses a refusal that may pass is worth, each twice as long; then the wish is dropped.
    private static let maximumPauses = 4
    /// The pause after a refusal that a link may cause: the wish stays.
    private static let linkPause: Microseconds = .seconds(5)

    private var state = State.idle
    private(set) var wanted: ScanParameters?
    private var failures = 0
    private var pausesTaken = 0
    private let pausesAfterRefusals: Bool
    /// Since when the scan is on, or its silence was last noticed.
    private var silentSince = Instant.zero
    /// Whether a conflicting scan can only be ours; we do not switch off another owner's.
    private let isExclusive: Bool
    /// The length of the shortest filter accept list that the controller did not accept. Instead of such a list, or a
    /// longer one, it reports all devices.
    private var refusedLength = Int.max
    /// Whether the scan uses the filter accept list or is about to: until it is off, the list must stay as it is (Core
    /// 5.4, Vol 4, Part E, 7.8.15).
    private(set) var scansAcceptList = false

    private var limit = ChangeLimit()
    /// Until when a change of the wish waits; the owner then calls `want` again.
    private(set) var postponedUntil: Instant?
    /// Whether the radio is needed for something else, so that nothing may wait.
    private var mustYield = false

    /// - Parameter pausesAfterRefusals: whether a refusal that may pass is waited for.
    init(isExclusive: Bool = true, pausesAfterRefusals: Bool = false) {
        self.isExclusive = isExclusive
        self.pausesAfterRefusals = pausesAfterRefusals
    }

    /// Whether the controller receives advertising.
    var isScanning: Bool {
        if case .scanning = state { true } else { false }
    }

    /// Whether no scan of ours is on or being started.
    var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    /// The clients' wish; `nil` when no client scans.
    /// - Parameter mustYield: whether the radio is needed for something else.
    mutating func want(_ parameters: ScanParameters?, mustYield: Bool = false, at now: Instant) -> Action {
        if parameters != wanted { (failures, pausesTaken) = (0, 0) }
        if let held = postponedUntil, held <= now { postponedUntil = nil }
        wanted = parameters
        self.mustYield = mustYield
        return converge(at: now)
    }

    /// No client wants anything any more, and nothing waits.
    mutating func endLimit() { limit = ChangeLimit() }

    /// The controller has answered the last action.
    /// - Parameter hasLinks: whether a link is open, which may be the reason of a refusal.
    mutating func completed(_ status: HCIStatus, hasLinks: Bool = false, at now: Instant) -> Action {
        switch state {
        case .listing(let parameters, var remaining):
            guard status.isSuccess else {
                refusedLength = min(refusedLength, parameters.acceptList.count)
                becomeIdle()
                return converge(at: now)
            }
            let target = target(after: parameters, at: now)
            guard parameters == target else {
                limit.spend(at: now)
                becomeIdle()
                return converge(atLeast: target, at: now)
            }
            guard let next = remaining.popLast() else {
                state = .configuring(parameters)
                return .setParameters(parameters)
            }
            state = .listing(parameters, remaining: remaining)
            return .addToAcceptList(next)
        case .configuring(let parameters):
            guard status.isSuccess else { return refused(status, parameters, hasLinks: hasLinks, at: now) }
            state = .enabling(parameters)
            return .setEnabled(true)
        case .enabling(let parameters):
            guard status.isSuccess else { return refused(status, parameters, hasLinks: hasLinks, at: now) }
            failures = 0
            pausesTaken = 0
            state = .scanning(parameters)
            silentSince = now
            return converge(at: now)
        case .disabling(let least):
            // Even if the controller refused: it is off now, or was off before.
            becomeIdle()
            return converge(atLeast: least, at: now)
        case .idle, .scanning, .listening, .paused:
            return .none
        }
    }

    /// Other commands are used from now on.
    mutating func beginAgain(at now: Instant) -> Action {
        becomeIdle()
        failures = 0
        return converge(at: now)
    }

    /// Whether the scan that is on or being started includes LE Coded.
    var scansCodedPHY: Bool {
        switch state {
        case .listing(let parameters, _), .configuring(let parameters), .enabling(let parameters),
            .scanning(let parameters), .listening(let parameters):
            parameters.isOnCodedPHY
        case .idle, .paused, .disabling: false
        }
    }

    /// The controller stopped scanning by itself (LE Scan Timeout).
    mutating func stopped(at now: Instant) -> Action {
        guard case .scanning = state else { return .none }
        becomeIdle()
        return converge(at: now)
    }

    /// The controller was reset: it no longer scans, the wish stays.
    mutating func controllerReset() {
        becomeIdle()
        postponedUntil = nil
        refusedLength = .max
        (failures, pausesTaken) = (0, 0)
    }

    /// Since when reports are expected; `nil` while they are not.
    var receivesSince: Instant? {
        switch state {
        case .scanning, .listening: silentSince
        case .idle, .listing, .configuring, .enabling, .paused, .disabling: nil
        }
    }

    /// How the controller scans; `nil` while it does not.
    var inForce: ScanParameters? {
        switch state {
        case .scanning(let parameters), .listening(let parameters): parameters
        case .idle, .listing, .configuring, .enabling, .paused, .disabling: nil
        }
    }

    /// Until when a scan that the controller refused waits.
    var pausedUntil: Instant? {
        if case .paused(let until) = state { until } else { nil }
    }

    /// The pause after a refusal is over.
    mutating func resume(at now: Instant) -> Action {
        guard case .paused = state else { return .none }
        becomeIdle()
        return converge(at: now)
    }

    /// Reports are missing, and something else is done about it.
    mutating func awaitReports(at now: Instant) { silentSince = now }

    /// Switches scanning off and on again, because reports are missing.
    mutating func restart(at now: Instant) -> Action {
        guard receivesSince != nil else { return .none }
        silentSince = now
        if case .listening = state {
            // The other owner may have stopped: then we can scan ourselves.
            state = .idle
            return converge(at: now)
        }
        state = .disabling(least: nil)
        return .setEnabled(false)
    }

    private mutating func refused(
        _ status: HCIStatus, _ parameters: ScanParameters, hasLinks: Bool, at now: Instant
    ) -> Action {
        if !isExclusive, status == .commandDisallowed {
            state = .listening(parameters)
            silentSince = now
            return converge(at: now)
        }
        failures += 1
        if status == .commandDisallowed, failures < Self.attempts {
            state = .disabling(least: nil)
            return .setEnabled(false)
        }
        becomeIdle()
        if pausesAfterRefusals, let pause = pause(after: status, hasLinks: hasLinks) {
            failures = 0
            state = .paused(until: now.advanced(by: pause))
            return .none
        }
        wanted = nil
        (failures, pausesTaken) = (0, 0)
        return .fail(status)
    }

    /// How long to wait after a refusal; `nil` if no time helps.
    private mutating func pause(after status: HCIStatus, hasLinks: Bool) -> Microseconds? {
        switch status {
        case .unknownCommand, .unsupportedFeatureOrParameterValue, .invalidCommandParameters: return nil
        case .commandDisallowed where hasLinks: return Self.linkPause
        default:
            guard pausesTaken < Self.maximumPauses else { return nil }
            pausesTaken += 1
            return .seconds(1 << Int32(pausesTaken - 1))
        }
    }

    private mutating func becomeIdle() {
        state = .idle
        scansAcceptList = false
    }

    /// What is wanted, as far as the controller can.
    private var wish: ScanParameters? {
        var wish = wanted
        if let wanted, wanted.acceptList.count >= refusedLength { wish?.acceptList = [] }
        return wish
    }

    /// How to scan in place of `current`, which the controller does or is about to do: as the clients want, or also
    /// with all that it has while changes are limited.
    private mutating func target(after current: ScanParameters, at now: Instant) -> ScanParameters? {
        let wish = wish
        postponedUntil = nil
        guard wish != current, !mustYield, let opening = limit.opens(after: now) else { return wish }
        let target = wish.map { current.joined(with: $0) } ?? current
        if target != wish { postponedUntil = opening }
        return target
    }

    /// - Parameter least: what a scan that begins has at least while changes are limited.
    private mutating func converge(atLeast least: ScanParameters? = nil, at now: Instant) -> Action {
        switch state {
        case .idle:
            guard let parameters = least.map({ target(after: $0, at: now) }) ?? wish else { return .none }
            guard !parameters.acceptList.isEmpty else {
                state = .configuring(parameters)
                return .setParameters(parameters)
            }
            state = .listing(parameters, remaining: parameters.acceptList.reversed())
            scansAcceptList = true
            return .clearAcceptList
        case .scanning(let current):
            let target = target(after: current, at: now)
            guard target != current else { return .none }
            limit.spend(at: now)
            state = .disabling(least: target)
            return .setEnabled(false)
        case .listening, .paused:
            if wish == nil { state = .idle }
            return .none
        case .listing, .configuring, .enabling, .disabling: return .none
        }
    }
}

/// The scan parameters for the controller.
struct ScanParameters: Equatable {
    var isActive: Bool
    var duty: ScanDuty
    /// Scans on LE 1M and LE Coded instead of only on LE 1M.
    var isOnCodedPHY = false
    /// Reports advertising to private addresses that could not be resolved, too.
    var isUnrestricted = false
    /// Reports these devices only; empty: all.
    var acceptList: [DeviceAddress] = []

    /// What receives all that either would.
    func joined(with other: ScanParameters) -> ScanParameters {
        var joined = self
        joined.isActive = isActive || other.isActive
        if other.duty.isMore(than: duty) { joined.duty = other.duty }
        joined.isOnCodedPHY = isOnCodedPHY || other.isOnCodedPHY
        joined.isUnrestricted = isUnrestricted || other.isUnrestricted
        // A list that would have to grow is no list: it could grow again and again.
        if other.acceptList.isEmpty || !other.acceptList.allSatisfy({ acceptList.contains($0) }) {
            joined.acceptList = []
        }
        return joined
    }

    var filterPolicy: ScanningFilterPolicy {
        switch (acceptList.isEmpty, isUnrestricted) {
        case (true, false): .all
        case (true, true): .allUnrestricted
        case (false, false): .acceptListOnly
        case (false, true): .acceptListOnlyUnrestricted
        }
    }
}

extension ScanDuty {
    /// Whether more of the time is listened.
    func isMore(than other: ScanDuty) -> Bool {
        Int(window.rawValue) * Int(other.interval.rawValue) > Int(other.window.rawValue) * Int(interval.rawValue)
    }
}
