import BLECapture
import Testing

@testable import BLEDecoder

@Suite("Counting a capture")
struct CaptureSummaryTests {
    /// An LE link's data packets, all on handle 0x0040 from the host.
    private func acl(_ flags: UInt16, _ data: [UInt8]) -> [UInt8] {
        let field = 0x0040 | flags << 12
        return [2, UInt8(field & 0xFF), UInt8(field >> 8), UInt8(data.count), 0] + data
    }

    @Test("an ATT PDU in fragments counts once, when it is complete")
    func fragments() throws {
        var summary = CaptureSummary()
        try summary.countAll([
            acl(0, [0x03, 0x00, 0x04]), acl(1, [0x00]), acl(1, [0x0A, 0x12]), acl(1, [0x00]),
            acl(0, [0x07, 0x00, 0x04, 0x00, 0x1B]),
        ])
        #expect(summary.frames == 5)
        #expect(summary.aclPackets == 5)
        #expect(summary.attByOpcode == [.init(number: 0x0A, count: 1)])
        #expect(summary.l2capByChannel == [.init(number: 4, count: 1)])
        #expect(summary.malformed == 0)
    }

    @Test("a continuation without a start, and fragments that are too long, are malformed")
    func brokenFragments() throws {
        var summary = CaptureSummary()
        try summary.countAll([acl(1, [0x0A]), acl(0, [0x03, 0x00, 0x04]), acl(1, [0, 0x0A, 0x12, 0, 0, 0])])
        #expect(summary.malformed == 2)
        #expect(summary.attByOpcode == [])
    }

    @Test("advertisers are told apart by address, in each kind of report")
    func advertisers() throws {
        let legacy: [UInt8] = [4, 0x3E, 12, 2, 1, 0, 1, 1, 2, 3, 4, 5, 6, 0, 0xC0]
        let extended: [UInt8] =
            [4, 0x3E, 26, 0x0D, 1, 0x13, 0, 1, 6, 5, 4, 3, 2, 1] + [1, 0, 0xFF, 127, 0xC0, 0, 0] + [
                0, 0, 0, 0, 0, 0, 0,
            ]
            + [0]
        var summary = CaptureSummary()
        try summary.countAll([legacy, legacy, extended])
        #expect(summary.advertisingReportEvents == 3)
        #expect(summary.distinctAdvertisers == 2)
        #expect(summary.malformed == 0)
    }

    @Test("a report with malformed advertising data is malformed, its address counts")
    func malformedAdvertisingData() throws {
        let report: [UInt8] = [4, 0x3E, 15, 2, 1, 0, 1, 1, 2, 3, 4, 5, 6, 3, 2, 0xFF, 3, 0xC0]
        var summary = CaptureSummary()
        try summary.countAll([report])
        #expect(summary.malformed == 1)
        #expect(summary.distinctAdvertisers == 1)
    }

