import BLEPackets

/// Makes the controller advertise one set.
///
///     absent ──want──▶ preparing ──enabled──▶ running ──connection, duration──▶ resting ──▶ preparing or removing
///       ▲                  │ refused            │  ▲
///       │                  ▼                    │  └── updating: data that fit into one command
///       └──────────── removing ◀──others change─┘
///
/// While the radio pauses, a set only rests: its periodic advertising goes on, so that receivers do not lose it.
///
/// A set is prepared by a script: the commands one after the other, each when the one before was answered. Data in
/// fragments and parameters change only while the set is off (Core 5.4, Vol 4, Part E, 7.8.53 and 7.8.54), so a set
/// whose parameters change is removed and made again.
struct AdvertisingSetMachine {
    /// All settings and data for the controller.
    struct Plan: Equatable {
        var request: AdvertisingSetRequest
        /// `nil`: the public address, or one that the controller generates.
        var randomAddress: DeviceAddress?
        var ownAddressType: OwnAddressType
    }

    enum Action: Equatable {
        case none
        indirect case setParameters(Plan)
        case setRandomAddress(DeviceAddress)
        case setData([UInt8], DataFragmentOperation)
        case setScanResponse([UInt8], DataFragmentOperation)
        case setTrainParameters(PeriodicAdvertising)
        case setTrainData([UInt8], DataFragmentOperation)
        case setTrainEnabled(PeriodicAdvertising)
        case setTrainDisabled
        indirect case setEnabled(AdvertisingSetRequest)
        case setDisabled
        case remove
        /// The controller refuses the set; the wish is dropped.
        case fail(HCIStatus, HCIOpcode)
    }

    private typealias Failure = (status: HCIStatus, opcode: HCIOpcode)

    /// Indirect, as the action: a plan is large, and few are on the stack then.
    private indirect enum State {
        case absent
        case preparing(Plan, step: Int)
        case running(Plan)
        case updating(Plan, [Action], step: Int)
        /// It is being switched off for a pause of the radio.
        case pausing(Plan)
        /// Prepared, but off.
        case resting(Plan)
        /// - Parameter failure: why the controller refuses the set; the owner gets it at the end.
        case removing(step: Int, failure: Failure?)
    }

    /// The pause after a controller had no room for another link, or for advertising beside its other activities.
    static let refusalPause: Microseconds = .seconds(1)
    /// The longest data of one command, in octets (Core 5.4, Vol 4, Part E, 7.8.54 and 7.8.62).
    static let fragmentLength = 251
    private static let attempts = 3
    /// How often a controller may disallow advertising, with pauses: another activity that is in the way may end.
    private static let enablingAttempts = 10
    private static let removal: [Action] = [.setDisabled, .setTrainDisabled, .remove]

    private var state = State.absent
    private var script: [Action] = []
    private(set) var wanted: Plan?
    private var failures = 0
    private var pausedUntil: Instant?
    /// A connection or the controller ended the advertising that is being switched on or changed.
    private var hasEnded = false
    private var hasTrain = false
    /// Whether the radio pauses.
    private var isPaused = false

    var isRunning: Bool {
        switch state {
        case .running, .updating: true
        case .absent, .preparing, .pausing, .resting, .removing: false
        }
    }

    /// Whether the controller does not advertise the set, and is not about to.
    var isOff: Bool {
        switch state {
        case .absent, .resting: true
        case .preparing, .running, .updating, .pausing, .removing: false
        }
    }

    var isIdle: Bool {
        if case .absent = state { true } else { false }
    }

    /// The settings that went to the controller.
    var planInForce: Plan? {
        switch state {
        case .preparing(let plan, _), .running(let plan), .updating(let plan, _, _), .pausing(let plan),
            .resting(let plan):
            plan
        case .absent, .removing: nil
        }
    }

