import BLEPackets
import Synchronization

/// A sequence of waiting elements, bounded in number and in octets: beyond the bounds the oldest are dropped and
/// counted. Peers send as fast as the link allows, whether or not the app consumes what they send.
struct BoundedStream<Element: Sendable>: Sendable {
    /// The octets that can wait in one sequence.
    static var octetLimit: Int { 1 << 20 }
    /// The reader takes up to so many elements at once. Those count as consumed.
    static var takenAtOnce: Int { 64 }

    private let buffer: Buffer
    /// Signals that elements wait, and how the sequence ends.
    private let signals: AsyncThrowingStream<Void, any Error>

    /// - Parameters:
    ///   - capacity: the number of elements that can wait.
    ///   - dropped: counts the elements that were not consumed in time.
    /// - Returns: the sequence and its source.
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

    /// Returns the elements in their order.
    struct Iterator {
        fileprivate let buffer: Buffer
        fileprivate var signals: AsyncThrowingStream<Void, any Error>.Iterator
        /// The elements that were taken together, the last one first.
        private var taken: [Element] = []

        fileprivate init(buffer: Buffer, signals: AsyncThrowingStream<Void, any Error>.Iterator) {
            self.buffer = buffer
            self.signals = signals
        }

        /// - Parameter actor: where the loop runs; what has come is returned without leaving it.
        mutating func next(isolation actor: isolated (any Actor)?) async throws(BLEError) -> Element? {
            while !Task.isCancelled {
                if let element = taken.popLast() { return element }
                if buffer.take(into: &taken) { continue }
                do {
                    guard try await signals.next(isolation: actor) != nil else { break }
                } catch {
                    // Nothing else ends a sequence: see `Source.finish`.
                    throw error as? BLEError ?? .closed
                }
            }
            return nil
        }
    }

    /// Receives the elements.
    struct Source: Sendable {
        fileprivate let buffer: Buffer
        fileprivate let continuation: AsyncThrowingStream<Void, any Error>.Continuation
        fileprivate let dropped: DropCounter

        /// - Parameter octets: roughly the memory that the element takes.
        func yield(_ element: Element, octets: Int) { yield(CollectionOfOne(element)) { _ in octets } }

        /// Passes several elements on at once, and wakes the reader once.
        /// - Parameter octets: roughly the memory that an element takes.
        func yield(_ elements: some Collection<Element>, octets: (Element) -> Int) {
            let (isFirst, lost) = buffer.append(elements, octets: octets)
            if lost > 0 { dropped.increment(by: lost) }
            // If others already wait, the reader has been signalled.
            if isFirst { continuation.yield() }
        }

        /// Ends the sequence, with an error or normally.
        func finish(throwing error: BLEError? = nil) { continuation.finish(throwing: error) }

        func onTermination(_ body: @escaping @Sendable () -> Void) { continuation.onTermination = { _ in body() } }
    }

    fileprivate final class Buffer: Sendable {
        private struct Waiting {
            var elements = Queue<(element: Element, octets: Int)>()
            var octets = 0

            mutating func popFirst() -> Element? {
                guard let (element, count) = elements.popFirst() else { return nil }
                octets -= count
                return element
            }
        }

        private let waiting = Mutex(Waiting())
        private let capacity: Int

        init(capacity: Int) { self.capacity = capacity }

        @inline(__always)
        func append(_ elements: some Collection<Element>, octets: (Element) -> Int) -> (isFirst: Bool, lost: Int) {
            waiting.withLock { waiting in
                let isFirst = waiting.elements.isEmpty && !elements.isEmpty
                for element in elements {
                    let count = octets(element)
                    waiting.elements.append((element, count))
                    waiting.octets += count
                }
                var lost = 0
                while waiting.elements.count > capacity
                    || waiting.octets > BoundedStream.octetLimit && waiting.elements.count > 1
                {
                    _ = waiting.popFirst()
                    lost += 1
                }
                return (isFirst, lost)
            }
        }

        /// Takes the oldest elements, the last one of them first.
        /// - Parameter elements: is empty.
        /// - Returns: whether there was one.
        func take(into elements: inout [Element]) -> Bool {
            waiting.withLock { waiting in
                while elements.count < BoundedStream.takenAtOnce, let element = waiting.popFirst() {
                    elements.append(element)
                }
            }
            elements.reverse()
            return !elements.isEmpty
        }
    }
}

/// A count that is written on one thread and read on others.
final class DropCounter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }
    func increment(by amount: Int = 1) { count.add(amount, ordering: .relaxed) }
}
