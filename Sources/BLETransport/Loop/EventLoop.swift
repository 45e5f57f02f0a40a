import BLELinux
import Glibc
import Synchronization

/// One thread that waits for descriptors, deadlines and jobs and handles them one after the other.
///
/// It is a `SerialExecutor`: an actor that returns it as its `unownedExecutor` runs on this thread, so a packet reaches
/// the actor's state without a thread switch. Nothing polls: while no descriptor is ready, no deadline is due and no
/// job is queued, the thread sleeps in the kernel.
///
///     created ──start──▶ running ──stop──▶ stopping ──queue empty──▶ stopped ⇄ draining
///
/// A job that arrives after the end still runs, on a short-lived thread and never in parallel with another
/// (`draining`): an actor must not hang because its adapter is gone.
///
/// Time is `CLOCK_BOOTTIME`, which continues during suspension: peers and controllers do not wait for a suspended host,
/// so transaction and link timers must be due when it resumes, and cached observations must have aged.
public final class EventLoop: @unchecked Sendable {
    // @unchecked Sendable is safe because `shared` is under its mutex, the counters are atomic, descriptors never
    // change, and `confined` is accessed only on the thread that `owner` names, or by the owner of the loop before
    // `start`.

    enum Phase { case created, running, stopping, stopped, draining }

    enum Work: Sendable {
        case job(UnownedJob)
        /// A job of no actor, of a task that prefers the loop.
        case taskJob(UnownedJob, LoopTaskExecutor)
        case closure(@Sendable () -> Void)
    }

    struct Shared: Sendable {
        var phase = Phase.created
        var queue: [Work] = []
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
    }

    /// State that only the loop's thread accesses.
    struct Confined {
        var registrations: [Registration?] = []
        var lastGeneration: UInt32 = 0
        var deadlines: [Deadline] = []
        var deadlinesChanged = false
        var armedDeadline: UInt64 = 0
        var deferred: [() -> Void] = []
        var trailing: [() -> Void] = []
        var closing: [() -> Void] = []
        /// An empty array with the room of `closing`.
        var spare: [() -> Void] = []
        var batch: [Work] = []
        /// What the latest tasks outside of actors prefer, for so many jobs of actors.
        var taskExecutor: LoopTaskExecutor?
        var jobsBeforeOrdinary = 0
    }

    let name: String
    let epoll: Int32
    let wakeUp: Int32
    let timer: Int32
    let ended: Int32
    let shared = Mutex(Shared())
    let owner = Atomic<UInt>(0)
    let wakeUps = Atomic<UInt64>(0)
    var confined = Confined()
    /// How far the loop's clock is ahead of the machine's, in microseconds; only tests run it ahead.
    let lead = Atomic<UInt64>(0)
    /// Where the loop's clock stands; 0 while it runs.
    let standstill = Atomic<UInt64>(0)

    static let wakeUpToken = UInt64.max
    static let timerToken = UInt64.max - 1

    /// - Parameter name: the name of the thread, at most 15 bytes.
    /// - Throws: `TransportError.system` when the process is out of descriptors or memory.
    public init(name: String = "jelling") throws(TransportError) {
        self.name = name
        epoll = clinux_epoll_create()
        wakeUp = clinux_eventfd_create()
        timer = clinux_timerfd_create_boottime()
        ended = clinux_eventfd_create()
        guard epoll >= 0, wakeUp >= 0, timer >= 0, ended >= 0,
            clinux_epoll_add(epoll, wakeUp, EpollReadiness.readable, EventLoop.wakeUpToken) == 0,
            clinux_epoll_add(epoll, timer, EpollReadiness.readable, EventLoop.timerToken) == 0
        else { throw .system(call: "epoll", code: errno) }
    }

    deinit {
        for descriptor in [epoll, wakeUp, timer, ended] where descriptor >= 0 { Glibc.close(descriptor) }
    }
}

// MARK: - The thread

extension EventLoop {
    private static let eventsPerWait = 64
    private static let roundsPerWait = 8
    private static let jobsOfTask = 8

