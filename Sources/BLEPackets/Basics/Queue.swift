/// A first-in, first-out queue: appending and removing take constant time, and no memory once it is long enough.
///
/// A ring: the elements stay where they are until they are moved out.
@usableFromInline
package struct Queue<Element> {
    /// Empty, or a power of two of slots; those without an element are `nil`.
    @usableFromInline var slots: [Element?] = []
    /// The slot of the oldest element.
    @usableFromInline var head = 0
    /// How many elements are in the queue.
    @usableFromInline var length = 0

    /// The capacity that an empty queue keeps.
    @usableFromInline static var keptCapacity: Int { 256 }

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { length == 0 }
    @inlinable package var count: Int { length }
    @inlinable package var first: Element? { isEmpty ? nil : slots[head] }
    @inlinable package var last: Element? { isEmpty ? nil : slots[slot(length &- 1)] }

    /// The slot of the element that so many others precede.
    @inlinable
    func slot(_ offset: Int) -> Int { (head &+ offset) & (slots.count &- 1) }

    @inlinable
    package mutating func append(_ element: consuming Element) {
        if length == slots.count { grow() }
        slots[slot(length)] = element
        length &+= 1
    }

    @inlinable
    package mutating func popFirst() -> Element? {
        guard length > 0 else { return nil }
        let element = slots[head].take()
        head = slot(1)
        length &-= 1
        if length == 0, slots.count > Self.keptCapacity { slots = [] }
        return element
    }

    /// Removes the last element.
    @inlinable
    package mutating func popLast() -> Element? {
        guard length > 0 else { return nil }
        length &-= 1
        return slots[slot(length)].take()
    }

    /// Inserts an element at the front.
    @inlinable
    package mutating func prepend(_ element: consuming Element) {
        if length == slots.count { grow() }
        head = slot(-1)
        slots[head] = element
        length &+= 1
    }

    @inlinable
    package mutating func removeAll() {
        if slots.count > Self.keptCapacity { slots = [] }
        for index in slots.indices { slots[index] = nil }
        head = 0
        length = 0
    }

    /// Keeps the elements for which `isIncluded` is true, in their order.
    @inlinable
    package mutating func keep(where isIncluded: (Element) -> Bool) {
        for _ in 0..<length {
            if let element = popFirst(), isIncluded(element) { append(element) }
        }
    }

    // Not inlined: it is rarely needed, and appended to in many places.
    @inlinable @inline(never)
    mutating func grow() {
        var longer: [Element?] = []
        longer.reserveCapacity(Swift.max(4, 2 * slots.count))
        for offset in 0..<length { longer.append(slots[slot(offset)].take()) }
        while longer.count < Swift.max(4, 2 * length) { longer.append(nil) }
        slots = longer
        head = 0
    }
}

extension Queue: Sequence {
    /// Walks from the oldest element to the newest.
    @usableFromInline
    package struct Iterator: IteratorProtocol {
        @usableFromInline var queue: Queue
        @usableFromInline var offset = 0

        @inlinable init(_ queue: Queue) { self.queue = queue }

        @inlinable
        package mutating func next() -> Element? {
            guard offset < queue.length else { return nil }
            offset &+= 1
            return queue.slots[queue.slot(offset &- 1)]
        }
    }

    @inlinable package func makeIterator() -> Iterator { Iterator(self) }
}

extension Queue: Sendable where Element: Sendable {}
