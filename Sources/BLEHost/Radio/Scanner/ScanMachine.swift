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
        case disabling
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

    /// How long no report may come before scanning is switched off and on again (pain 5); doubled each time, because
    /// there may be no devices nearby.
    static let firstSilence: Microseconds = .seconds(10)
    static let longestSilence: Microseconds = .seconds(320)
    private static let attempts = 3

    private var state = State.idle
    private(set) var wanted: ScanParameters?
    private var failures = 0
    private var silence = Self.firstSilence
    private var lastHeard = Instant.zero
    /// Whether a conflicting scan can only be ours; we do not switch off another owner's.
    private let isExclusive: Bool
    /// The length of the shortest filter accept list that the controller did not accept. Instead of such a list, or a
    /// longer one, it reports all devices.
    private var refusedLength = Int.max
    /// Whether the scan uses the filter accept list or is about to: until it is off, the list must stay as it is (Core
    /// 5.4, Vol 4, Part E, 7.8.15).
    private(set) var holdsAcceptList = false

    init(isExclusive: Bool = true) { self.isExclusive = isExclusive }

    /// Whether the controller receives advertising.
    var isScanning: Bool {
        if case .scanning = state { true } else { false }
    }

    /// Whether no scan of ours is on or being started.
    var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    /// The clients' wish; `nil` when no client scans.
    mutating func want(_ parameters: ScanParameters?) -> Action {
        if parameters != wanted { failures = 0 }
        wanted = parameters
        return converge()
    }

    /// The controller has answered the last action.
    mutating func completed(_ status: HCIStatus, at now: Instant) -> Action {
        switch state {
        case .listing(let parameters, var remaining):
            guard status.isSuccess else {
                refusedLength = min(refusedLength, parameters.acceptList.count)
                becomeIdle()
                return converge()
            }
            guard parameters == wish else {
                becomeIdle()
                return converge()
            }
            guard let next = remaining.popLast() else {
                state = .configuring(parameters)
                return .setParameters(parameters)
            }
            state = .listing(parameters, remaining: remaining)
            return .addToAcceptList(next)
        case .configuring(let parameters):
            guard status.isSuccess else { return refused(status, parameters, at: now) }
            state = .enabling(parameters)
            return .setEnabled(true)
        case .enabling(let parameters):
            guard status.isSuccess else { return refused(status, parameters, at: now) }
            failures = 0
            state = .scanning(parameters)
            lastHeard = now
            return converge()
        case .disabling:
            // Even if the controller refused: it is off now, or was off before.
            becomeIdle()
            return converge()
        case .idle, .scanning, .listening:
            return .none
        }
    }

    /// A report came.
    mutating func heard(at now: Instant) {
        lastHeard = now
        silence = Self.firstSilence
    }

    /// The controller stopped scanning by itself (LE Scan Timeout).
    mutating func stopped() -> Action {
        guard case .scanning = state else { return .none }
        becomeIdle()
        return converge()
    }

    /// The controller was reset: it no longer scans, the wish stays.
    mutating func controllerReset() {
        becomeIdle()
        refusedLength = .max
        failures = 0
        silence = Self.firstSilence
    }

    var nextDeadline: Instant? {
        switch state {
        case .scanning, .listening: lastHeard.advanced(by: silence)
        case .idle, .listing, .configuring, .enabling, .disabling: nil
        }
    }

    /// Switches scanning off and on again if no report came for long.
    mutating func advance(to now: Instant) -> Action {
        guard let deadline = nextDeadline, deadline <= now else { return .none }
        silence = min(.microseconds(silence.rawValue &* 2), Self.longestSilence)
        lastHeard = now
        if case .listening = state {
            // The other owner may have stopped: then we can scan ourselves.
            state = .idle
            return converge()
        }
        state = .disabling
        return .setEnabled(false)
    }

    private mutating func refused(_ status: HCIStatus, _ parameters: ScanParameters, at now: Instant) -> Action {
        if !isExclusive, status == .commandDisallowed {
            state = .listening(parameters)
            lastHeard = now
            return converge()
        }
        failures += 1
        if status == .commandDisallowed, failures < Self.attempts {
            state = .disabling
            return .setEnabled(false)
        }
        becomeIdle()
        wanted = nil
        failures = 0
        return .fail(status)
    }

    private mutating func becomeIdle() {
        state = .idle
        holdsAcceptList = false
    }

    /// What is wanted, as far as the controller can.
    private var wish: ScanParameters? {
        var wish = wanted
        if let wanted, wanted.acceptList.count >= refusedLength { wish?.acceptList = [] }
        return wish
    }

    private mutating func converge() -> Action {
        switch (state, wish) {
        case (.idle, let parameters?) where !parameters.acceptList.isEmpty:
            state = .listing(parameters, remaining: parameters.acceptList.reversed())
            holdsAcceptList = true
            return .clearAcceptList
        case (.idle, let parameters?):
            state = .configuring(parameters)
            return .setParameters(parameters)
        case (.scanning(let current), let wish) where current != wish:
            state = .disabling
            return .setEnabled(false)
        case (.listening, nil):
            state = .idle
            return .none
        case (.idle, nil), (.scanning, _), (.listening, _), (.listing, _), (.configuring, _), (.enabling, _),
            (.disabling, _):
            return .none
        }
    }
}

/// The scan parameters for the controller.
struct ScanParameters: Equatable {
    var isActive: Bool
    var duty: ScanDuty
    /// Scans on LE 1M and LE Coded instead of on LE 1M alone.
    var isOnCodedPHY = false
    /// Reports advertising to private addresses that could not be resolved, too.
    var isUnrestricted = false
    /// Reports these devices only; empty: all.
    var acceptList: [DeviceAddress] = []

    var filterPolicy: ScanningFilterPolicy {
        switch (acceptList.isEmpty, isUnrestricted) {
        case (true, false): .all
        case (true, true): .allUnrestricted
        case (false, false): .acceptListOnly
        case (false, true): .acceptListOnlyUnrestricted
        }
    }
}
