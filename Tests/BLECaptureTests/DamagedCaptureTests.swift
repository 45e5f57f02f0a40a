import Testing

@testable import BLECapture

@Suite("Damaged captures")
struct DamagedCaptureTests {
    static let formats: [CaptureFormat] = [
        .btsnoopUnencapsulated, .btsnoop, .btsnoopMonitor, .pcap, .pcapng, .packetLogger,
    ]

    private static func file(_ format: CaptureFormat) throws -> [UInt8] {
        let data = Sample.packets.filter { $0.bytes.first != 3 || format != .btsnoopUnencapsulated }
        return try written(data + (format == .btsnoopMonitor ? Sample.monitorNotes : []), as: format)
    }

    private func error(_ bytes: [UInt8]) -> CaptureError? { Reading(bytes).errors.first }

    @Test(
        "truncated at every byte, a file gives all complete records, then an error that says where the truncated one starts",
        arguments: formats)
    func truncatedEverywhere(format: CaptureFormat) throws {
        let whole = try Self.file(format)
        let records = Reading(whole).records
        for count in 0..<whole.count {
            let reading = Reading(Array(whole[..<count]))
            #expect(reading.records == Array(records[..<reading.records.count]))
            #expect(reading.errors.count <= 1)
            guard let error = reading.errors.first else { continue }
            #expect(error.isFinal)
            #expect(error.byteOffset <= UInt64(count))
            guard error.recordNumber > 0 else { continue }
            #expect(error.recordNumber == UInt64(reading.records.count) + 1)
            guard case .truncated(let needed, let available) = error.reason else {
                Issue.record("\(format) cut at \(count): \(error)")
                continue
            }
            #expect(needed > available)
            #expect(error.byteOffset + available == UInt64(count))
        }
    }

    @Test("a file that ends between two records is not an error")
    func cutBetweenRecords() throws {
        let bytes = try Self.file(.btsnoop)
        let reading = Reading(Array(bytes[..<(16 + 24 + 4)]))
        #expect(reading.records == [Sample.packets[0]])
        #expect(reading.errors == [])
    }

    @Test("reads of any size give the same records", arguments: formats, [1, 2, 3, 7, 13, 29])
    func shortReads(format: CaptureFormat, size: Int) throws {
        let bytes = try Self.file(format)
        let whole = Reading(bytes)
        let piecewise = Reading(bytes, maximumReadByteCount: size)
        #expect(piecewise.records == whole.records)
        #expect(piecewise.errors == [])
    }

    @Test("records across the buffer's borders are whole", arguments: formats)
    func bufferBorders(format: CaptureFormat) throws {
        var generator = SeededGenerator(seed: 11)
        let records = (0..<900).map { number in
            let payload = (0..<Int.random(in: 0...1500, using: &generator)).map {
                UInt8(truncatingIfNeeded: $0 ^ number)
            }
            let isSent = number % 3 == 0
            return Recorded(
                .packet(isSent ? .hostToController : .controllerToHost), [0x02] + payload,
                at: Sample.start + Int64(number))
        }
        let bytes = try written(records, as: format)
        #expect(bytes.count > 2 * InputBuffer.capacity)
        let reading = Reading(bytes, maximumReadByteCount: 100_003)
        #expect(reading.records == records)
        #expect(reading.errors == [])
    }

