/// The tasks that this app has begun and not ended.
final class BackgroundTasks: Sendable {
    private struct State {
        var last = 0
        /// The handlers of running tasks; `nil` for a task without one, or whose handler has been called.
        var running: [Int: (@MainActor @Sendable () -> Void)?] = [:]
    }

    private let state = Locked(State())

    /// How many run.
    var count: Int { state.with { $0.running.count } }

    /// Begins a task.
    /// - Parameter report: gets the number of running tasks. It is called under a lock, so that reports come in order.
    func begin(_ handler: (@MainActor @Sendable () -> Void)?, report: (Int) -> Void) -> CBBackgroundTaskIdentifier {
        state.with { state in
            state.last += 1
            state.running[state.last] = .some(handler)
            report(state.running.count)
            return CBBackgroundTaskIdentifier(rawValue: state.last)
        }
    }

    /// Ends a task; does nothing if it has ended.
    func end(_ task: CBBackgroundTaskIdentifier, report: (Int) -> Void) {
        state.with { state in
            if state.running.removeValue(forKey: task.rawValue) != nil { report(state.running.count) }
        }
    }

    /// Calls the expiration handlers of the tasks, in the order in which they began, each once.
    func expire() {
        let handlers = state.with { state in
            let tasks = state.running.keys.sorted()
            return tasks.compactMap { task in
                let handler = state.running[task] ?? nil
                state.running[task] = .some(nil)
                return handler
            }
        }
        guard !handlers.isEmpty else { return }
        Task { @MainActor in
            for handler in handlers { handler() }
        }
    }
}
