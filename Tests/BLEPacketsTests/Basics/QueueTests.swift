import Testing

@testable import BLEPackets

@Suite("Queue")
struct QueueTests {
    @Test("the first in is the first out")
    func order() {
        var queue = Queue<Int>()
        for number in 0..<3 { queue.append(number) }
        #expect(queue.count == 3)
        #expect(queue.first == 0)
        #expect(queue.last == 2)
        #expect([queue.popFirst(), queue.popFirst(), queue.popFirst(), queue.popFirst()] == [0, 1, 2, nil])
        #expect(queue.isEmpty)
        #expect(queue.first == nil)
        #expect(queue.last == nil)
    }

    @Test("many elements keep their order while others come", arguments: [1, 2, 3, 7])
    func flow(arrivals: Int) {
        var queue = Queue<Int>()
        var (appended, expected) = (0, 0)
        for _ in 0..<1000 {
            for _ in 0..<arrivals {
                queue.append(appended)
                appended += 1
            }
            #expect(queue.popFirst() == expected)
            expected += 1
            #expect(queue.count == appended - expected)
        }
        #expect(Array(queue) == Array(expected..<appended))
    }

    @Test("an element that was taken can be put back at the front, and the last one can be taken back")
    func ends() {
        var queue = Queue<Int>()
        queue.prepend(2)
        queue.append(3)
        let taken = queue.popFirst()
        #expect(taken == 2)
        queue.prepend(2)
        queue.prepend(1)
        #expect(Array(queue) == [1, 2, 3])
        #expect(queue.popLast() == 3)
        #expect(queue.popFirst() == 1)
        #expect(queue.popLast() == 2)
        #expect(queue.popLast() == nil)
        #expect(queue.isEmpty)
    }

    @Test("unwanted elements are removed, the others stay in order")
    func keeping() {
        var queue = Queue<Int>()
        for number in 0..<10 { queue.append(number) }
        _ = queue.popFirst()
        queue.retain { $0 % 2 == 1 }
        #expect(Array(queue) == [1, 3, 5, 7, 9])
        queue.removeAll()
        #expect(queue.isEmpty)
        #expect(queue.popFirst() == nil)
    }

    @Test("a full queue grows wherever its oldest element is", arguments: 0..<9)
    func growth(taken: Int) {
        var queue = Queue<Int>()
        for number in 0..<taken {
            queue.append(number)
            _ = queue.popFirst()
        }
        for number in 0..<40 { queue.append(number) }
        for number in 1...40 { queue.prepend(-number) }
        #expect(Array(queue) == Array(-40..<40))
        #expect(queue.first == -40)
        #expect(queue.last == 39)
        queue.retain { $0 >= 0 }
        #expect(Array(queue) == Array(0..<40))
    }

    @Test("elements that were removed are not held any longer")
    func releaseOfElements() {
        final class Element {}
        weak var popped: Element?
        weak var removed: Element?
        var queue = Queue<Element>()
        do {
            let (first, second) = (Element(), Element())
            (popped, removed) = (first, second)
            queue.append(first)
            queue.append(second)
        }
        _ = queue.popFirst()
        #expect(popped == nil)
        #expect(removed != nil)
        queue.removeAll()
        #expect(removed == nil)
    }
}
