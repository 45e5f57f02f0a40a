import BLEPackets

/// Makes the controller advertise what the clients want.
///
///     idle ──want──▶ preparing ──done──▶ enabling ──done──▶ advertising ──connection──▶ idle
///      ▲                                                       │  ▲
///      │                                  parameters change,   │  └── data change: written while it runs
///      └─────────────── disabling ◀──────── nobody wants ──────┘
///
/// Parameters change only while advertising is off (0x0C otherwise, pain 1); data may change at any time.
struct AdvertisingMachine {
    /// All settings and data for the controller.
    struct Plan: Equatable {
        var parameters: AdvertisingParameters
        var advertisement: [UInt8]
        var scanResponse: [UInt8]
    }

    enum Action: Equatable {
        case none
        case setParameters(AdvertisingParameters)
        /// An advertising set that has had data accepts no directed properties (Core 5.4, Vol 4, Part E, 7.8.53).
        case removeSet
        /// Extended controllers have a random address for each set.
        case setRandomAddress
        case setAdvertisement([UInt8])
        case setScanResponse([UInt8])
        case setEnabled(Bool)
        /// The controller refuses to advertise like this; the wish is dropped.
        case fail(HCIStatus)
    }

    private enum Step: Equatable { case removal, parameters, randomAddress, advertisement, scanResponse }

    private enum State {
        case idle
        case preparing(Plan, Step)
        case enabling(Plan)
        case advertising(Plan)
        /// Data are written while advertising runs; the plan is the one in force afterwards.
        case updating(Plan, Step)
        case disabling
    }

    /// The pause after a controller had no room for another link, or for advertising beside its other activities.
    static let refusalPause: Microseconds = .seconds(1)
    /// How many pauses a refusal is worth that no link explains.
    private static let maximumPauses = 15
    private static let attempts = 3

    private let setsRandomAddress: Bool
    private var state = State.idle
    private(set) var wanted: Plan?
    private var failures = 0
    private var pausesTaken = 0
    private var pausedUntil: Instant?
    /// A connection or the controller ended the advertising that is being switched on or changed.
    private var hasEnded = false
    /// Whether the controller has settings or data of it, on or off.
    private(set) var usesController = false

    /// - Parameter setsRandomAddress: whether each set gets its random address, as extended commands require.
    init(setsRandomAddress: Bool = false) { self.setsRandomAddress = setsRandomAddress }

    var isAdvertising: Bool {
        switch state {
        case .advertising, .updating: true
        case .idle, .preparing, .enabling, .disabling: false
        }
    }

    /// Whether advertising is on, and nothing changes.
    var isSteady: Bool { if case .advertising = state { true } else { false } }

    /// Whether it waits after a refusal.
    var isWaiting: Bool { isIdle && nextDeadline != nil }

    /// The plan that the controller follows, or has a command to follow.
    var planInForce: Plan? {
        switch state {
        case .enabling(let plan), .advertising(let plan), .updating(let plan, _): plan
        case .idle, .preparing, .disabling: nil
        }
    }

    var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    /// The clients' wish; `nil` when no client advertises.
    mutating func want(_ plan: Plan?) -> Action {
        if plan != wanted {
            (failures, pausesTaken) = (0, 0)
            pausedUntil = nil
        }
        wanted = plan
        return converge()
    }

    /// The controller has answered the last action.
    /// - Parameter hasLinks: whether there is a link, which may be the reason of a refusal.
    mutating func completed(_ status: HCIStatus, hasLinks: Bool = true, at now: Instant) -> Action {
        switch state {
        case .preparing(let plan, let step):
            // There may have been no set to remove.
            guard status.isSuccess || step == .removal else { return refused(status, hasLinks: hasLinks, at: now) }
            return next(after: step, of: plan)
        case .enabling(let plan):
            guard status.isSuccess else { return refused(status, hasLinks: hasLinks, at: now) }
            (failures, pausesTaken) = (0, 0)
            state = hasEnded ? .idle : .advertising(plan)
            hasEnded = false
            return converge()
        case .updating(let plan, .advertisement):
            guard !hasEnded else { return endUpdate() }
            state = .updating(plan, .scanResponse)
            return .setScanResponse(plan.scanResponse)
        case .updating(let plan, _):
            guard !hasEnded else { return endUpdate() }
            state = .advertising(plan)
            return converge()
        case .disabling:
            // Even if the controller refused: it is off now, or was off before.
            state = .idle
            hasEnded = false
            return converge()
        case .idle, .advertising:
            return .none
        }
    }

