import Testing

@testable import BLEPackets

@Suite("Content hash")
struct ContentHashTests {
    @Test("one changed bit anywhere is different content, and so is an additional zero at the end (SPEC CEN-26)")
    func changes() {
        var random = FixedSeedGenerator(seed: 10)
        for count in 0..<64 {
            var bytes = random.octets(count: count)
            let hash = bytes.span.bytes.contentHash()
            for index in bytes.indices {
                for bit in UInt8(0)..<8 {
                    bytes[index] ^= 1 << bit
                    #expect(bytes.span.bytes.contentHash() != hash)
                    bytes[index] ^= 1 << bit
                }
            }
            #expect(bytes.span.bytes.contentHash() == hash)
            #expect((bytes + [0]).span.bytes.contentHash() != hash)
        }
    }

    @Test("a hundred thousand contents have a hundred thousand numbers, whose lower bits are spread, too")
    func spread() {
        var hashes: Set<UInt64> = []
        var buckets = [Int](repeating: 0, count: 1024)
        var bytes = octets("02 01 06 11 FF 59 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00")
        for counter in 0..<100_000 {
            bytes[7] = UInt8(truncatingIfNeeded: counter)
            bytes[12] = UInt8(truncatingIfNeeded: counter >> 8)
            bytes[20] = UInt8(truncatingIfNeeded: counter >> 16)
            let hash = bytes.span.bytes.contentHash()
            hashes.insert(hash)
            buckets[Int(hash % 1024)] += 1
        }
        #expect(hashes.count == 100_000)
        #expect(buckets.allSatisfy { $0 > 40 && $0 < 180 })  // 98 on average
    }

    @Test("the number is the same in every process and on every machine, and depends on the seed")
    func fixed() {
        let bytes = octets("02 01 1A 03 03 07 C0 05 09 46 72 65 64")
        let hash = bytes.span.bytes.contentHash()
        #expect(hash == 5_705_055_289_043_698_214)
        #expect(bytes.span.bytes.contentHash(seed: 1) != hash)
        let empty: [UInt8] = []
        #expect(empty.span.bytes.contentHash() == 0)
    }
}
