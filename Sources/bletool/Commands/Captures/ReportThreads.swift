import BLEDecoder
import BLELinux
import Glibc
import Synchronization

/// Threads that count the advertising reports of a large capture, each those of its devices.
final class ReportThreads: ReportCounters {
    /// More than these wait for the one that reads.
    private static let mostUseful = 4

    private let lines: [Line]

    /// How many threads speed a summary up: one for each processor that the process may use.
    static var usefulCount: Int { min(Int(clinux_processor_count()), mostUseful) }

    init(count: Int) {
        lines = (0..<count).map { Line(ReportCounts(part: $0, of: count)) }
        for line in lines { line.start() }
    }

    deinit { close() }

    var partCount: Int { lines.count }

    var progress: ReportCounts.Progress {
        lines.reduce(into: ReportCounts.Progress()) { $0 += $1.progress }
    }

    func count(_ batch: ReportBatch, part: Int) { lines[part].add(batch) }

    func end() -> [ReportCounts] {
        close()
        return lines.map { $0.counts() }
    }

    /// Ends the threads after what they have been given.
    func close() {
        for line in lines { line.close() }
    }

    /// What one thread is to count.
    private final class Line: Sendable {
        private struct State {
            var batches: [ReportBatch] = []
            var isClosed = false
            /// Without a thread, batches are counted where they come from.
            var hasThread = true
            var progress = ReportCounts.Progress()
            var counts: ReportCounts
        }

        /// How many batches wait for the thread at most.
        private static let capacity: UInt32 = 2

        private let state: Mutex<State>
        /// Signalled for each batch, and for the end.
        private let filled = Semaphore(0)
        private let room = Semaphore(capacity)
        private let ended = Semaphore(0)

        init(_ counts: ReportCounts) { state = Mutex(State(counts: counts)) }

        func start() {
            let context = unsafe Unmanaged.passRetained(self).toOpaque()
            let code = unsafe clinux_thread_start(
                "reports",
                { context in
                    guard let context = unsafe context else { return }
                    unsafe Unmanaged<Line>.fromOpaque(context).takeRetainedValue().run()
                }, context)
            guard code != 0 else { return }
            unsafe Unmanaged<Line>.fromOpaque(context).release()
            state.withLock { $0.hasThread = false }
        }

        private func run() {
            var counts = state.withLock { $0.counts }
            while true {
                filled.wait()
                let batch = state.withLock { $0.batches.isEmpty ? nil : $0.batches.removeFirst() }
                guard let batch else { break }
                counts.count(batch)
                let progress = counts.progress
                state.withLock { $0.progress = progress }
                room.signal()
            }
            state.withLock { $0.counts = counts }
            ended.signal()
        }

        var progress: ReportCounts.Progress { state.withLock { $0.progress } }

        func add(_ batch: ReportBatch) {
            let hasThread = state.withLock { state in
                if !state.hasThread {
                    state.counts.count(batch)
                    state.progress = state.counts.progress
                }
                return state.hasThread
            }
            guard hasThread else { return }
            room.wait()
            state.withLock { $0.batches.append(batch) }
            filled.signal()
        }

        /// Ends the thread after what waits for it.
        func close() {
            let wasClosed = state.withLock { state in
                defer { state.isClosed = true }
                return state.isClosed
            }
            if !wasClosed { filled.signal() }
        }

        /// What the closed line has counted; once.
        func counts() -> ReportCounts {
            if state.withLock({ $0.hasThread }) { ended.wait() }
            return state.withLock { $0.counts }
        }
    }
}

/// A semaphore of the system, between threads that may wait.
@safe
private final class Semaphore: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init(_ value: UInt32) { unsafe _ = sem_init(semaphore, 0, value) }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    func signal() { unsafe _ = sem_post(semaphore) }

    func wait() {
        while unsafe sem_wait(semaphore) != 0, errno == EINTR {}
    }
}
