import Testing

@testable import BLETransport

@Suite("Send queue")
struct SendQueueTests {
    /// Spans cannot pass through `#expect`.
    private func append(_ bytes: [UInt8], alreadySent: Int = 0, to queue: inout SendQueue) -> Bool {
        queue.append(bytes.span.bytes, alreadySent: alreadySent)
    }

    @Test("packets leave in order, each in its own write, and a part that was taken is not sent again")
    func order() {
        var queue = SendQueue()
        #expect(append([1, 2, 3, 4], alreadySent: 1, to: &queue))
        #expect(append([5, 6], to: &queue))
        #expect(queue.byteCount == 5)
        var writes: [[UInt8]] = []
        var room = 2
        func write(_ bytes: UnsafeRawBufferPointer) -> Int {
            guard room > 0 else { return -1 }
            let taken = min(room, bytes.count)
            room -= taken
            unsafe writes.append(Array(bytes[..<taken]))
            return taken
        }
        unsafe queue.flush(write: write)
        #expect(writes == [[2, 3]])
        #expect(!queue.isEmpty)
        room = 100
        unsafe queue.flush(write: write)
        #expect(writes == [[2, 3], [4], [5, 6]])
        #expect(queue.isEmpty)
        #expect(queue.byteCount == 0)
    }

    @Test("a packet that waits behind one that is half sent is sent whole")
    func secondIsWhole() {
        var queue = SendQueue()
        #expect(append([1, 2], alreadySent: 1, to: &queue))
        #expect(append([3, 4], to: &queue))
        var sent: [UInt8] = []
        unsafe queue.flush {
            unsafe sent += $0
            return $0.count
        }
        #expect(sent == [2, 3, 4])
    }

    @Test("what is small is joined where the limits of packets do not matter; the order stays, and what was sent")
    func joined() {
        var queue = SendQueue(joins: true)
        var expected: [UInt8] = []
        for number in 0..<20_000 {
            let octets = [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
            #expect(append(octets, alreadySent: number == 0 ? 1 : 0, to: &queue))
            expected += octets
        }
        #expect(queue.byteCount == 39_999)
        var sent: [UInt8] = []
        var writes = 0
        unsafe queue.flush {
            let count = min(10_000, $0.count)
            unsafe sent += $0[..<count]
            writes += 1
            return count
        }
        while !queue.isEmpty {
            unsafe queue.flush {
                unsafe sent += $0
                writes += 1
                return $0.count
            }
        }
        #expect(sent == Array(expected.dropFirst()) && queue.byteCount == 0)
        #expect(writes == 4)
    }

    @Test("what waits is bounded: a packet too many is refused")
    func bounded() {
        var queue = SendQueue()
        let packet = [UInt8](repeating: 0, count: 1024)
        for _ in 0..<(SendQueue.maximumByteCount / 1024) { #expect(append(packet, to: &queue)) }
        #expect(!append(packet, to: &queue))
        #expect(queue.byteCount == SendQueue.maximumByteCount)
    }
}
