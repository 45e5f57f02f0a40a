extension EventLoop: SerialExecutor {
    /// Runs an actor's job on the loop, after everything that is queued. Callable from any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        add(.job(UnownedJob(job)))
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
        add(.closure(work))
    }

    /// Runs `work` when the current handler or job has returned: a way to call back without re-entering the caller.
    /// - Precondition: called on the loop's thread.
    public func runLater(_ work: @escaping () -> Void) {
        checkOnLoop()
        confined.deferred.append(work)
    }

    /// Runs `work` when every descriptor and deadline that is ready has been handled once: for work that must not delay
    /// those, a part at a time.
    /// - Precondition: called on the loop's thread.
    public func runAfterReady(_ work: @escaping () -> Void) {
        checkOnLoop()
        confined.trailing.append(work)
    }

    /// Runs `work` when everything that is ready or queued has been handled, before the work that waited for that and
    /// before the loop waits again: for writing together what it has produced.
    /// - Precondition: called on the loop's thread.
    func runBeforeWait(_ work: @escaping () -> Void) {
        checkOnLoop()
        confined.closing.append(work)
    }

    private enum Need { case nothing, wakeUp, drainThread }

    func add(_ work: Work) {
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
