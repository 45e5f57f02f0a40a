import Synchronization

/// Elements that wait to be taken, as a sequence with bounds in number and in octets: beyond them the oldest go, and are
/// counted. Peers send as fast as the link allows, whether anybody takes what they send or not.
struct BoundedStream<Element: Sendable>: Sendable {
    /// Octets of all that waits in one sequence.
    static var octetLimit: Int { 1 << 20 }

    private let buffer: Buffer
    /// Tells that something waits, and how it all ends.
    private let signals: AsyncThrowingStream<Void, any Error>

    /// - Parameters:
    ///   - capacity: elements that may wait.
    ///   - dropped: counts those that nobody took in time.
    /// - Returns: the sequence, and where its elements are put.
    static func make(capacity: Int, dropped: DropCounter) -> (BoundedStream, Source) {
        let (signals, continuation) = AsyncThrowingStream<Void, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(1))
        let buffer = Buffer(capacity: capacity)
        return (
            BoundedStream(buffer: buffer, signals: signals),
            Source(buffer: buffer, continuation: continuation, dropped: dropped)
        )
    }

    func makeIterator() -> Iterator { Iterator(buffer: buffer, signals: signals.makeAsyncIterator()) }

    /// Hands out the elements in their order.
    struct Iterator {
        fileprivate let buffer: Buffer
        fileprivate var signals: AsyncThrowingStream<Void, any Error>.Iterator

        mutating func next() async throws -> Element? {
            while !Task.isCancelled {
                if let element = buffer.popFirst() { return element }
                guard try await signals.next() != nil else { break }
            }
            return nil
        }
    }

    /// Where elements are put.
    struct Source: Sendable {
        fileprivate let buffer: Buffer
        fileprivate let continuation: AsyncThrowingStream<Void, any Error>.Continuation
        fileprivate let dropped: DropCounter

        /// - Parameter octets: about what the element takes in memory.
        func yield(_ element: Element, octets: Int) {
            let (isFirst, lost) = buffer.append(element, octets: octets)
            if lost > 0 { dropped.increment(by: lost) }
            // Whoever finds others waiting needs no word of this one.
            if isFirst { continuation.yield() }
        }

        /// Nothing follows; with an error or, with `nil`, in good order.
        func finish(throwing error: (any Error)? = nil) { continuation.finish(throwing: error) }

        func onTermination(_ body: @escaping @Sendable () -> Void) { continuation.onTermination = { _ in body() } }
    }

    fileprivate final class Buffer: Sendable {
        private struct Waiting {
            var elements: [(element: Element?, octets: Int)] = []
            var head = 0
            var octets = 0

            /// Takes the oldest, without moving the others at each step.
            mutating func popFirst() -> Element? {
                guard head < elements.count else { return nil }
                let (element, count) = elements[head]
                elements[head] = (nil, 0)
                octets -= count
                head += 1
                if head == elements.count {
                    elements.removeAll(keepingCapacity: true)
                    head = 0
                } else if head >= 64, head * 2 >= elements.count {
                    elements.removeSubrange(..<head)
                    head = 0
                }
                return element
            }
        }

        private let waiting = Mutex(Waiting())
        private let capacity: Int

        init(capacity: Int) { self.capacity = capacity }

        func append(_ element: Element, octets: Int) -> (isFirst: Bool, lost: Int) {
            waiting.withLock { waiting in
                let isFirst = waiting.head == waiting.elements.count
                waiting.elements.append((element, octets))
                waiting.octets += octets
                var lost = 0
                while waiting.elements.count - waiting.head > capacity
                    || waiting.octets > BoundedStream.octetLimit && waiting.elements.count - waiting.head > 1
                {
                    _ = waiting.popFirst()
                    lost += 1
                }
                return (isFirst, lost)
            }
        }

        func popFirst() -> Element? { waiting.withLock { $0.popFirst() } }
    }
}

/// A count that is written on one thread and read on others.
final class DropCounter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }
    func increment(by amount: Int = 1) { count.add(amount, ordering: .relaxed) }
}
