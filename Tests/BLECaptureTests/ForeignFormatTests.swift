import Testing

@testable import BLECapture

/// Files as other programs write them, put together by hand.
@Suite("Formats as others write them")
struct ForeignFormatTests {
    let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
    let complete: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]
    let seconds: UInt32 = 1_700_000_000
    var time: Int64 { Int64(seconds) * 1_000_000 }

    // MARK: pcap

    @Test(
        "pcap in either order, with micro- and nanoseconds", arguments: [true, false],
        [0xA1B2_C3D4, 0xA1B2_3C4D as UInt32])
    func pcapOrders(bigEndian: Bool, magic: UInt32) {
        let isNano = magic == 0xA1B2_3C4D
        var file = FileBuilder.pcap(bigEndian: bigEndian, magic: magic, link: 201)
        file.pcapRecord(seconds: seconds, fraction: isNano ? 123_456_789 : 123_456, [0, 0, 0, 0] + reset)
        file.pcapRecord(seconds: seconds, fraction: isNano ? 999_999_999 : 999_999, [0, 0, 0, 1] + complete)
        let reading = Reading(file.bytes)
        #expect(reading.errors == [])
        #expect(reading.format == .pcap)
        #expect(
            reading.records == [
                Recorded(.packet(.hostToController), reset, at: time + 123_456),
                Recorded(.packet(.controllerToHost), complete, at: time + 999_999),
            ])
    }

    @Test("link type 187 states no direction: it follows from type and boundary flag")
    func withoutDirection() {
        let begunByHost: [UInt8] = [0x02, 0x40, 0x00, 0x02, 0x00, 0xAA, 0xBB]
        let continuation: [UInt8] = [0x02, 0x40, 0x10, 0x01, 0x00, 0xCC]
        let begunByController: [UInt8] = [0x02, 0x40, 0x20, 0x02, 0x00, 0xAA, 0xBB]
        var file = FileBuilder.pcap(bigEndian: false, link: 187)
        let packets = [reset, complete, begunByHost, continuation, begunByController, continuation]
        for packet in packets { file.pcapRecord(seconds: seconds, fraction: 0, packet) }
        let directions: [CaptureDirection] = [
            .hostToController, .controllerToHost, .hostToController, .hostToController, .controllerToHost,
            .controllerToHost,
        ]
        #expect(
            Reading(file.bytes).records
                == zip(packets, directions).map { Recorded(.packet($1), $0, at: time) })
    }

    @Test("link type 254 has adapter and opcode before each payload", arguments: [true, false])
    func monitorInPcap(bigEndian: Bool) {
        var file = FileBuilder.pcap(bigEndian: bigEndian, link: 254)
        file.pcapRecord(seconds: seconds, fraction: 1, [0, 2, 0, 2] + reset.dropFirst())
        file.pcapRecord(seconds: seconds, fraction: 2, [0xFF, 0xFF, 0, 12] + [UInt8]("Linux\0".utf8))
        file.pcapRecord(seconds: seconds, fraction: 3, [0, 1, 0, 0x77, 9])
        file.pcapRecord(seconds: seconds, fraction: 4, [0, 1, 0])
        let reading = Reading(file.bytes)
        #expect(
            reading.records == [
                Recorded(.packet(.hostToController), reset, at: time + 1, adapter: 2),
                Recorded(
                    .note(.monitor(.systemNote)), [UInt8]("Linux\0".utf8), at: time + 2,
                    adapter: CaptureRecord.noAdapter),
                Recorded(.note(.monitor(MonitorOpcode(rawValue: 0x77))), [9], at: time + 3, adapter: 1),
            ])
        #expect(reading.errors.map(\.reason) == [.invalidLength(3)])
        #expect(reading.errors.allSatisfy { !$0.isFinal })
    }

    @Test("a direction that contradicts a command or event is ignored")
    func contradiction() {
        var file = FileBuilder.pcap(bigEndian: false, link: 201)
        file.pcapRecord(seconds: seconds, fraction: 0, [0, 0, 0, 1] + reset)
        file.pcapRecord(seconds: seconds, fraction: 0, [0, 0, 0, 0] + complete)
        #expect(
            Reading(file.bytes).records.map(\.content) == [.packet(.hostToController), .packet(.controllerToHost)])
    }

    // MARK: pcapng

    @Test("pcapng in either order: resolutions, offsets, names and unknown blocks", arguments: [true, false])
    func pcapng(bigEndian: Bool) {
        var file = FileBuilder(bigEndian: bigEndian)
        file.section()
        file.block(0x0000_0BAD) { $0.raw([1, 2, 3, 4, 5]) }
        file.interface(link: 201)
        file.interface(link: 201, options: [(9, [9])])
        file.interface(link: 187, options: [(2, [UInt8]("bluetooth5".utf8)), (9, [0x80 | 10])])
        file.interface(link: 254, options: [(9, [3]), (14, file.octets(Int64(1_600_000_000)))])
        file.interface(link: 1)
        let data = [0, 0, 0, 1] + complete
        file.enhancedPacket(interface: 0, ticks: UInt64(time) + 7, data)
        file.enhancedPacket(interface: 1, ticks: UInt64(time) * 1000 + 8999, data)
        file.enhancedPacket(interface: 2, ticks: UInt64(seconds) << 10 | 512, reset)
        file.enhancedPacket(interface: 3, ticks: 100_000_000_250, [0, 9, 0, 2] + reset.dropFirst())
        file.enhancedPacket(interface: 4, ticks: 1, [1, 2, 3, 4, 5, 6])
        file.block(3) {
            $0.u32(UInt32(data.count))
            $0.raw(data)
        }
        file.block(2) {
            $0.u16(1)
            $0.u16(42)
            $0.u32(UInt32((UInt64(time) * 1000) >> 32))
            $0.u32(UInt32(truncatingIfNeeded: UInt64(time) * 1000))
            $0.u32(8)
            $0.u32(8)
            $0.raw([0, 0, 0, 0] + reset)
        }
        let reading = Reading(file.bytes)
        #expect(reading.errors == [])
        #expect(reading.format == .pcapng)
        #expect(
            reading.records == [
                Recorded(.packet(.controllerToHost), complete, at: time + 7),
                Recorded(.packet(.controllerToHost), complete, at: time + 8, adapter: 1),
                Recorded(.packet(.hostToController), reset, at: time + 500_000, adapter: 5),
                Recorded(.packet(.hostToController), reset, at: time + 250_000, adapter: 9),
                Recorded(.packet(.controllerToHost), complete, at: time + 250_000),
                Recorded(.packet(.hostToController), reset, at: time, adapter: 1),
            ])
    }

    @Test("packets of another kind of interface are skipped and counted")
    func foreignInterfaces() throws {
        var file = FileBuilder(bigEndian: false)
        file.section()
        file.interface(link: 1)
        file.interface(link: 201)
        for _ in 0..<5 { file.enhancedPacket(ticks: 1, [1, 2, 3]) }
        var reader = try CaptureReader(bytes: file.bytes)
        let isOver = try reader.next() == nil
        #expect(isOver)
        #expect(reader.foreignRecordCount == 5)
    }

    @Test("an interface description that is too long or too short still counts as an interface")
    func oddDescriptions() {
        var file = FileBuilder(bigEndian: false)
        file.section()
        file.interface(link: 187, options: (0..<3).map { _ in (1, [UInt8](repeating: 0x61, count: 65_000)) })
        file.block(1) { $0.u32(187) }
        file.interface(link: 201)
        file.enhancedPacket(interface: 2, ticks: 1, [0, 0, 0, 0] + reset)
        file.enhancedPacket(interface: 0, ticks: 2, reset)
        file.enhancedPacket(interface: 1, ticks: 3, reset)
        let reading = Reading(file.bytes)
        #expect(reading.records.map(\.time) == [1, 2])
        #expect(reading.errors.isEmpty)
    }

    @Test("whether a file holds notes of the Linux monitor is known before its first record")
    func monitorIsKnown() throws {
        for (link, holds) in [(UInt16(254), true), (201, false)] {
            var file = FileBuilder(bigEndian: true)
            file.section()
            file.interface(link: link)
            file.enhancedPacket(ticks: 1, [0, 0, 0, 0, 1, 3, 12, 0])
            let reader = try CaptureReader(bytes: file.bytes)
            let isKnown = reader.holdsMonitorRecords
            #expect(isKnown == holds)
        }
    }

    @Test("sections follow each other in different orders, each with its own interfaces")
    func sections() {
        var file = FileBuilder(bigEndian: false)
        file.section()
        file.interface(link: 187)
        file.enhancedPacket(ticks: 1, reset)
        file.isBigEndian = true
        file.section(length: 1000)
        file.enhancedPacket(ticks: 2, reset)
        file.interface(link: 201)
        file.enhancedPacket(ticks: 3, [0, 0, 0, 1] + complete)
        let reading = Reading(file.bytes)
        #expect(reading.records.map(\.time) == [1, 3])
        #expect(reading.errors.map(\.reason) == [.unknownInterface(0)])
    }

    @Test("the flags of a packet tell the direction where the link type does not")
    func flags() {
        var file = FileBuilder(bigEndian: false)
        file.section()
        file.interface(link: 187)
        let data: [UInt8] = [0x02, 0x40, 0x20, 0x01, 0x00, 0xCC]
        file.enhancedPacket(ticks: 1, data, options: [(1, [0x68]), (2, file.octets(UInt32(2)))])
        file.enhancedPacket(ticks: 2, data, options: [(2, file.octets(UInt32(1)))])
        file.enhancedPacket(ticks: 3, data)
        #expect(
            Reading(file.bytes).records.map(\.content) == [
                .packet(.hostToController), .packet(.controllerToHost), .packet(.controllerToHost),
            ])
    }

    @Test("clocks of every resolution count without trapping, and known ones exactly")
    func clocks() {
        for octet in UInt8.min...UInt8.max {
            var clock = PcapNGClock()
            clock.setResolution(octet)
            for ticks in [0, 1, 1 << 32, UInt64.max] {
                clock.offsetSeconds = .max
                _ = clock.microseconds(ticks)
                clock.offsetSeconds = 0
                _ = clock.microseconds(ticks)
            }
        }
        func microseconds(_ octet: UInt8, _ ticks: UInt64) -> Int64 {
            var clock = PcapNGClock()
            clock.setResolution(octet)
            return clock.microseconds(ticks)
        }
        #expect(microseconds(0, 5) == 5_000_000)
        #expect(microseconds(3, 5) == 5000)
        #expect(microseconds(6, 5) == 5)
        #expect(microseconds(9, 5999) == 5)
        #expect(microseconds(12, 5_999_999) == 5)
        #expect(microseconds(0x80, 5) == 5_000_000)
        #expect(microseconds(0x80 | 32, 5 << 32 | 1 << 31) == 5_500_000)
        #expect(microseconds(0x80 | 63, 1 << 63) == 1_000_000)
        #expect(microseconds(0x80 | 64, 1 << 63) == 500_000)
    }

    // MARK: PacketLogger

    @Test("PacketLogger in either order: packets and notes", arguments: [true, false])
    func packetLogger(bigEndian: Bool) {
        let data: [UInt8] = [0x40, 0x00, 0x01, 0x00, 0xCC]
        let voice: [UInt8] = [0x01, 0x00, 0x01, 0xDD]
        var file = FileBuilder(bigEndian: bigEndian)
        file.packetLogger(seconds: seconds, microseconds: 1, type: 0x00, Array(reset.dropFirst()))
        file.packetLogger(seconds: seconds, microseconds: 2, type: 0x01, Array(complete.dropFirst()))
        file.packetLogger(seconds: seconds, microseconds: 3, type: 0x02, data)
        file.packetLogger(seconds: seconds, microseconds: 4, type: 0x03, data)
        file.packetLogger(seconds: seconds, microseconds: 5, type: 0x08, voice)
        file.packetLogger(seconds: seconds, microseconds: 6, type: 0x09, voice)
        file.packetLogger(seconds: seconds, microseconds: 7, type: 0xFC, [UInt8]("note".utf8))
        file.packetLogger(seconds: seconds, microseconds: 999_999, type: 0x0A, [1])
        let reading = Reading(file.bytes)
        #expect(reading.errors == [])
        #expect(reading.format == .packetLogger)
        #expect(
            reading.records == [
                Recorded(.packet(.hostToController), reset, at: time + 1),
                Recorded(.packet(.controllerToHost), complete, at: time + 2),
                Recorded(.packet(.hostToController), [2] + data, at: time + 3),
                Recorded(.packet(.controllerToHost), [2] + data, at: time + 4),
                Recorded(.packet(.hostToController), [3] + voice, at: time + 5),
                Recorded(.packet(.controllerToHost), [3] + voice, at: time + 6),
                Recorded(.note(.packetLogger(0xFC)), [UInt8]("note".utf8), at: time + 7),
                Recorded(.note(.packetLogger(0x0A)), [1], at: time + 999_999),
            ])
    }

    // MARK: btsnoop

    @Test("btsnoop 1001 takes the type from the flags")
    func unencapsulated() {
        var file = FileBuilder.btsnoop(datalink: 1001)
        let epoch: UInt64 = 0x00DC_DDB3_0F2F_8000
        file.btsnoopRecord(flags: 2, time: epoch + 1, Array(reset.dropFirst()))
        file.btsnoopRecord(flags: 3, time: epoch + 2, Array(complete.dropFirst()))
        file.btsnoopRecord(flags: 0, time: epoch + 3, [0x40, 0, 0, 0])
        file.btsnoopRecord(flags: 1, time: epoch + 4, [0x40, 0x20, 0, 0])
        #expect(
            Reading(file.bytes).records == [
                Recorded(.packet(.hostToController), reset, at: 1),
                Recorded(.packet(.controllerToHost), complete, at: 2),
                Recorded(.packet(.hostToController), [2, 0x40, 0, 0, 0], at: 3),
                Recorded(.packet(.controllerToHost), [2, 0x40, 0x20, 0, 0], at: 4),
            ])
    }

    @Test("btsnoop counts from the year 0: its 2000-01-01 is ours, and times before 1970 are negative")
    func epoch() {
        var file = FileBuilder.btsnoop(datalink: 1002)
        file.btsnoopRecord(flags: 2, time: 0x00E0_3AB4_4A67_6000, reset)
        file.btsnoopRecord(flags: 2, time: 0x00DC_DDB3_0F2F_8000 - 1, reset)
        #expect(Reading(file.bytes).records.map(\.time) == [946_684_800_000_000, -1])
    }

    @Test("every opcode of the monitor is read as its packet or note")
    func monitorOpcodes() {
        var file = FileBuilder.btsnoop(datalink: 2001)
        for opcode in 0...25 as ClosedRange<UInt32> {
            file.btsnoopRecord(flags: 4 << 16 | opcode, time: 0x00DC_DDB3_0F2F_8000, [0xAB])
        }
        let expected = (0...25 as ClosedRange<UInt16>).map { number in
            let opcode = MonitorOpcode(rawValue: number)
            guard let (type, direction) = opcode.packet else {
                return Recorded(.note(.monitor(opcode)), [0xAB], at: 0, adapter: 4)
            }
            #expect(MonitorOpcode(type: type, direction: direction) == opcode)
            return Recorded(.packet(direction), [type.rawValue, 0xAB], at: 0, adapter: 4)
        }
        #expect(Reading(file.bytes).records == expected)
        #expect(expected.filter { if case .packet = $0.content { true } else { false } }.count == 8)
    }

    @Test("packets that the capture program lost are reported")
    func drops() throws {
        var file = FileBuilder.btsnoop(datalink: 1002)
        file.btsnoopRecord(flags: 2, time: 0, drops: 17, reset)
        var reader = try CaptureReader(bytes: file.bytes)
        while try reader.next() != nil {}
        #expect(reader.droppedPacketCount == 17)
        #expect(reader.recordCount == 1)
    }
}
