/// Runs `body` and cancels it when the time is over; `body` ends then as its cancellation ends it.
func withDeadline(after duration: Duration?, _ body: @escaping @Sendable () async throws -> Void) async throws {
    guard let duration else { return try await body() }
    let work = Task { try await body() }
    let timer = Task {
        try await Task.sleep(for: duration)
        work.cancel()
    }
    defer { timer.cancel() }
    try await withTaskCancellationHandler {
        try await work.value
    } onCancel: {
        work.cancel()
    }
}

/// Runs `body`, but not for longer than the time given.
/// - Throws: `overdue` when the time is over, else what `body` throws.
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
            // The body may have come to its end in the very moment; else its error is that of the cancellation.
            group.cancelAll()
            if let late = try? await group.next(), let value = late { return value }
            throw overdue()
        }
        return value
    }
}
