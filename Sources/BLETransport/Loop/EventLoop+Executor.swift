import BLELinux
import Glibc

extension EventLoop: SerialExecutor {
    /// Runs an actor's job on the loop, after everything that is queued. Callable from any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        enqueue(.job(UnownedJob(job)))
    }

    /// The executor of an actor on this loop. The actor must keep the loop alive.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// Ends the program unless it is called on the loop's thread; `assumeIsolated` of an actor on this loop calls it.
    public func checkIsolated() {
        precondition(isOnLoop, "not on the event loop's thread")
    }

    /// Whether this is the loop's thread; never `nil`.
    public func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    /// Runs `work` on the loop, after everything that is queued. Callable from any thread.
    public func run(_ work: @escaping @Sendable () -> Void) {
        enqueue(.closure(work))
    }

    /// Runs `work` when the current handler or job has returned: a way to call back without re-entering the caller.
    /// - Precondition: called on the loop's thread.
    public func runLater(_ work: @escaping () -> Void) {
        checkOnLoop()
        confined.deferred.append(work)
    }

    private enum Need { case nothing, wakeUp, drainThread }

    private func enqueue(_ work: Work) {
        let need: Need = shared.withLock {
            $0.queue.append(work)
            switch $0.phase {
            case .created, .draining: return .nothing
            // The caller that made the queue non-empty wakes the thread, unless it is the thread, which looks before it
            // sleeps.
            case .running, .stopping: return $0.queue.count == 1 && !isOnLoop ? .wakeUp : .nothing
            case .stopped:
                $0.phase = .draining
                return .drainThread
            }
        }
        switch need {
        case .nothing: break
        case .wakeUp: signal(wakeUp)
        case .drainThread:
            // Without a new thread, the caller's thread runs the work.
            if startThread({ $0.drain() }) != 0 { drain() }
        }
    }
}

// MARK: - The thread

extension EventLoop {
    private static let eventsPerWait = 64

    /// The body of the loop's thread.
    func run() {
        owner.store(UInt(pthread_self()), ordering: .relaxed)
        let events = UnsafeMutablePointer<UInt64>.allocate(capacity: 2 * EventLoop.eventsPerWait)
        defer { unsafe events.deallocate() }
        while true {
            runQueuedWork()
            let (isIdle, isStopping) = shared.withLock { ($0.queue.isEmpty, $0.phase == .stopping) }
            let maySleep = isIdle && confined.deferred.isEmpty
            if maySleep, isStopping { break }
            armTimer()
            let count = unsafe clinux_epoll_wait(epoll, events, Int32(EventLoop.eventsPerWait), maySleep ? -1 : 0)
            guard count > 0 else { continue }
            if maySleep { wakeUps.add(1, ordering: .relaxed) }
            for index in 0..<Int(count) {
                unsafe dispatch(events[2 * index], ready: UInt32(truncatingIfNeeded: events[2 * index + 1]))
            }
        }
        for registration in confined.registrations { registration?.cancel() }
        confined.deadlines = []
        finish()
    }

    /// The body of the short-lived thread that runs work queued after the end.
    private func drain() {
        owner.store(UInt(pthread_self()), ordering: .relaxed)
        runQueuedWork()
        finish()
    }

    /// Releases the loop; work that was queued meanwhile runs first.
    private func finish() {
        while !end(if: { $0.queue.isEmpty && confined.deferred.isEmpty }) { runQueuedWork() }
    }

    /// Runs the work that is queued now. Work that it adds waits for the next round, so that descriptors are served in
    /// between.
    private func runQueuedWork() {
        var batch = confined.batch
        confined.batch = []
        shared.withLock { swap(&$0.queue, &batch) }
        for work in batch {
            switch work {
            case .job(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
            case .closure(let body): body()
            }
            runDeferredWork()
        }
        batch.removeAll(keepingCapacity: true)
        confined.batch = batch
        runDeferredWork()
    }

    /// Runs the work that was deferred so far. Work that it defers waits for the next round.
    private func runDeferredWork() {
        guard !confined.deferred.isEmpty else { return }
        let work = confined.deferred
        confined.deferred = []
        for body in work { body() }
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

    private func reset(_ descriptor: Int32) {
        var count: UInt64 = 0
        while unsafe read(descriptor, &count, 8) < 0, errno == EINTR {}
    }
}
