import BLEPackets

/// The controller's one initiator; makes it follow the connector's plan (pain 2).
///
///     idle ──want──▶ preparing ──list written──▶ starting ──status──▶ waiting ──Connection Complete──▶ idle
///                                                                       │ want changes          ▲
///                                                                   cancelling ──done──▶ ending ┘
///
/// A cancelled attempt still ends with Connection Complete (status 0x02), and no other may start before that (pain 3).
/// The attempt may also succeed while it is being cancelled: then there is a link, and the controller refuses the
/// cancellation.
///
/// Wishes may change faster than the controller should follow (`ChangeLimit`). Then an attempt goes on as it is for a
/// moment, unless nothing is wanted any more, and one in place of an attempt that was given up waits. What counts is
/// that an attempt begins: so each of them has the radio until the next change is free, with all devices that were
/// wanted when it began, and only the time between two attempts is lost.
struct Initiator {
    /// How a link begins.
    struct Offer: Equatable {
        var parameters: ConnectionParameterRequest
        /// On which PHYs, as far as the controller can.
        var phys: PHYSet
    }

    enum Plan: Equatable {
        case directed(DeviceAddress, Offer)
        case acceptList([DeviceAddress], Offer)
    }

    enum Action: Equatable {
        case none
        case clearAcceptList
        case addToAcceptList(DeviceAddress)
        case create(Plan)
        case cancel
        /// The controller refused the plan.
        case fail(Plan, HCIStatus)
        /// The controller did not accept the plan's filter accept list.
        case forgoAcceptList(Plan, HCIStatus)
    }

    private enum State {
        case idle
        case preparing(Plan, remaining: [DeviceAddress])
        case starting(Plan, isComplete: Bool)
        case waiting(Plan)
        /// `isForgotten`: the attempt is unknown to us, but the controller's refusal shows that there is one.
        case cancelling(Plan, isComplete: Bool, isForgotten: Bool)
        case ending(Plan, deadline: Instant)
    }

    /// The time limit for Connection Complete after a cancellation: some controllers never send it.
    static let completionTimeout: Microseconds = .seconds(2)

    private var state = State.idle
    private(set) var wanted: Plan?
    /// How often the controller answered Command Disallowed: each time, an unknown attempt is cancelled before the next
    /// try.
    private var failures = 0
    private static let attempts = 3
    /// Whether a conflicting attempt can only be ours; we do not cancel another owner's.
    private let isExclusive: Bool
    /// The attempts that began in place of others that were given up.
    private var limit = ChangeLimit()
    /// Whether the last attempt was given up because of the wishes: the next one is a change. One that led to a link is
    /// followed by the next one at once.
    private var hasGivenUp = false
    /// Whether clients wait for devices of the attempt although none is wanted at the moment.
    private var isAwaited = false
    /// Until when a change of the wish waits.
    private var postponedUntil: Instant?

    init(isExclusive: Bool = true) { self.isExclusive = isExclusive }

    /// The plan that the controller follows, or followed until its Connection Complete comes.
    var planInForce: Plan? {
        switch state {
        case .idle, .preparing: nil
        case .starting(let plan, _), .waiting(let plan), .cancelling(let plan, _, _), .ending(let plan, _): plan
        }
    }

    /// The plan that the controller follows or is about to follow.
    var attempt: Plan? {
        if case .preparing(let plan, _) = state { plan } else { planInForce }
    }

    var isIdle: Bool {
        if case .idle = state { true } else { false }
    }

    /// Whether the controller looks for a peer now or is about to.
    var isBusy: Bool { !isIdle }

    /// Changes the wish.
    /// - Parameter isAwaited: whether clients wait for devices of the attempt although no plan is wanted: then it need
    ///   not end at once.
    mutating func want(_ plan: Plan?, isAwaited: Bool = false, at now: Instant) -> Action {
        wanted = plan
        self.isAwaited = isAwaited
        return converge(at: now)
    }