    @Test("advertisers are listed with their reports, strongest signal and name, those with the most reports first")
    func listedAdvertisers() throws {
        func report(_ address: UInt8, _ type: UInt8, _ data: [UInt8], _ rssi: Int8) -> [UInt8] {
            let report =
                [2, 1, type, 1, address, 2, 3, 4, 5, 0xC6, UInt8(data.count)] + data + [UInt8(bitPattern: rssi)]
            return [4, 0x3E, UInt8(report.count)] + report
        }
        // An extended report, of a device that does not accept connections.
        let extended: [UInt8] =
            [0x0D, 1, 0, 0, 0, 7, 2, 3, 4, 5, 6, 1, 0, 0xFF, 127] + [UInt8(bitPattern: -41)]
            + [UInt8](repeating: 0, count: 10)
        var summary = CaptureSummary()
        try summary.countAll([
            report(9, 0, [3, 9, 0x48, 0x69], -70), report(9, 4, [2, 1, 6], -50), report(9, 0, [], 127),
            [4, 0x3E, UInt8(extended.count)] + extended,
        ])
        #expect(
            summary.advertisers == [
                .init(
                    address: 0xC605_0403_0209, addressType: 1, reports: 3, strongestRSSI: -50, isConnectable: true,
                    name: "Hi"),
                .init(
                    address: 0x0605_0403_0207, addressType: 0, reports: 1, strongestRSSI: -41, isConnectable: false,
                    name: nil),
            ])
    }

    @Test("names are without the zeros that fill a field")
    func paddedNames() throws {
        func report(_ address: UInt8, _ data: [UInt8]) -> [UInt8] {
            [4, 0x3E, UInt8(12 + data.count), 2, 1, 0, 1, address, 2, 3, 4, 5, 0xC6, UInt8(data.count)] + data + [0xC0]
        }
        var summary = CaptureSummary()
        try summary.countAll([report(1, [5, 9, 0x48, 0x69, 0, 0]), report(2, [4, 9, 0, 0, 0])])
        #expect(summary.advertisers.map(\.name) == ["Hi", nil])
    }

    @Test("the set of addresses holds each address once, also after it has grown")
    func addressSet() {
        var addresses = AdvertiserTable()
        for _ in 0..<2 { for number in 0..<5000 as Range<UInt64> { addresses.insert(number << 24 | number) } }
        #expect(addresses.count == 5000)
        #expect(!addresses.isFull)
    }

    @Test("names beyond the limit are missing, and it says so; a kept one may still change")
    func manyNames() {
        var addresses = AdvertiserTable()
        func note(_ address: UInt64, _ data: [UInt8]) {
            addresses.note(address, isRandom: true, isConnectable: true, strength: nil, data: data.span.bytes)
        }
        let limit = UInt64(AdvertiserTable.maximumNameCount)
        for address in 0..<limit { note(address, [2, 8, 0x41]) }
        note(0, [3, 9, 0x41, 0x42])
        #expect(addresses.name(of: 0) == "AB")
        #expect(!addresses.hasLostNames)
        note(limit, [2, 9, 0x43])
        #expect(addresses.name(of: limit) == nil)
        #expect(addresses.hasLostNames)
    }
}

extension CaptureSummary {
    /// Counts packets as a capture would give them.
    mutating func countAll(_ packets: [[UInt8]]) throws {
        var reader = try CaptureReader(bytes: CaptureBytes.btsnoop(packets))
        while let record = try reader.next() { count(record) }
    }
}

/// Capture files in memory.
enum CaptureBytes {
    /// A btsnoop file of H4 packets, a microsecond apart; commands from the host, events to it, data as `isReceived`
    /// says.
    static func btsnoop(_ packets: [[UInt8]], isReceived: (Int) -> Bool = { _ in false }) -> [UInt8] {
        var file = Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 3, 0xEA]
        for (index, packet) in packets.enumerated() {
            let flags: UInt32 = packet.first == 4 || packet.first != 1 && isReceived(index) ? 1 : 0
            for word in [UInt32(packet.count), UInt32(packet.count), flags, 0] { file += bigEndian(word) }
            let time = 0x00DC_DDB3_0F2F_8000 + 1_700_000_000_000_000 + UInt64(index)
            file += bigEndian(UInt32(time >> 32)) + bigEndian(UInt32(truncatingIfNeeded: time)) + packet
        }
        return file
    }

    /// A btsnoop file of the Linux monitor's records: opcode, adapter and what they hold.
    static func monitor(_ records: [(opcode: UInt16, adapter: UInt16, octets: [UInt8])]) -> [UInt8] {
        var file = Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 7, 0xD1]
        for record in records {
            let count = UInt32(record.octets.count)
            for word in [
                count, count, UInt32(record.adapter) << 16 | UInt32(record.opcode), 0, 0x00DC_DDB3, 0x0F2F_8000,
            ] {
                file += bigEndian(word)
            }
            file += record.octets
        }
        return file
    }

    private static func bigEndian(_ word: UInt32) -> [UInt8] {
        [UInt8(word >> 24), UInt8(word >> 16 & 255), UInt8(word >> 8 & 255), UInt8(word & 255)]
    }
}
