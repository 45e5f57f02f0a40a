import BLEPackets

/// The controller's one initiator, kept equal to what the connector wants (pain 2).
///
///     idle ──want──▶ preparing ──list written──▶ starting ──status──▶ waiting ──Connection Complete──▶ idle
///                                                                       │ want changes          ▲
///                                                                   cancelling ──done──▶ ending ┘
///
/// A cancelled attempt still ends with Connection Complete (status 0x02), and until it came no other may start (pain 3).
/// The attempt may also succeed while it is being cancelled: then there is a link, and the cancellation is refused.
struct Initiator {
    enum Plan: Equatable {
        case directed(DeviceAddress, ConnectionParameterRequest)
        case acceptList([DeviceAddress], ConnectionParameterRequest)
    }

    enum Action: Equatable {
        case none
        case clearAcceptList
        case addToAcceptList(DeviceAddress)
        case create(Plan)
        case cancel
        /// The controller refused the plan.
        case fail(Plan, HCIStatus)
    }

    private enum State {
        case idle
        case preparing(Plan, remaining: [DeviceAddress])
        case starting(Plan, isComplete: Bool)
        case waiting(Plan)
        case cancelling(isComplete: Bool)
        case ending(deadline: Instant)
    }

    /// How long Connection Complete may stay away after a cancellation: some controllers never send it.
    static let completionTimeout: Microseconds = .seconds(2)

    private var state = State.idle
    private(set) var wanted: Plan?
    /// Command Disallowed was answered: a forgotten attempt is cancelled before the next try.
    private var failures = 0
    private static let attempts = 3

    var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    /// Whether the controller looks for a peer now or is about to.
    var isBusy: Bool { !isIdle }

    mutating func want(_ plan: Plan?) -> Action {
        wanted = plan
        return converge()
    }

    /// The controller has answered the last action.
    mutating func completed(_ status: HCIStatus, at now: Instant) -> Action {
        switch state {
        case .preparing(let plan, var remaining):
            guard status.isSuccess else {
                state = .idle
                return fail(plan, status)
            }
            guard let next = remaining.popLast() else {
                // The wish may have changed while the list was written; then there is nothing to cancel yet.
                guard plan == wanted else {
                    state = .idle
                    return converge()
                }
                state = .starting(plan, isComplete: false)
                return .create(plan)
            }
            state = .preparing(plan, remaining: remaining)
            return .addToAcceptList(next)
        case .starting(let plan, let isComplete):
            guard status.isSuccess else {
                state = .idle
                guard status == .commandDisallowed, failures + 1 < Self.attempts else { return fail(plan, status) }
                failures += 1
                state = .cancelling(isComplete: true)
                return .cancel
            }
            failures = 0
            state = isComplete ? .idle : .waiting(plan)
            return converge()
        case .cancelling(let isComplete):
            // Refused: the attempt was over already, and its Connection Complete came or is on its way. Stale events
            // are told apart by the peer that they name.
            state = isComplete ? .idle : .ending(deadline: now.advanced(by: Self.completionTimeout))
            return converge()
        case .idle, .waiting, .ending:
            return .none
        }
    }

    /// Connection Complete came, with whatever status.
    mutating func connectionComplete() -> Action {
        switch state {
        case .starting(let plan, _): state = .starting(plan, isComplete: true)
        case .waiting, .ending: state = .idle
        case .cancelling: state = .cancelling(isComplete: true)
        case .idle, .preparing: break
        }
        // The owner decides what it wants next before anything new starts.
        return .none
    }

    /// Starts what is wanted when nothing is under way.
    mutating func proceed() -> Action { converge() }

    /// The controller was reset and initiates no more.
    mutating func controllerReset() {
        state = .idle
        failures = 0
    }

    var nextDeadline: Instant? {
        if case .ending(let deadline) = state { deadline } else { nil }
    }

    mutating func advance(to now: Instant) -> Action {
        guard case .ending(let deadline) = state, deadline <= now else { return .none }
        state = .idle
        return converge()
    }

    private mutating func fail(_ plan: Plan, _ status: HCIStatus) -> Action {
        failures = 0
        wanted = nil
        return .fail(plan, status)
    }

    private mutating func converge() -> Action {
        switch (state, wanted) {
        case (.idle, .directed(let peer, let parameters)?):
            let plan = Plan.directed(peer, parameters)
            state = .starting(plan, isComplete: false)
            return .create(plan)
        case (.idle, .acceptList(let peers, let parameters)?):
            state = .preparing(.acceptList(peers, parameters), remaining: peers.reversed())
            return .clearAcceptList
        case (.waiting(let current), let wish) where current != wish:
            state = .cancelling(isComplete: false)
            return .cancel
        case (.idle, nil), (.waiting, _), (.preparing, _), (.starting, _), (.cancelling, _), (.ending, _):
            return .none
        }
    }
}
