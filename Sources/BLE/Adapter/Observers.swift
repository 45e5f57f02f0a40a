/// Sequences that are told the same events, until nobody loops over them any more.
struct Observers<Event: Sendable> {
    typealias Continuation = AsyncThrowingStream<Event, any Error>.Continuation

    private var continuations: [UInt64: Continuation] = [:]

    /// - Parameter token: by which it is removed.
    mutating func add(_ continuation: Continuation, token: UInt64) { continuations[token] = continuation }

    mutating func remove(_ token: UInt64) { continuations[token] = nil }

    func tell(_ event: Event) {
        for (_, continuation) in continuations { continuation.yield(event) }
    }

    mutating func finish(throwing error: any Error) {
        for (_, continuation) in continuations { continuation.finish(throwing: error) }
        continuations.removeAll()
    }
}