    @Test("flipped bytes never trap, never loop and never give more records than the file can hold", arguments: formats)
    func flippedBytes(format: CaptureFormat) throws {
        let whole = try Self.file(format)
        var generator = SeededGenerator(seed: 0x4A65_6C6C)
        for _ in 0..<2000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            let reading = Reading(bytes)
            #expect(reading.records.count <= bytes.count / 12)
            #expect(reading.errors.count <= bytes.count / 12)
        }
    }

    @Test("every single byte set to each extreme is survived", arguments: formats)
    func extremeBytes(format: CaptureFormat) throws {
        let whole = try Self.file(format)
        for index in whole.indices {
            for value: UInt8 in [0x00, 0x7F, 0x80, 0xFF] {
                var bytes = whole
                bytes[index] = value
                #expect(Reading(bytes).records.count <= bytes.count / 12)
            }
        }
    }

    @Test("noise behind each magic number is survived")
    func noise() {
        var generator = SeededGenerator(seed: 77)
        let heads: [[UInt8]] = [
            [], FileBuilder.btsnoop(datalink: 1002).bytes, FileBuilder.btsnoop(datalink: 2001).bytes,
            FileBuilder.pcap(bigEndian: false, link: 201).bytes, FileBuilder.pcap(bigEndian: true, link: 254).bytes,
            [0x0A, 0x0D, 0x0D, 0x0A, 28, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A],
        ]
        for head in heads {
            for _ in 0..<500 {
                let tail = (0..<Int.random(in: 0...300, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator) & (Bool.random(using: &generator) ? 0xFF : 0x0F)
                }
                let reading = Reading(head + tail)
                #expect(reading.records.count <= 30)
            }
        }
    }

    @Test("a huge length is an error at once, and allocates nothing", arguments: [UInt32.max, 1 << 31, 1 << 20])
    func hugeLengths(length: UInt32) {
        var snoop = FileBuilder.btsnoop(datalink: 1002)
        snoop.u32(length)
        snoop.u32(length)
        snoop.u64(0)
        snoop.u64(0)
        #expect(
            error(snoop.bytes)
                == CaptureError(.invalidLength(UInt64(length) + 24), byteOffset: 16, recordNumber: 1))

        var pcap = FileBuilder.pcap(bigEndian: true, link: 201)
        pcap.u64(0)
        pcap.u32(length)
        pcap.u32(length)
        #expect(
            error(pcap.bytes)
                == CaptureError(.invalidLength(UInt64(length) + 16), byteOffset: 24, recordNumber: 1))

        var pklg = FileBuilder(bigEndian: true)
        pklg.packetLogger(seconds: 1, microseconds: 2, type: 0, [0x03, 0x0C, 0x00])
        pklg.u32(length)
        #expect(
            error(pklg.bytes) == CaptureError(.invalidLength(UInt64(length) + 4), byteOffset: 16, recordNumber: 2))

        var pcapng = FileBuilder(bigEndian: false)
        pcapng.section()
        pcapng.u32(6)
        pcapng.u32(length & ~3)
        pcapng.u32(0)
        // The end of such a block might still come, in a file of gigabytes: it is passed over without being kept.
        let reading = Reading(pcapng.bytes)
        #expect(reading.records.isEmpty)
        #expect(
            reading.errors == [
                CaptureError(
                    .truncated(needed: UInt64(length & ~3), available: 12), byteOffset: 28, recordNumber: 1)
            ])
    }

    @Test("an empty file, a wrong magic number and a foreign file are distinguished")
    func notCaptures() {
        #expect(error([]) == CaptureError(.empty))
        #expect(error([0x62]) == CaptureError(.unknownFormat))
        #expect(error([UInt8]("not a capture at all, only text".utf8)) == CaptureError(.unknownFormat))
        #expect(error([UInt8](repeating: 0, count: 4096)) == CaptureError(.unknownFormat))
        #expect(error([UInt8](repeating: 0xFF, count: 4096)) == CaptureError(.unknownFormat))
        #expect(error([UInt8]("btsnoop!".utf8) + [0, 0, 0, 1, 0, 0, 3, 0xEA]) == CaptureError(.unknownFormat))
        #expect(error([UInt8]("btsnoop\0".utf8)) == CaptureError(.truncated(needed: 16, available: 8)))
        #expect(error(FileBuilder.btsnoop(datalink: 1002, version: 2).bytes) == CaptureError(.unsupportedVersion(2)))
        #expect(error(FileBuilder.btsnoop(datalink: 1004).bytes) == CaptureError(.unsupportedLinkType(1004)))
        #expect(error(FileBuilder.pcap(bigEndian: true, link: 1).bytes) == CaptureError(.unsupportedLinkType(1)))
        #expect(Reading(path: "/nonexistent/capture").errors == [CaptureError(.cannotOpen(SystemError(number: 2)))])
        #expect(Reading(path: "/").errors == [CaptureError(.cannotRead(SystemError(number: 21)))])
    }

    @Test("errors name the problem, the record and the offset")
    func descriptions() {
        let error = CaptureError(.truncated(needed: 24, available: 3), byteOffset: 44, recordNumber: 2)
        #expect("\(error)" == "the file ends early: 24 bytes needed, 3 left, at record 2, offset 44")
        #expect(
            "\(CaptureError(.cannotOpen(SystemError(number: 2))))" == "cannot open: No such file or directory")
        #expect(
            "\(CaptureError(.unsupportedVersion(2)))"
                == "version 2 of the format is not known, in the header of the file")
    }

    @Test("a final error is thrown by each further call")
    func errorStays() throws {
        var reader = try CaptureReader(bytes: FileBuilder.btsnoop(datalink: 1002).bytes + [1, 2, 3])
        for _ in 0..<3 {
            do throws(CaptureError) {
                _ = try reader.next()
                Issue.record("read")
            } catch {
                #expect(error == CaptureError(.truncated(needed: 24, available: 3), byteOffset: 16, recordNumber: 1))
            }
        }
    }

    @Test("a damaged packet block costs that packet, and the next ones are read (DESIGN 1, errors and bad input)")
    func damagedBlocks() {
        var file = FileBuilder(bigEndian: false)
        file.section()
        file.interface(link: 201)
        file.enhancedPacket(interface: 9, ticks: 1, [0, 0, 0, 0, 1, 3, 12, 0])
        file.enhancedPacket(ticks: 2, [0, 0])
        file.block(6) { $0.u64(0) }
        file.block(6) {
            $0.u32(0)
            $0.u64(3)
            $0.u32(500)
            $0.u32(500)
        }
        file.block(6) {
            $0.u32(0)
            $0.u64(0)
            $0.u32(200_000)
            $0.u32(200_000)
            $0.raw([UInt8](repeating: 1, count: 200_000))
        }
        file.enhancedPacket(ticks: 4, [0, 0, 0, 0, 1, 3, 12, 0])
        let reading = Reading(file.bytes)
        #expect(
            reading.errors.map(\.reason) == [
                .unknownInterface(9), .invalidLength(2), .invalidLength(20), .invalidLength(500),
                .invalidLength(200_032),
            ])
        #expect(reading.errors.allSatisfy { !$0.isFinal })
        #expect(reading.errors.map(\.recordNumber) == [1, 2, 3, 4, 5])
        #expect(reading.records == [Recorded(.packet(.hostToController), [1, 3, 12, 0], at: 4)])
    }

    @Test("empty records are records, and do not stop the reader")
    func zeroLengths() {
        var snoop = FileBuilder.btsnoop(datalink: 1002)
        for number in 0..<3 { snoop.btsnoopRecord(flags: UInt32(number), time: 0x00DC_DDB3_0F2F_8000, []) }
        #expect(Reading(snoop.bytes).records.count == 3)

        var unencapsulated = FileBuilder.btsnoop(datalink: 1001)
        unencapsulated.btsnoopRecord(flags: 2, time: 0x00DC_DDB3_0F2F_8000, [])
        #expect(Reading(unencapsulated.bytes).records == [Recorded(.packet(.hostToController), [0x01], at: 0)])

        var pcap = FileBuilder.pcap(bigEndian: false, link: 187)
        pcap.pcapRecord(seconds: 0, fraction: 0, [])
        #expect(Reading(pcap.bytes).records.map(\.bytes) == [[]])

        var pklg = FileBuilder(bigEndian: true)
        pklg.packetLogger(seconds: 1, microseconds: 0, type: 1, [])
        pklg.u32(0)
        #expect(Reading(pklg.bytes).records.map(\.bytes) == [[0x04]])
        #expect(error(pklg.bytes)?.reason == .invalidLength(0))

        var pcapng = FileBuilder(bigEndian: false)
        pcapng.section()
        pcapng.u32(5)
        pcapng.u64(0)
        #expect(error(pcapng.bytes)?.reason == .invalidLength(0))
    }

    @Test("blocks whose two lengths differ, and sections without order, end the reading")
    func brokenFraming() {
        var file = FileBuilder(bigEndian: false)
        file.section()
        file.interface(link: 201)
        file.bytes[file.bytes.count - 4] ^= 0xFF
        #expect(error(file.bytes)?.reason == .lengthMismatch(leading: 20, trailing: 20 ^ 0xFF))

        var section = FileBuilder(bigEndian: false)
        section.section()
        section.bytes[8] = 0
        #expect(error(section.bytes)?.reason == .invalidByteOrderMark(0x003C_2B1A))

        var version = FileBuilder(bigEndian: false)
        version.section()
        version.bytes[12] = 2
        #expect(error(version.bytes)?.reason == .unsupportedVersion(2))
    }

    @Test("thousands of interfaces do not fill the memory")
    func manyInterfaces() {
        var file = FileBuilder(bigEndian: true)
        file.section()
        for _ in 0..<3000 { file.interface(link: 201) }
        file.enhancedPacket(interface: 1023, ticks: 1, [0, 0, 0, 0, 1, 3, 12, 0])
        file.enhancedPacket(interface: 1024, ticks: 1, [0, 0, 0, 0, 1, 3, 12, 0])
        let reading = Reading(file.bytes)
        #expect(reading.records.count == 1)
        #expect(reading.errors.map(\.reason) == [.unknownInterface(1024)])
    }
}
