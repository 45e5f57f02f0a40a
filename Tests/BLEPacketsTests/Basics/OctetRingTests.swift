import Testing

@testable import BLEPackets

@Suite("Octet ring")
struct OctetRingTests {
    @Test("every array has what was asked for, whatever length the earlier ones had")
    func contents() {
        var ring = OctetRing(count: 2)
        for length in [3, 3, 5, 5, 0, 0, 1, 512, 2] {
            let octets = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ length) }
            #expect(ring.copy(octets.span.bytes) == octets)
            let written = ring.write { packet in
                packet.write(UInt8(length & 0xFF))
                packet.write(bytes: octets)
            }
            #expect(written == [UInt8(length & 0xFF)] + octets)
        }
    }

    @Test("an array that is still held stays as it is")
    func heldArrays() {
        var ring = OctetRing(count: 2)
        let sent: [[UInt8]] = (0..<20).map { [UInt8](repeating: $0, count: 4) }
        var held: [[UInt8]] = []
        for octets in sent { held.append(ring.copy(octets.span.bytes)) }
        #expect(held == sent)
    }

    @Test("a holder may change its array: the ring and later arrays do not see it")
    func changedArrays() {
        var ring = OctetRing(count: 1)
        let octets: [UInt8] = [1, 2, 3]
        var first = ring.copy(octets.span.bytes)
        first[0] = 9
        #expect(ring.copy(octets.span.bytes) == octets)
        #expect(first == [9, 2, 3])
    }

    @Test("the memory of an array that nobody holds is used again")
    func reuse() {
        var ring = OctetRing(count: 2)
        let octets: [UInt8] = [1, 2, 3]
        var places: Set<UInt> = []
        for _ in 0..<10 {
            let array = ring.copy(octets.span.bytes)
            places.insert(unsafe array.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) })
        }
        #expect(places.count == 2)
    }
}
