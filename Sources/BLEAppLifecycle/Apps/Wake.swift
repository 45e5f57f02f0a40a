import BLEHost

/// The time for which an app runs because it was woken for an event (SPEC BGX-4, 5.5 rule 3).
///
///     event ──▶ at work ◀──event, new budget──▶ idle ──done, or the budget is over──▶ suspended
///                  │ the budget is over: warned ──idle, or the grace period is over──▶ suspended
///
/// An app that has handled its events may still be busy in ways that are not visible here, so an idle app keeps the
/// rest of its budget, unless it says that it is done or its owner allows less.
struct Wake: Equatable {
    /// What an app has not finished.
    enum Work: Equatable {
        case none
        /// It has begun tasks and not ended them.
        case tasks
        /// It has not handled all its events, or not answered all requests of peers.
        case calls
    }

    let began: Instant
    /// Whether the app's process has just begun: then it first creates its managers.
    let isLaunch: Bool
    /// When the present budget began.
    private(set) var since: Instant
    /// The owner of an app may not know what it handles: then it is at work until it is suspended.
    private(set) var work = Work.calls
    private var idleSince: Instant?
    /// Whether it has been warned that its budget is over.
    private(set) var isExpiring = false
    /// Whether the app has said that it is done.
    private var isFinished = false
    /// Whether it has begun tasks.
    private var hadTasks = false

    init(at now: Instant, isLaunch: Bool) {
        began = now
        since = now
        self.isLaunch = isLaunch
    }

    /// When the app is suspended if it is idle: twice the budget is the most, so that a peer that sends all the time
    /// does not keep an app running all the time.
    private func end(_ budget: Microseconds) -> Instant {
        min(since.advanced(by: budget), began.advanced(by: budget).advanced(by: budget))
    }

    // MARK: Inputs

    /// The app gets an event. If it was idle, the event has the budget of a separate wake.
    mutating func took(at now: Instant) {
        if work == .none, !isExpiring {
            since = now
            isFinished = false
            hadTasks = false
        }
        work = .calls
        idleSince = nil
    }

    /// What the app has not finished now.
    mutating func setWork(_ work: Work, at now: Instant) {
        self.work = work
        if work == .tasks { hadTasks = true }
        if work != .none { idleSince = nil } else if idleSince == nil { idleSince = now }
    }

    /// The app has begun or ended a task: when it is idle, it is done.
    mutating func markTasks() { hadTasks = true }

    /// The app has said that it is done.
    mutating func finish() { isFinished = true }

    /// The app has been warned that its budget is over.
    mutating func expire() { isExpiring = true }

    // MARK: Time

    /// When something is to be done, unless there is another input first.
    func deadline(budget: Microseconds, _ settings: LifecycleSettings) -> Instant {
        let end = end(budget)
        if isExpiring { return since.advanced(by: budget).advanced(by: settings.freezeGrace) }
        guard work == .none else { return since.advanced(by: budget) }
        return min(end, idleEnd(settings) ?? end)
    }

    /// Whether the budget is over.
    func isBudgetOver(_ budget: Microseconds, at now: Instant) -> Bool {
        !isExpiring && (work == .none ? end(budget) : since.advanced(by: budget)) <= now
    }

    /// Whether the grace period after the warning is over.
    func isGraceOver(_ budget: Microseconds, _ settings: LifecycleSettings, at now: Instant) -> Bool {
        isExpiring && since.advanced(by: budget).advanced(by: settings.freezeGrace) <= now
    }

    /// Whether the app can be suspended before its budget is over.
    func isDone(_ settings: LifecycleSettings, at now: Instant) -> Bool {
        guard work == .none else { return false }
        return isFinished || isExpiring || idleEnd(settings).map { $0 <= now } == true
    }

    private func idleEnd(_ settings: LifecycleSettings) -> Instant? {
        guard let idleSince, let span = hadTasks ? .zero : settings.idleSpan else { return nil }
        let end = idleSince.advanced(by: span)
        return isLaunch ? max(end, began.advanced(by: settings.launchSpan)) : end
    }

    /// How long the app may still run.
    func remaining(budget: Microseconds, at now: Instant) -> Microseconds {
        max(.zero, now.distance(to: since.advanced(by: budget)))
    }
}
