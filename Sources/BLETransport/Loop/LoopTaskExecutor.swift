/// Runs what tasks do outside of actors on the thread of an event loop.
///
/// An actor on the same loop is then called without a thread switch. Each job runs to its next suspension, and what is
/// ready on the loop waits meanwhile.
public final class LoopTaskExecutor: TaskExecutor {
    private let loop: EventLoop

    /// - Parameter loop: retained by the executor.
    public init(_ loop: EventLoop) { self.loop = loop }

    /// Runs a job on the loop, after everything that is queued. Callable from any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        loop.add(.taskJob(UnownedJob(job), self))
    }
}
