import CLinux
import Glibc

extension EventLoop: SerialExecutor {
    /// Runs a job of an actor on the loop, after what is queued already. May be called from any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        enqueue(.job(UnownedJob(job)))
    }

    /// For an actor that lives on this loop. It does not keep the loop: the actor has to.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// Ends the program unless it is called on the loop's thread; what `assumeIsolated` comes to on an actor of this
    /// loop.
    public func checkIsolated() {
        precondition(isOnLoop, "not on the event loop's thread")
    }

    /// Whether this is the loop's thread; never `nil`.
    public func isIsolatingCurrentContext() -> Bool? { isOnLoop }

    /// Runs `work` on the loop, after what is queued already. May be called from any thread.
    public func run(_ work: @escaping @Sendable () -> Void) {
        enqueue(.closure(work))
    }

    /// Runs `work` when the present handler or job has returned: the way to call back without re-entering the caller.
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
            // Whoever made the queue non-empty has woken the thread, or is the thread and looks before it sleeps.
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
            // Out of threads, the caller's own serves: late is better than never.
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
        let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: EventLoop.eventsPerWait)
        defer { unsafe events.deallocate() }
        while true {
            runQueuedWork()
            let (isIdle, isStopping) = shared.withLock { ($0.queue.isEmpty, $0.phase == .stopping) }
            let maySleep = isIdle && confined.deferred.isEmpty
            if maySleep, isStopping { break }
            armTimer()
            let count = unsafe epoll_wait(epoll, events, Int32(EventLoop.eventsPerWait), maySleep ? -1 : 0)
            guard count > 0 else { continue }
            if maySleep { wakeUps.add(1, ordering: .relaxed) }
            for index in 0..<Int(count) { unsafe dispatch(events + index) }
        }
        for registration in confined.registrations { registration?.cancel() }
        confined.deadlines = []
        finish()
    }

    /// The body of the short-lived thread that runs work which came after the end.
    private func drain() {
        owner.store(UInt(pthread_self()), ordering: .relaxed)
        runQueuedWork()
        finish()
    }

    /// Hands the loop over to nobody; work that slipped in runs first.
    private func finish() {
        while !end(if: { $0.queue.isEmpty && confined.deferred.isEmpty }) { runQueuedWork() }
    }

    /// One round of what is queued now; what it adds waits for the next, so that descriptors are served in between.
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

    /// What was deferred until now; what that defers again waits for the next round.
    private func runDeferredWork() {
        guard !confined.deferred.isEmpty else { return }
        let work = confined.deferred
        confined.deferred = []
        for body in work { body() }
    }

    private func dispatch(_ event: UnsafePointer<epoll_event>) {
        let token = unsafe clinux_epoll_token(event)
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
            // The generation keeps an event of this round from reaching a registration that a handler just replaced.
            guard index < confined.registrations.count, let registration = confined.registrations[index],
                registration.token == token
            else { return }
            unsafe registration.handler(Readiness(events: clinux_epoll_events(event)))
        }
        runDeferredWork()
    }

    private func reset(_ descriptor: Int32) {
        var count: UInt64 = 0
        while unsafe read(descriptor, &count, 8) < 0, errno == EINTR {}
    }
}
