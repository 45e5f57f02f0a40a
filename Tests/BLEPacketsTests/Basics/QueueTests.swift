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
        queue.keep { $0 % 2 == 1 }
        #expect(Array(queue) == [1, 3, 5, 7, 9])
        queue.removeAll()
        #expect(queue.isEmpty)
        #expect(queue.popFirst() == nil)
    }

    @Test("an element that was taken is released at once")
    func release() {
        final class Box {}
        var queue = Queue<Box>()
        var box: Box? = Box()
        weak let watched = box
        queue.append(box!)
        queue.append(Box())
        box = nil
        _ = queue.popFirst()
        #expect(watched == nil)
    }
}