    /// The client's wish; `nil` to remove the set.
    /// - Parameter isPaused: whether the radio pauses.
    mutating func want(_ plan: Plan?, isPaused: Bool = false) -> Action {
        self.isPaused = isPaused
        if plan != wanted {
            failures = 0
            pausedUntil = nil
        }
        wanted = plan
        return converge()
    }

    /// The controller has answered the last action.
    mutating func completed(_ status: HCIStatus, _ opcode: HCIOpcode, at now: Instant) -> Action {
        switch state {
        case .preparing(let plan, let step):
            guard status.isSuccess else { return refused(plan, script[step], status, opcode, at: now) }
            guard step + 1 == script.count else {
                guard plan == wanted else { return beginRemoval() }
                if isPaused, step + 2 == script.count {
                    state = .resting(plan)
                    return .none
                }
                return run(plan, from: step + 1)
            }
            failures = 0
            state = hasEnded ? .resting(plan) : .running(plan)
            hasEnded = false
            return converge()
        case .updating(let plan, let steps, let step):
            guard status.isSuccess || hasEnded else { return beginRemoval() }
            guard step + 1 == steps.count else {
                state = .updating(plan, steps, step: step + 1)
                return steps[step + 1]
            }
            state = hasEnded ? .resting(plan) : .running(plan)
            hasEnded = false
            return converge()
        case .pausing(let plan):
            // Even if the controller refused: a connection or its time may just have ended it.
            state = .resting(plan)
            return converge()
        case .removing(let step, let failure):
            // Even if the controller refused: there may have been nothing to end.
            guard step + 1 == Self.removal.count else { return remove(from: step + 1, failure) }
            state = .absent
            if let failure { return .fail(failure.status, failure.opcode) }
            return converge()
        case .absent, .running, .resting: return .none
        }
    }

    /// Advertising ended by itself: by a connection, or because its time was over.
    mutating func ended() {
        switch state {
        case .running(let plan): state = .resting(plan)
        case .preparing, .updating: hasEnded = true
        case .absent, .pausing, .resting, .removing: break
        }
        // The owner decides whether it continues.
    }

    /// Goes on after the end of a link, or of advertising.
    mutating func proceed() -> Action {
        pausedUntil = nil
        return converge()
    }

    mutating func controllerReset() { self = AdvertisingSetMachine(wanting: wanted) }

    init() {}

    private init(wanting plan: Plan?) { wanted = plan }

    var nextDeadline: Instant? { wanted == nil ? nil : pausedUntil }

    mutating func advance(to now: Instant) -> Action {
        guard let until = pausedUntil, until <= now else { return .none }
        pausedUntil = nil
        return converge()
    }

    // MARK: Scripts

    private static func script(for plan: Plan) -> [Action] {
        let request = plan.request
        var script: [Action] = [.setParameters(plan)]
        if let address = plan.randomAddress { script.append(.setRandomAddress(address)) }
        if request.isScannable && !request.usesLegacyPDUs {
            script += fragments(of: request.scanResponse).map { .setScanResponse($0, $1) }
        } else {
            script += fragments(of: request.data).map { .setData($0, $1) }
            if !request.scanResponse.isEmpty { script.append(.setScanResponse(request.scanResponse, .complete)) }
        }
        if let train = request.train {
            script.append(.setTrainParameters(train))
            // The data of subevents are given when the controller asks for them.
            if train.subevents == nil { script += fragments(of: train.data).map { .setTrainData($0, $1) } }
            script.append(.setTrainEnabled(train))
        }
        script.append(.setEnabled(request))
        return script
    }

    private static func fragments(of data: [UInt8]) -> [([UInt8], DataFragmentOperation)] {
        guard data.count > fragmentLength else { return [(data, .complete)] }
        var fragments: [([UInt8], DataFragmentOperation)] = []
        var start = 0
        while start < data.count {
            let end = min(data.count, start + fragmentLength)
            let operation: DataFragmentOperation =
                start == 0 ? .first : end == data.count ? .last : .intermediate
            fragments.append((Array(data[start..<end]), operation))
            start = end
        }
        return fragments
    }