    /// Advertising ended by itself: by a connection, or because the controller says so.
    mutating func ended() -> Action {
        switch state {
        case .advertising: state = .idle
        case .enabling, .updating: hasEnded = true
        case .idle, .preparing, .disabling: break
        }
        // The owner decides whether advertising continues before anything new starts.
        return .none
    }

    /// Switches advertising off and on again, with everything that belongs to it.
    mutating func restart() -> Action {
        guard isSteady else { return .none }
        state = .disabling
        return .setEnabled(false)
    }

    /// Starts the wanted advertising if nothing is in progress; called when a link has ended.
    mutating func proceed() -> Action {
        pausedUntil = nil
        return converge()
    }

    mutating func controllerReset() {
        usesController = false
        state = .idle
        failures = 0
        pausedUntil = nil
        hasEnded = false
    }

    var nextDeadline: Instant? { wanted == nil ? nil : pausedUntil }

    mutating func advance(to now: Instant) -> Action {
        guard let until = pausedUntil, until <= now else { return .none }
        pausedUntil = nil
        return converge()
    }

    private mutating func endUpdate() -> Action {
        hasEnded = false
        state = .idle
        return converge()
    }

    private mutating func next(after step: Step, of plan: Plan) -> Action {
        // A wish that changed meanwhile can be met at once, because nothing is on yet.
        guard plan == wanted else {
            state = .idle
            return converge()
        }
        switch step {
        case .removal:
            state = .preparing(plan, .parameters)
            return .setParameters(plan.parameters)
        case .parameters where setsRandomAddress && plan.parameters.usesRandomAddress:
            state = .preparing(plan, .randomAddress)
            return .setRandomAddress
        case .parameters, .randomAddress:
            guard plan.parameters.carriesData else { return enable(plan) }
            state = .preparing(plan, .advertisement)
            return .setAdvertisement(plan.advertisement)
        case .advertisement where plan.parameters.isScannable:
            state = .preparing(plan, .scanResponse)
            return .setScanResponse(plan.scanResponse)
        case .advertisement, .scanResponse: return enable(plan)
        }
    }

    private mutating func enable(_ plan: Plan) -> Action {
        state = .enabling(plan)
        return .setEnabled(true)
    }

    private mutating func refused(_ status: HCIStatus, hasLinks: Bool, at now: Instant) -> Action {
        hasEnded = false
        failures += 1
        if !hasLinks, failures >= Self.attempts { pausesTaken += 1 }
        switch status {
        case _ where pausesTaken > Self.maximumPauses: return drop(status)
        case .commandDisallowed where failures < Self.attempts:
            state = .disabling
            return .setEnabled(false)
        case .commandDisallowed, .connectionLimitExceeded, .rejectedLimitedResources, .memoryCapacityExceeded:
            // A link may be in the way; try again when one has ended, or after a pause.
            state = .idle
            pausedUntil = now.advanced(by: Self.refusalPause)
            return .none
        default: return drop(status)
        }
    }

    private mutating func drop(_ status: HCIStatus) -> Action {
        state = .idle
        wanted = nil
        (failures, pausesTaken) = (0, 0)
        return .fail(status)
    }

    private mutating func converge() -> Action {
        guard pausedUntil == nil else { return .none }
        if wanted != nil { usesController = true }
        switch (state, wanted) {
        case (.idle, let plan?) where setsRandomAddress && plan.parameters.target != nil:
            state = .preparing(plan, .removal)
            return .removeSet
        case (.idle, let plan?):
            state = .preparing(plan, .parameters)
            return .setParameters(plan.parameters)
        case (.advertising(let current), let plan?) where current != plan && current.parameters == plan.parameters:
            state = .updating(plan, .advertisement)
            return .setAdvertisement(plan.advertisement)
        case (.advertising(let current), let plan) where current != plan:
            state = .disabling
            return .setEnabled(false)
        case (.idle, nil), (.advertising, _), (.preparing, _), (.enabling, _), (.updating, _), (.disabling, _):
            return .none
        }
    }
}

/// How the controller advertises.
struct AdvertisingParameters: Equatable {
    var isConnectable: Bool
    var isScannable: Bool
    var interval: AdvertisingInterval
    var ownAddressType: OwnAddressType
    /// The device that directed advertising addresses; `nil` for undirected advertising.
    var target: AdvertisingTarget?

    var usesRandomAddress: Bool { ownAddressType == .random || ownAddressType == .resolvableOrRandom }

    /// Directed legacy PDUs have no room for data.
    var carriesData: Bool { target == nil || target?.form == .extended }
}
