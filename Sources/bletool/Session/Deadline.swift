/// Runs `body` and cancels it when the time is over; `body` ends then as its cancellation ends it.
func withDeadline(after duration: Duration?, _ body: @escaping @Sendable () async throws -> Void) async throws {
    try await withDeadline(after: duration) { begin in
        begin()
        try await body()
    }
}

/// Runs `body` and cancels it when the time is over, which begins when `body` says so, by calling what it gets.
func withDeadline(
    after duration: Duration?,
    _ body: @escaping @Sendable (_ begin: @escaping @Sendable () -> Void) async throws -> Void
) async throws {
    guard let duration else { return try await body {} }
    let (begins, begin) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingOldest(1))
    let work = Task { try await body { begin.yield() } }
    let timer = Task {
        for await _ in begins {
            try await Task.sleep(for: duration)
            return work.cancel()
        }
    }
    defer { timer.cancel() }
    try await withTaskCancellationHandler {
        try await work.value
    } onCancel: {
        work.cancel()
    }
}

/// Runs `body` with a time limit.
/// - Throws: `overdue` when the time is over, otherwise the error of `body`.
func withTimeout<Value: Sendable>(
    _ limit: Duration?, overdue: @autoclosure @escaping @Sendable () -> Failure,
    _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
    guard let limit else { return try await body() }
    return try await withThrowingTaskGroup(of: Value?.self) { group in
        group.addTask { try await body() }
        group.addTask {
            try await Task.sleep(for: limit)
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next() else { throw Failure.interrupted }
        guard let value = first else {
            // The body may have ended at this very moment; otherwise its error is that of the cancellation.
            group.cancelAll()
            if let late = try? await group.next(), let value = late { return value }
            throw overdue()
        }
        return value
    }
}
