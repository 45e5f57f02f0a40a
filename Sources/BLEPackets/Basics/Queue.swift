/// First in, first out, without moving the elements at each step.
@usableFromInline
package struct Queue<Element> {
    /// Elements before `head` have been removed.
    @usableFromInline var elements: [Element?] = []
    @usableFromInline var head = 0

    /// The capacity that an empty queue keeps.
    @usableFromInline static var keptCapacity: Int { 256 }

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { head == elements.count }
    @inlinable package var count: Int { elements.count - head }
    @inlinable package var first: Element? { isEmpty ? nil : elements[head] }
    @inlinable package var last: Element? { isEmpty ? nil : elements[elements.count - 1] }

    @inlinable package mutating func append(_ element: consuming Element) { elements.append(element) }

    @inlinable package mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        // The only element is moved out: nothing remains to be cleared.
        if head == 0, elements.count == 1 { return elements.removeLast() }
        let element = elements[head].take()
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: head <= Self.keptCapacity)
            head = 0
        } else if head >= 64, head * 2 >= elements.count {
            elements.removeSubrange(..<head)
            head = 0
        }
        return element
    }

    /// Removes the last element.
    @inlinable package mutating func popLast() -> Element? { isEmpty ? nil : elements.removeLast() }

    /// Inserts an element at the front.
    @inlinable package mutating func prepend(_ element: consuming Element) {
        guard head > 0 else { return elements.insert(element, at: 0) }
        head -= 1
        elements[head] = element
    }

    @inlinable package mutating func removeAll() {
        elements.removeAll(keepingCapacity: elements.count <= Self.keptCapacity)
        head = 0
    }

    /// Keeps the elements for which `isIncluded` is true, in their order.
    @inlinable package mutating func keep(where isIncluded: (Element) -> Bool) {
        var kept: [Element?] = []
        for index in head..<elements.count {
            if let element = elements[index], isIncluded(element) { kept.append(element) }
        }
        elements = kept
        head = 0
    }
}

extension Queue: Sequence {
    /// Walks from the oldest element to the newest.
    @usableFromInline
    package struct Iterator: IteratorProtocol {
        @usableFromInline var rest: ArraySlice<Element?>

        @inlinable init(_ rest: ArraySlice<Element?>) { self.rest = rest }

        @inlinable package mutating func next() -> Element? { rest.popFirst() ?? nil }
    }

    @inlinable package func makeIterator() -> Iterator { Iterator(elements[head...]) }
}

extension Queue: Sendable where Element: Sendable {}
