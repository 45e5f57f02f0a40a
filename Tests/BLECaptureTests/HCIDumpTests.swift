import Testing

@testable import BLECapture

@Suite("hcidump and packed files")
struct HCIDumpTests {
    private let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
    private let complete: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]
    private let sent: [UInt8] = [0x02, 0x40, 0x00, 0x03, 0x00, 0xAA, 0xBB, 0xCC]
    private let seconds: UInt32 = 1_700_000_000
    private var time: Int64 { Int64(seconds) * 1_000_000 }

    private func file(_ records: [(way: UInt16, packet: [UInt8])]) -> [UInt8] {
        var file = FileBuilder(bigEndian: false)
        for (number, record) in records.enumerated() {
            file.u16(UInt16(record.packet.count))
            file.u16(record.way)
            file.u32(seconds)
            file.u32(UInt32(number))
            file.raw(record.packet)
        }
        return file.bytes
    }

    @Test("records of hcidump are packets with their direction and time")
    func read() {
        let voice: [UInt8] = [0x03, 0x01, 0x00, 0x02, 1, 2]
        let iso: [UInt8] = [0x05, 0x60, 0x20, 0x04, 0x40, 1, 2, 3, 4]
        let bytes = file([(0, reset), (1, complete), (0, sent), (1, sent), (1, voice), (0, iso), (0, reset)])
        let reading = Reading(bytes)
        #expect(reading.errors == [])
        #expect(reading.format == .hcidump)
        #expect(
            reading.records == [
                Recorded(.packet(.hostToController), reset, at: time),
                Recorded(.packet(.controllerToHost), complete, at: time + 1),
                Recorded(.packet(.hostToController), sent, at: time + 2),
                Recorded(.packet(.controllerToHost), sent, at: time + 3),
                Recorded(.packet(.controllerToHost), voice, at: time + 4),
                Recorded(.packet(.hostToController), iso, at: time + 5),
                Recorded(.packet(.hostToController), reset, at: time + 6),
            ])
        #expect(Reading(bytes, maximumReadByteCount: 5).records == reading.records)
    }

    @Test("the octets of the format: length, direction, zero, seconds, microseconds, H4 packet")
    func octets() throws {
        let records = [
            Recorded(.packet(.hostToController), reset, at: 0x0403_0201 * 1_000_000 + 0x0605),
            Recorded(.packet(.controllerToHost), complete, at: 0x0403_0201 * 1_000_000 + 0x0606),
        ]
        let bytes = try written(records, as: .hcidump)
        #expect(
            bytes == [4, 0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0] + reset + [7, 0, 1, 0, 1, 2, 3, 4, 6, 6, 0, 0] + complete)
        #expect(Reading(bytes).records == records)
        #expect(Reading(try written(Sample.packets, as: .hcidump)).records == Sample.packets)
    }

    @Test("one record suffices, and a second one that the file cuts off is reported")
    func short() {
        #expect(Reading(file([(0, reset)])).format == .hcidump)
        let bytes = file([(0, reset), (1, complete), (0, sent)])
        for count in 16..<bytes.count {
            let reading = Reading(Array(bytes[..<count]))
            #expect(reading.format == .hcidump)
            let isBorder = count == 16 || count == 16 + 19
            #expect(reading.errors.isEmpty == isBorder)
            #expect(reading.records.count == (count < 35 ? 1 : 2))
        }
        for count in 0..<12 { #expect(Reading(Array(bytes[..<count])).format == nil) }
    }

    @Test("a record that has lost its framing ends the reading")
    func damaged() {
        var bytes = file([(0, reset), (1, complete), (0, sent), (1, complete)])
        // The direction of the third record, behind 16 and 19 octets.
        bytes[35 + 2] = 9
        let reading = Reading(bytes)
        #expect(reading.format == .hcidump)
        #expect(reading.records.count == 2)
        #expect(
            reading.errors == [CaptureError(.invalidLength(9 << 16 | 8), byteOffset: 35, recordNumber: 3)])
    }

    @Test("PacketLogger in little-endian order is not taken for hcidump, whatever its first record is")
    func packetLogger() {
        let event: [UInt8] = Array(complete.dropFirst())
        for (type, payload) in [(0x00, [0x03, 0x0C, 0x00]), (0x01, event), (0x02, Array(sent.dropFirst()))]
            as [(UInt8, [UInt8])]
        {
            var file = FileBuilder(bigEndian: false)
            for _ in 0..<3 { file.packetLogger(seconds: seconds, microseconds: 7, type: type, payload) }
            #expect(Reading(file.bytes).format == .packetLogger)
            #expect(Reading(file.bytes).records.count == 3)
        }
    }

    @Test("flipped octets never trap, and never give more records than the file can hold")
    func flipped() {
        let whole = file((0..<20).map { (UInt16($0 % 2), $0 % 2 == 0 ? reset : complete) })
        var generator = SeededGenerator(seed: 0x6863_6964)
        for _ in 0..<2000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            let reading = Reading(bytes)
            #expect(reading.records.count <= bytes.count / 12)
            #expect(reading.errors.count <= 1)
        }
    }

    @Test("packets that the format cannot represent are counted")
    func unrepresentable() throws {
        try withTemporaryPath { path in
            var writer = try CaptureWriter(path: path, format: .hcidump, flushing: .bytes(65536))
            let note = Recorded(.note(.monitor(.systemNote)), [1], at: 0)
            let isNoteKept = try append(note, to: &writer)
            let long = Recorded(.packet(.hostToController), [UInt8](repeating: 2, count: 65536), at: 0)
            let isLongKept = try append(long, to: &writer)
            #expect(!isNoteKept && !isLongKept)
            #expect(writer.unrepresentableCount == 2)
            try writer.close()
        }
    }

    @Test("packed files are named, with what unpacks them")
    func packed() {
        let heads: [([UInt8], CaptureArchive, String)] = [
            ([0xFD, 0x37, 0x7A, 0x58], .xz, "an xz file: unpack it first, with unxz"),
            ([0x28, 0xB5, 0x2F, 0xFD], .zstd, "a zstd file: unpack it first, with unzstd"),
            ([0x42, 0x5A, 0x68, 0x39], .bzip2, "a bzip2 file: unpack it first, with bunzip2"),
        ]
        for (head, archive, text) in heads {
            for tail in [[], [UInt8](repeating: 0, count: 100)] {
                #expect(Reading(head + tail).errors == [CaptureError(.packed(archive))])
            }
            if !text.isEmpty { #expect("\(CaptureError(.packed(archive)))" == text) }
        }
    }
}
