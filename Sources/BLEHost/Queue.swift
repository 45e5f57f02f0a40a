/// First in, first out, without moving the elements at each step.
struct Queue<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }
    var count: Int { elements.count - head }

    var first: Element? { isEmpty ? nil : elements[head] }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        var element: Element?
        swap(&element, &elements[head])
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

    /// Puts an element that was taken back before the others.
    mutating func prepend(_ element: Element) {
        guard head > 0 else { return elements.insert(element, at: 0) }
        head -= 1
        elements[head] = element
    }

    mutating func removeAll() {
        elements.removeAll(keepingCapacity: true)
        head = 0
    }

    /// Keeps the elements for which `isIncluded` is true, in their order.
    mutating func keep(where isIncluded: (Element) -> Bool) {
        var kept: [Element?] = []
        for index in head..<elements.count {
            if let element = elements[index], isIncluded(element) { kept.append(element) }
        }
        elements = kept
        head = 0
    }
}