    /// The commands that change a running set, each complete in itself; `nil` if it must be made again.
    private static func update(from old: Plan, to new: Plan) -> [Action]? {
        var same = old
        same.request.data = new.request.data
        same.request.scanResponse = new.request.scanResponse
        if let train = new.request.train, same.request.train != nil { same.request.train?.data = train.data }
        guard same == new else { return nil }
        var steps: [Action] = []
        if old.request.data != new.request.data { steps.append(.setData(new.request.data, .complete)) }
        if old.request.scanResponse != new.request.scanResponse {
            steps.append(.setScanResponse(new.request.scanResponse, .complete))
        }
        if let train = new.request.train, train != old.request.train {
            steps.append(.setTrainData(train.data, .complete))
        }
        let longest = max(new.request.data.count, new.request.scanResponse.count, new.request.train?.data.count ?? 0)
        return longest <= fragmentLength ? steps : nil
    }

    private mutating func run(_ plan: Plan, from step: Int) -> Action {
        state = .preparing(plan, step: step)
        if case .setTrainEnabled = script[step] { hasTrain = true }
        return script[step]
    }

    private mutating func beginRemoval(_ failure: Failure? = nil) -> Action {
        hasEnded = false
        return remove(from: 0, failure)
    }

    private mutating func remove(from step: Int, _ failure: Failure?) -> Action {
        var step = step
        if Self.removal[step] == .setTrainDisabled {
            if !hasTrain { step += 1 }
            hasTrain = false
        }
        state = .removing(step: step, failure: failure)
        return Self.removal[step]
    }

    private mutating func refused(
        _ plan: Plan, _ action: Action, _ status: HCIStatus, _ opcode: HCIOpcode, at now: Instant
    ) -> Action {
        hasEnded = false
        failures += 1
        switch (action, status) {
        case (.setEnabled, .connectionLimitExceeded), (.setEnabled, .rejectedLimitedResources),
            (.setEnabled, .memoryCapacityExceeded),
            (.setEnabled, .commandDisallowed) where failures < Self.enablingAttempts:
            // A link or another activity may be in the way; try again when one has ended, or after a pause.
            state = .resting(plan)
            pausedUntil = now.advanced(by: Self.refusalPause)
            return .none
        case (_, .commandDisallowed) where failures < Self.attempts: return beginRemoval()
        default:
            wanted = nil
            failures = 0
            return beginRemoval((status, opcode))
        }
    }

    private mutating func converge() -> Action {
        guard pausedUntil == nil else { return .none }
        switch (state, wanted) {
        case (.running, nil), (.resting, nil): return beginRemoval()
        case (.running(let plan), _) where isPaused:
            state = .pausing(plan)
            return .setDisabled
        case (.absent, let plan?) where !isPaused:
            script = Self.script(for: plan)
            return run(plan, from: 0)
        case (.resting(let current), let plan?) where !isPaused: return resume(current, as: plan)
        case (.running(let current), let plan?) where current != plan:
            guard let steps = Self.update(from: current, to: plan), let first = steps.first else {
                return beginRemoval()
            }
            script = Self.script(for: plan)
            state = .updating(plan, steps, step: 0)
            return first
        case (.absent, _), (.running, _), (.preparing, _), (.updating, _), (.pausing, _), (.resting, _), (.removing, _):
            return .none
        }
    }

    /// Switches a set on that is prepared; a new address needs no other preparation.
    private mutating func resume(_ current: Plan, as plan: Plan) -> Action {
        guard current != plan else { return run(plan, from: script.count - 1) }
        var same = current
        same.randomAddress = plan.randomAddress
        guard same == plan, let address = plan.randomAddress, current.randomAddress != nil else {
            return beginRemoval()
        }
        script = [.setRandomAddress(address), .setEnabled(plan.request)]
        return run(plan, from: 0)
    }
}