    /// The body of the loop's thread.
    func run() {
        owner.store(UInt(pthread_self()), ordering: .relaxed)
        let events = UnsafeMutablePointer<UInt64>.allocate(capacity: 2 * EventLoop.eventsPerWait)
        defer { unsafe events.deallocate() }
        while true {
            runQueuedWork()
            runClosingWork()
            let (isIdle, isStopping) = shared.withLock { ($0.queue.isEmpty, $0.phase == .stopping) }
            let maySleep = isIdle && confined.deferred.isEmpty && confined.trailing.isEmpty
            if maySleep, isStopping { break }
            armTimer()
            let count = unsafe clinux_epoll_wait(epoll, events, Int32(EventLoop.eventsPerWait), maySleep ? -1 : 0)
            if maySleep, count > 0 { wakeUps.add(1, ordering: .relaxed) }
            for index in 0..<max(0, Int(count)) {
                unsafe dispatch(events[2 * index], ready: UInt32(truncatingIfNeeded: events[2 * index + 1]))
            }
            // What others wait for goes out before work that may take a while.
            runClosingWork()
            runTrailingWork()
        }
        for registration in confined.registrations { registration?.cancel() }
        confined.deadlines = []
        finish()
    }

    /// The body of the short-lived thread that runs work queued after the end.
    func drain() {
        owner.store(UInt(pthread_self()), ordering: .relaxed)
        runQueuedWork()
        finish()
    }

    /// Releases the loop; work that was queued meanwhile runs first.
    private func finish() {
        while true {
            // It has a reference to the loop. When the loop has ended, another thread may drain it.
            confined.taskExecutor = nil
            if end(if: { $0.queue.isEmpty && confined.deferred.isEmpty && confined.closing.isEmpty }) { break }
            runQueuedWork()
            runClosingWork()
        }
    }

    /// Runs the work that is queued now, and what it adds: a task that prefers the loop comes and goes several times
    /// between two waits. After a few rounds descriptors are served.
    private func runQueuedWork() {
        var batch = confined.batch
        confined.batch = []
        for _ in 0..<EventLoop.roundsPerWait {
            // It may queue more.
            runDeferredWork()
            shared.withLock { swap(&$0.queue, &batch) }
            guard !batch.isEmpty else { break }
            run(batch)
            batch.removeAll(keepingCapacity: true)
        }
        confined.batch = batch
    }

    private func run(_ batch: [Work]) {
        for work in batch {
            switch work {
            case .job(let job): run(job)
            case .taskJob(let job, let executor):
                confined.jobsBeforeOrdinary = EventLoop.jobsOfTask
                confined.taskExecutor = executor
                unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
            case .closure(let body): body()
            }
            runDeferredWork()
        }
    }

    /// Runs a job of an actor. Where it runs with another task executor than its task prefers, each function of the actor
    /// that returns is queued once more. A job does not name its task's executor, so that of the tasks before it counts.
    private func run(_ job: UnownedJob) {
        guard let executor = confined.taskExecutor else {
            return unsafe job.runSynchronously(on: asUnownedSerialExecutor())
        }
        confined.jobsBeforeOrdinary -= 1
        if confined.jobsBeforeOrdinary == 0 { confined.taskExecutor = nil }
        unsafe job.runSynchronously(
            isolatedTo: asUnownedSerialExecutor(), taskExecutor: executor.asUnownedTaskExecutor())
    }

    /// Runs the work that was deferred so far. Work that it defers waits for the next round.
    private func runDeferredWork() {
        guard !confined.deferred.isEmpty else { return }
        let work = confined.deferred
        confined.deferred = []
        for body in work { body() }
    }

    /// Runs the work that waited for the descriptors. Work that it adds waits for those of the next round.
    private func runTrailingWork() {
        guard !confined.trailing.isEmpty else { return }
        let work = confined.trailing
        confined.trailing = []
        for body in work { body() }
        runDeferredWork()
    }

    /// Runs the work that waited for everything else. What it queues keeps the loop from sleeping.
    private func runClosingWork() {
        while !confined.closing.isEmpty {
            var work: [() -> Void] = []
            swap(&work, &confined.spare)
            swap(&work, &confined.closing)
            for body in work { body() }
            work.removeAll(keepingCapacity: true)
            confined.spare = work
        }
    }

    private func dispatch(_ token: UInt64, ready: UInt32) {
        switch token {
        case EventLoop.wakeUpToken:
            reset(wakeUp)
        case EventLoop.timerToken:
            reset(timer)
            confined.armedDeadline = 0
            confined.deadlinesChanged = true
            fireDeadlines()
        default:
            let index = Int(UInt32(truncatingIfNeeded: token))
            // The generation keeps an event of this round away from a registration that a handler has just replaced.
            guard index < confined.registrations.count, let registration = confined.registrations[index],
                registration.token == token
            else { return }
            registration.handler(Readiness(events: ready))
        }
        runDeferredWork()
    }

    func fireDeadlines() {
        let now = nowMicroseconds
        // A deadline that a handler sets again waits for the next round, so that one in the past cannot block the loop.
        let due = confined.deadlines.filter { $0.isDue(at: now) }
        for deadline in due.sorted(by: { ($0.microseconds ?? 0) < ($1.microseconds ?? 0) }) {
            if deadline.clearIfDue(at: now) { deadline.handler() }
        }
    }

