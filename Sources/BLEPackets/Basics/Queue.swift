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

    /// The capacity of an empty queue.
    @usableFromInline static var idleCapacity: Int { 256 }

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
        put(element, in: slot(length))
        length &+= 1
    }

    @inlinable
    package mutating func popFirst() -> Element? {
        guard length > 0 else { return nil }
        let element = remove(from: head)
        head = slot(1)
        length &-= 1
        if length == 0, slots.count > Self.idleCapacity { slots = [] }
        return element
    }

    /// Removes the last element.
    @inlinable
    package mutating func popLast() -> Element? {
        guard length > 0 else { return nil }
        length &-= 1
        return remove(from: slot(length))
    }

    /// Inserts an element at the front.
    @inlinable
    package mutating func prepend(_ element: consuming Element) {
        if length == slots.count { grow() }
        head = slot(-1)
        put(element, in: head)
        length &+= 1
    }

    /// The places of the elements, the oldest first.
    @inlinable package var indices: Range<Int> { 0..<length }

    /// - Parameter index: one of `indices`; anything else traps.
    @inlinable
    package subscript(index: Int) -> Element {
        get {
            // The slot of no element is empty.
            precondition(indices.contains(index))
            return slots[slot(index)]!
        }
        set {
            precondition(indices.contains(index))
            slots[slot(index)] = newValue
        }
    }

    // An empty slot has nothing to release: these two move the element, and look at nothing.

    /// - Parameter slot: an empty one.
    @inlinable
    mutating func put(_ element: consuming Element, in slot: Int) {
        let filled = Element?.some(element)
        unsafe slots.withUnsafeMutableBufferPointer { unsafe $0.initializeElement(at: slot, to: filled) }
    }

    @inlinable
    mutating func remove(from slot: Int) -> Element? {
        unsafe slots.withUnsafeMutableBufferPointer { slots in
            let element = unsafe slots.moveElement(from: slot)
            unsafe slots.initializeElement(at: slot, to: nil)
            return element
        }
    }

    @inlinable
    package mutating func removeAll() {
        if slots.count > Self.idleCapacity { slots = [] }
        for index in slots.indices { slots[index] = nil }
        head = 0
        length = 0
    }

    /// Keeps the elements for which `isIncluded` is true, in their order.
    @inlinable
    package mutating func retain(where isIncluded: (Element) -> Bool) {
        for _ in 0..<length {
            if let element = popFirst(), isIncluded(element) { append(element) }
        }
    }

    // Not inlined: it is rarely needed, and appended to in many places.
    @inlinable @inline(never)
    mutating func grow() {
        var longer: [Element?] = []
        longer.reserveCapacity(Swift.max(4, 2 * slots.count))
        for offset in 0..<length { longer.append(remove(from: slot(offset))) }
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
