#if PUBLISHERS
@unsafe @preconcurrency import OpenCombine

/// Sends what a sequence of states contains. A subscriber that asks late receives the latest state only, as from an
/// observed property.
struct StatePublisher<Output: Sendable>: Publisher {
    typealias Failure = Never

    /// Makes a separate sequence for each subscriber; it begins with the current state.
    let makeStates: () -> AsyncStream<Output>

    init(_ makeStates: @escaping () -> AsyncStream<Output>) { self.makeStates = makeStates }

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Never {
        let latest = CurrentValueSubject<Output?, Never>(nil)
        let states = makeStates()
        let task = Task {
            for await state in states { latest.send(state) }
            latest.send(completion: .finished)
        }
        latest.compactMap(\.self)
            .handleEvents(receiveCompletion: { _ in task.cancel() }, receiveCancel: { task.cancel() })
            .receive(subscriber: subscriber)
    }
}
#endif
