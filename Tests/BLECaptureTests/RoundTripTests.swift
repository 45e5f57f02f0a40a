import Testing

@testable import BLECapture

@Suite("Captures written and read again")
struct RoundTripTests {
    static let formats: [CaptureFormat] = [.btsnoop, .btsnoopMonitor, .pcap, .pcapng, .packetLogger]

    @Test("packets, directions and times to the microsecond survive in each format", arguments: formats)
    func survive(format: CaptureFormat) throws {
        let packets = Sample.packets + (format == .packetLogger ? [] : Sample.isoPackets)
        let reading = Reading(try written(packets, as: format))
        #expect(reading.errors == [])
        #expect(reading.format == format)
        #expect(reading.records == packets)
    }

    @Test("commands, events and ACL data survive without their type octet in btsnoop 1001")
    func unencapsulated() throws {
        let packets = Array(Sample.packets.prefix(4))
        let reading = Reading(try written(packets + Sample.packets.suffix(2), as: .btsnoopUnencapsulated))
        #expect(reading.errors == [])
        #expect(reading.format == .btsnoopUnencapsulated)
        #expect(reading.records == packets)
    }

    @Test("a chain through all formats ends with the file that it began with")
    func chain() throws {
        let first = try written(Sample.packets, as: .btsnoop)
        var file = first
        for format in Self.formats + [.btsnoop] { file = try written(Reading(file).records, as: format) }
        #expect(file == first)
    }

    @Test("nanoseconds in pcap and pcapng keep the microseconds", arguments: [CaptureFormat.pcap, .pcapng])
    func nanoseconds(format: CaptureFormat) throws {
        let fine = try written(Sample.packets, as: format, resolution: .nanoseconds)
        #expect(fine != (try written(Sample.packets, as: format)))
        #expect(Reading(fine).records == Sample.packets)
    }

    @Test("the notes of the Linux monitor keep opcode, payload and adapter")
    func notes() throws {
        let records = Sample.monitorNotes + Sample.packets
        #expect(Reading(try written(records, as: .btsnoopMonitor)).records == records)
    }

    @Test("formats without notes omit them and count them", arguments: [CaptureFormat.btsnoop, .pcap])
    func notesAreCounted(format: CaptureFormat) throws {
        try withTemporaryPath { path in
            var writer = try CaptureWriter(path: path, format: format)
            for note in Sample.monitorNotes { #expect(try !append(note, to: &writer)) }
            try writer.close()
            #expect(writer.unrepresentableCount == UInt64(Sample.monitorNotes.count))
            #expect(writer.recordCount == 0)
            #expect(Reading(path: path).records.isEmpty)
        }
    }

    @Test("PacketLogger keeps its own notes, and cannot hold ISO data")
    func packetLoggerNotes() throws {
        let note = Recorded(.note(.packetLogger(0xFC)), [UInt8]("hello".utf8), at: Sample.start)
        let reading = Reading(try written([note] + Sample.isoPackets, as: .packetLogger))
        #expect(reading.records == [note])
    }

    @Test(
        "adapters stay separate in pcapng and btsnoop of the monitor",
        arguments: [CaptureFormat.pcapng, .btsnoopMonitor])
    func adapters(format: CaptureFormat) throws {
        let adapters: [UInt16] = [7, 0, 300, 7, 0]
        let packets = zip(Sample.packets, adapters).map { packet, adapter in
            var packet = packet
            packet.adapter = adapter
            return packet
        }
        #expect(Reading(try written(packets, as: format)).records == packets)
    }

    @Test("a truncated packet stays marked as truncated", arguments: formats.filter { $0 != .packetLogger })
    func shortened(format: CaptureFormat) throws {
        let packet = Recorded(
            .packet(.controllerToHost), [0x02, 0x40, 0x20, 0x1B, 0x00], at: Sample.start, original: 32)
        #expect(Reading(try written([packet], as: format)).records == [packet])
    }

    @Test("packets without octets and of unknown types survive in the formats with H4 packets")
    func oddPackets() throws {
        let odd = [
            Recorded(.packet(.hostToController), [], at: Sample.start),
            Recorded(.packet(.controllerToHost), [0xFF, 1, 2, 3], at: Sample.start),
        ]
        for format in [CaptureFormat.btsnoop, .pcap, .pcapng] {
            #expect(Reading(try written(odd, as: format)).records == odd)
        }
        for format in [CaptureFormat.btsnoopMonitor, .packetLogger, .btsnoopUnencapsulated] {
            #expect(Reading(try written(odd, as: format)).records.isEmpty)
        }
    }

    @Test("times outside a format's years become the nearest that it can hold")
    func extremeTimes() throws {
        for time in [Int64.min, -1, 0, 1 << 52, .max] {
            let packet = Recorded(.packet(.hostToController), [0x01, 0x03, 0x0C, 0x00], at: time)
            for format in Self.formats {
                let records = Reading(try written([packet], as: format)).records
                #expect(records.count == 1)
                #expect(records.first?.bytes == packet.bytes)
                if format == .btsnoop { #expect(records.first?.time == time) }
            }
        }
    }

    @Test("the ending of a file names its format (DESIGN 6, -w FILE)")
    func endings() {
        #expect(CaptureFormat(ending: "a/b.btsnoop") == .btsnoop)
        #expect(CaptureFormat(ending: "b.snoop") == .btsnoop)
        #expect(CaptureFormat(ending: "btsnoop_hci.LOG") == .btsnoop)
        #expect(CaptureFormat(ending: "b.pcap") == .pcap)
        #expect(CaptureFormat(ending: "b.pcap.pcapng") == .pcapng)
        #expect(CaptureFormat(ending: "b.PKLG") == .packetLogger)
        #expect(CaptureFormat(ending: "b.txt") == nil)
        #expect(CaptureFormat(ending: "pcap") == nil)
        #expect(CaptureFormat(ending: "") == nil)
        #expect(CaptureFormat(ending: "b.") == nil)
    }
}
