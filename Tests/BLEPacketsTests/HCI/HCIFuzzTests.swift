import Testing

@testable import BLEPackets

/// Hostile bytes, the same in every run.
@Suite("HCI codec under random bytes")
struct HCIFuzzTests {
    /// SplitMix64: small, and its numbers are the same everywhere.
    struct Random: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }

        mutating func bytes(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 32) }
        }
    }

    @Test("100,000 rounds of random bytes never trap, and what decodes is stable when it is encoded again")
    func random() {
        let samples = commandSamples + answerSamples + eventSamples
        var random = Random(state: 1)
        for round in 0..<100_000 {
            let sample = samples[round % samples.count]
            let bytes = random.bytes(Int(random.next() % 72))
            check(sample, bytes)
            walk(bytes)
        }
    }

    @Test("samples with flipped bits, cut or grown, never trap")
    func mutated() {
        let samples = commandSamples + answerSamples + eventSamples
        var random = Random(state: 2)
        for round in 0..<50_000 {
            let sample = samples[round % samples.count]
            var bytes = sample.bytes
            for _ in 0..<(1 + random.next() % 3) where !bytes.isEmpty {
                let index = Int(random.next() % UInt64(bytes.count))
                switch random.next() % 4 {
                case 0: bytes[index] ^= 1 << UInt8(random.next() % 8)
                case 1: bytes[index] = UInt8(truncatingIfNeeded: random.next())
                case 2: bytes.removeSubrange(index...)
                default: bytes.insert(contentsOf: random.bytes(Int(random.next() % 8)), at: index)
                }
            }
            check(sample, bytes)
            walk(bytes)
        }
    }

    @Test("random packets with a right length are decoded or refused, and unknown ones come back byte for byte")
    func packets() {
        var random = Random(state: 3)
        for round in 0..<100_000 {
            let load = random.bytes(Int(random.next() % 64))
            var code = UInt8(truncatingIfNeeded: random.next())
            if round % 2 == 0 { code = 0x3E }
            let bytes = [code, UInt8(load.count)] + load
            do throws(DecodingError) {
                let event = try HCIEventPacket(decoding: bytes.span.bytes)
                var packet = PacketWriter()
                event.encode(into: &packet)
                switch event {
                case .other, .otherLEMeta: #expect(packet.bytes == bytes)
                default: #expect(try HCIEventPacket(decoding: packet.bytes.span.bytes) == event)
                }
            } catch {
                // Refused: a known event that is not whole, or an empty LE Meta event.
            }
        }
    }

    private func check(_ sample: CodecSample, _ bytes: [UInt8]) {
        guard case .decoded(let again, _, _) = sample.decode(bytes) else { return }
        guard case .decoded(let third, _, let left) = sample.decode(again) else {
            Issue.record("\(sample.testDescription): \(hexadecimal(bytes)) does not decode again")
            return
        }
        if third != again || left != 0 {
            Issue.record("\(sample.testDescription): \(hexadecimal(bytes)) → \(hexadecimal(again))")
        }
    }

    /// Runs the decoders that work in place over the bytes.
    private func walk(_ bytes: [UInt8]) {
        do throws(DecodingError) {
            var reports = try LEAdvertisingReports(decoding: bytes.span.bytes)
            while let report = try reports.next() { _ = report.data.byteCount }
        } catch {}
        do throws(DecodingError) {
            var reports = try LEExtendedAdvertisingReports(decoding: bytes.span.bytes)
            while let report = try reports.next() { _ = report.data.byteCount }
        } catch {}
        do throws(DecodingError) {
            var packets = try NumberOfCompletedPacketsView(decoding: bytes.span.bytes)
            while try packets.next() != nil {}
        } catch {}
        do throws(DecodingError) { _ = try ACLDataPacket(decoding: bytes.span.bytes) } catch {}
        do throws(DecodingError) { _ = try SynchronousDataPacket(decoding: bytes.span.bytes) } catch {}
        do throws(DecodingError) { _ = try IsochronousDataPacket(decoding: bytes.span.bytes) } catch {}
        do throws(DecodingError) { _ = try HCICommandPacket(decoding: bytes.span.bytes) } catch {}
    }
}