    private func reset(_ descriptor: Int32) {
        var count: UInt64 = 0
        while unsafe read(descriptor, &count, 8) < 0, errno == EINTR {}
    }
}

// MARK: - Life

extension EventLoop {
    /// Starts the thread. It keeps the loop alive until `stop()`.
    /// - Precondition: called once, before `stop()`.
    /// - Throws: `TransportError.system` when no thread can be created.
    public func start() throws(TransportError) {
        shared.withLock {
            // A programming error: no input from outside starts a loop.
            precondition($0.phase == .created, "an event loop can start only once")
            $0.phase = .running
        }
        let code = startThread { $0.run() }
        guard code == 0 else {
            end(if: { _ in true })
            throw .system(call: "pthread_create", code: code)
        }
    }

    /// Asks the thread to end after the queued work. Registrations end without a call of their handlers: close
    /// transports first.
    public func stop() {
        guard !end(if: { $0.phase == .created }) else { return }
        shared.withLock { if $0.phase == .running { $0.phase = .stopping } }
        signal(wakeUp)
    }

    /// Blocks until the thread has ended after `stop()`.
    /// - Precondition: not called on the loop's own thread.
    public func join() {
        precondition(!isOnLoop, "the loop's thread cannot wait for itself")
        var latch = pollfd(fd: ended, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&latch, 1, -1) < 0, errno == EINTR {}
    }

    /// Waits until the thread has ended after `stop()`, without blocking a thread.
    public func waitUntilStopped() async {
        await withCheckedContinuation { continuation in
            let isOver = shared.withLock { state in
                if state.phase == .stopped || state.phase == .draining { return true }
                state.stopWaiters.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    /// Whether the caller runs on the loop's thread.
    public var isOnLoop: Bool { owner.load(ordering: .relaxed) == UInt(pthread_self()) }

    /// How often the thread has woken up; constant while idle.
    public var wakeUpCount: UInt64 { wakeUps.load(ordering: .relaxed) }

    /// Microseconds on the loop's clock: since the machine started, suspension included.
    public static var nowMicroseconds: UInt64 { clinux_boottime_microseconds() }

    /// Microseconds on the loop's clock: since the machine started, suspension included.
    public var nowMicroseconds: UInt64 {
        let standstill = standstill.load(ordering: .relaxed)
        return standstill != 0 ? standstill : clinux_boottime_microseconds() &+ lead.load(ordering: .relaxed)
    }

    /// Microseconds since 1970-01-01 00:00 UTC, for captures; this clock can be set and can jump.
    public static var unixMicroseconds: UInt64 { clinux_unix_microseconds() }

    /// Handlers, deadlines and deferred work belong to the loop's thread; before `start` only one holder uses the loop.
    func checkOnLoop() {
        precondition(isOnLoop || shared.withLock { $0.phase == .created }, "only the loop's own thread may do this")
    }

    /// Returns an errno value, zero when the thread runs.
    func startThread(_ body: @escaping @Sendable (EventLoop) -> Void) -> Int32 {
        let context = unsafe Unmanaged.passRetained(ThreadStart(loop: self, body: body))
        let code = unsafe clinux_thread_start(
            name,
            { context in
                guard let context = unsafe context else { return }
                let start = unsafe Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
                start.body(start.loop)
            },
            unsafe context.toOpaque())
        if code != 0 { unsafe context.release() }
        return code
    }

    func signal(_ descriptor: Int32) {
        var one: UInt64 = 1
        while unsafe write(descriptor, &one, 8) < 0, errno == EINTR {}
    }

    /// Marks the loop as stopped when `condition` is true, and wakes everyone who waits for the end.
    @discardableResult
    func end(if condition: (borrowing Shared) -> Bool) -> Bool {
        var waiters: [CheckedContinuation<Void, Never>] = []
        let isOver = shared.withLock { state in
            guard condition(state) else { return false }
            owner.store(0, ordering: .relaxed)
            state.phase = .stopped
            swap(&state.stopWaiters, &waiters)
            return true
        }
        guard isOver else { return false }
        signal(ended)
        for waiter in waiters { waiter.resume() }
        return true
    }

    private final class ThreadStart: Sendable {
        let loop: EventLoop
        let body: @Sendable (EventLoop) -> Void

        init(loop: EventLoop, body: @escaping @Sendable (EventLoop) -> Void) {
            self.loop = loop
            self.body = body
        }
    }
}
