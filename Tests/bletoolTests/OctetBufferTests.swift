import Testing

@testable import bletool

@Suite("Octets that wait between two ends")
struct OctetBufferTests {
    @Test("what is appended comes out in order, in pieces of at most what is asked for")
    func order() async {
        let buffer = OctetBuffer()
        buffer.append([1, 2, 3])
        buffer.append([4, 5])
        #expect(buffer.count == 5)
        #expect(await buffer.next(atMost: 2) == [1, 2])
        #expect(await buffer.next(atMost: 100) == [3, 4, 5])
        #expect(buffer.count == 0 && !buffer.isFinished)
    }

    @Test("what was put back comes first, wherever the buffer was")
    func putBack() async {
        let buffer = OctetBuffer()
        buffer.append([1, 2, 3, 4])
        #expect(await buffer.next(atMost: 3) == [1, 2, 3])
        buffer.putBack([2, 3])
        #expect(buffer.count == 3)
        buffer.append([5])
        #expect(await buffer.next(atMost: 10) == [2, 3, 4, 5])
        buffer.putBack([5])
        #expect(await buffer.next(atMost: 10) == [5])
    }

    @Test("each octet comes once, in order, from amounts that make the buffer move its content")
    func large() async {
        let buffer = OctetBuffer()
        let octets = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) }
        for start in stride(from: 0, to: octets.count, by: 1000) { buffer.append(octets[start..<start + 1000]) }
        buffer.finish()
        var taken: [UInt8] = []
        var size = 1
        while let piece = await buffer.next(atMost: size) {
            #expect(piece.count <= size)
            taken += piece
            size = size * 3 % 7001 + 1
        }
        #expect(taken == octets)
    }

    @Test("one who waits is woken by octets, by the end, and by the end of its task")
    func waits() async {
        let buffer = OctetBuffer()
        let first = Task { await buffer.next(atMost: 10) }
        buffer.append([7])
        #expect(await first.value == [7])
        let second = Task { await buffer.next(atMost: 10) }
        buffer.finish()
        #expect(await second.value == nil && buffer.isFinished)
        // What came before the end is there still.
        buffer.append([8])
        #expect(await buffer.next(atMost: 1) == [8])
        #expect(await buffer.next(atMost: 1) == nil)

        let other = OctetBuffer()
        let third = Task { await other.next(atMost: 10) }
        third.cancel()
        #expect(await third.value == nil)
        other.append([9])
        #expect(await other.next(atMost: 1) == [9])
    }

    @Test("conditions on the count hold one who fills back until it is emptied")
    func backPressure() async {
        let buffer = OctetBuffer()
        buffer.append([UInt8](repeating: 0, count: 100))
        let filler = Task {
            await buffer.wait { count, _ in count < 50 }
            return buffer.count
        }
        #expect(await buffer.next(atMost: 40)?.count == 40)
        #expect(await buffer.next(atMost: 40)?.count == 40)
        #expect(await filler.value < 50)
    }

    @Test("many who wait at once each get something, and none waits for ever")
    func several() async {
        let buffer = OctetBuffer()
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<20 { group.addTask { await buffer.next(atMost: 1)?.count ?? 0 } }
            for _ in 0..<10 { buffer.append([1]) }
            buffer.finish()
            var count = 0
            for await one in group { count += one }
            #expect(count == 10)
        }
    }
}