    /// The controller has answered the last action.
    mutating func completed(_ status: HCIStatus, at now: Instant) -> Action {
        switch state {
        case .preparing(let plan, var remaining):
            guard status.isSuccess else { return refused(plan, status, isList: true) }
            guard let next = remaining.popLast() else {
                // The wish may have changed while the list was written; then there is nothing to cancel yet.
                guard plan == wanted || mayLinger && limit.opens(after: now) != nil else {
                    hasGivenUp = true
                    state = .idle
                    return converge(at: now)
                }
                state = .starting(plan, isComplete: false)
                return .create(plan)
            }
            state = .preparing(plan, remaining: remaining)
            return .addToAcceptList(next)
        case .starting(let plan, let isComplete):
            guard status.isSuccess else { return refused(plan, status, isList: false) }
            state = isComplete ? .idle : .waiting(plan)
            return converge(at: now)
        case .cancelling(let plan, let isComplete, let isForgotten):
            // If the controller refused, our attempt was already over and its Connection Complete came or will come; a
            // forgotten attempt did not exist.
            let isOver = isComplete || (isForgotten && !status.isSuccess)
            state = isOver ? .idle : .ending(plan, deadline: now.advanced(by: Self.completionTimeout))
            return converge(at: now)
        case .idle, .waiting, .ending:
            return .none
        }
    }

    /// Connection Complete came.
    mutating func connectionComplete(_ status: HCIStatus) -> Action {
        // 0x02 ends a cancelled attempt; one that was not cancelled continues.
        let endsCancelled = status == .unknownConnectionIdentifier
        switch state {
        case .starting(let plan, _): if !endsCancelled { state = .starting(plan, isComplete: true) }
        case .waiting:
            guard !endsCancelled else { break }
            failures = 0
            state = .idle
        case .ending: state = .idle
        case .cancelling(let plan, _, let isForgotten):
            state = .cancelling(plan, isComplete: true, isForgotten: isForgotten)
        case .idle, .preparing: break
        }
        // The owner decides what it wants next before anything new starts.
        return .none
    }

    /// Other commands are used from now on.
    mutating func beginAgain() {
        state = .idle
        failures = 0
    }

    /// The controller was reset and no longer initiates.
    mutating func controllerReset() {
        state = .idle
        postponedUntil = nil
        failures = 0
        hasGivenUp = false
    }

    var nextDeadline: Instant? {
        if case .ending(_, let deadline) = state { deadline } else { postponedUntil }
    }

    mutating func advance(to now: Instant) -> Action {
        guard let deadline = nextDeadline, deadline <= now else { return .none }
        if case .ending = state { state = .idle }
        return converge(at: now)
    }

    /// While an attempt runs, the controller refuses another attempt and changes of the accept list (Core 5.4, Vol 4,
    /// Part E, 7.8.15).
    private mutating func refused(_ plan: Plan, _ status: HCIStatus, isList: Bool) -> Action {
        guard isExclusive, status == .commandDisallowed, failures + 1 < Self.attempts else {
            state = .idle
            failures = 0
            wanted = nil
            return isList ? .forgoAcceptList(plan, status) : .fail(plan, status)
        }
        failures += 1
        state = .cancelling(plan, isComplete: false, isForgotten: true)
        return .cancel
    }

    private mutating func converge(at now: Instant) -> Action {
        postponedUntil = nil
        switch (state, wanted) {
        case (.idle, let plan?):
            if hasGivenUp {
                if mustWait(at: now) { return .none }
                limit.spend(at: now)
                hasGivenUp = false
            }
            guard case .acceptList(let peers, _) = plan else {
                state = .starting(plan, isComplete: false)
                return .create(plan)
            }
            state = .preparing(plan, remaining: peers.reversed())
            return .clearAcceptList
        case (.waiting(let current), let wish) where current != wish:
            if mayLinger, mustWait(at: now) { return .none }
            hasGivenUp = true
            state = .cancelling(current, isComplete: false, isForgotten: false)
            return .cancel
        case (.idle, nil), (.waiting, _), (.preparing, _), (.starting, _), (.cancelling, _), (.ending, _):
            return .none
        }
    }

    /// Whether an attempt that is not wanted as it is may go on for a moment.
    private var mayLinger: Bool { wanted != nil || isAwaited }

    private mutating func mustWait(at now: Instant) -> Bool {
        postponedUntil = limit.opens(after: now)
        return postponedUntil != nil
    }
}

extension Initiator.Plan {
    /// Whether the plan looks for this peer, whatever kind of address the controller reports for it.
    func includes(_ peer: DeviceAddress) -> Bool {
        let peer = peer.withoutIdentityMark
        switch self {
        case .directed(let wanted, _): return wanted.withoutIdentityMark == peer
        case .acceptList(let wanted, _): return wanted.contains { $0.withoutIdentityMark == peer }
        }
    }
}
