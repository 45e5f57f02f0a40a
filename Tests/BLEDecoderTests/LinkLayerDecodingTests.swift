import BLECapture
import Testing

@testable import BLEDecoder

/// What a sniffer received (link type 256), as text, as JSON and counted.
@Suite("Decoding the link layer")
struct LinkLayerDecodingTests {
    private static let accessAddress: [UInt8] = [0x2B, 0x4A, 0x65, 0x50]
    private static let central: [UInt8] = [2, 0, 0, 0, 0xDE, 0xC0]
    private static let peripheral: [UInt8] = [1, 0, 0, 0, 0xDE, 0xC0]

    /// Who sent a packet, as link type 256 says it.
    private enum Way: UInt16 {
        case advertising = 0
        case auxiliary = 1
        case fromCentral = 2
        case fromPeripheral = 3
    }

    /// A record: channel (by its frequency: 0, 12 and 39 are those of advertising), signal, flags, and the packet with its
    /// access address and CRC.
    private static func record(
        _ octets: [UInt8], channel: UInt8 = 0, way: Way = .advertising, crc: UInt16 = 0x0C00, phy: UInt16 = 0
    ) -> [UInt8] {
        let flags = 0x0003 | way.rawValue << 7 | crc | phy << 14
        return [channel, UInt8(bitPattern: -61), 0, 0, 0xD6, 0xBE, 0x89, 0x8E, UInt8(flags & 0xFF), UInt8(flags >> 8)]
            + octets + [0, 0, 0]
    }

    private static func advertising(_ header: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xD6, 0xBE, 0x89, 0x8E, header, UInt8(content.count)] + content
    }

    private static func data(_ header: UInt8, _ content: [UInt8]) -> [UInt8] {
        accessAddress + [header, UInt8(content.count)] + content
    }

    private static let request: [UInt8] = {
        let link: [UInt8] = accessAddress + [0xC5, 0xA3, 0x17, 1, 2, 0, 24, 0, 3, 0, 72, 0]
        return record(
            advertising(0xC5, central + peripheral + link + [0xFF, 0xFF, 0xFF, 0xFF, 0x1F, 0x25]), channel: 39)
    }()

    private static func pcap(_ records: [[UInt8]]) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
        var bytes = number(0xA1B2_C3D4) + [2, 0, 4, 0] + number(0) + number(0) + number(65_535) + number(256)
        for (index, record) in records.enumerated() {
            bytes += number(1_700_000_000) + number(index * 15_000) + number(record.count) + number(record.count)
            bytes += record
        }
        return bytes
    }

    private func decoded(
        _ records: [[UInt8]], style: DecodingStyle = .text(isColoured: false)
    ) throws -> [String] {
        var reader = try CaptureReader(bytes: Self.pcap(records))
        var decoder = CaptureDecoder(style: style, filter: DecodingFilter())
        while true {
            do throws(CaptureError) {
                guard let record = try reader.next() else { break }
                decoder.decode(record)
            } catch {
                // A record that is too short for its link type costs only itself.
                if error.isFinal { throw error }
            }
        }
        return unsafe decoder.output.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
            .split(separator: "\n").map(String.init)
    }

    private func has(_ lines: [String], _ texts: String...) -> Bool {
        texts.allSatisfy { text in lines.contains { $0.contains(text) } }
    }

    @Test("advertising has its PDU, its channel, its signal, its address and what is in its data")
    func advertising() throws {
        let records = [
            Self.record(Self.advertising(0x40, Self.peripheral + [2, 1, 6, 5, 9, 72, 114, 105, 49])),
            Self.record(Self.advertising(0xC3, Self.central + Self.peripheral), channel: 12),
            Self.record(Self.advertising(0x41, Self.peripheral + Self.central), channel: 39),
        ]
        let lines = try decoded(records)
        #expect(has(lines, "ADV_IND", "Channel: 37", "RSSI: -61 dBm", "C0:DE:00:00:00:01", "Hri1"), "\(lines)")
        #expect(has(lines, "SCAN_REQ", "ADV_DIRECT_IND", "C0:DE:00:00:00:02"), "\(lines)")
        let json = try decoded(records, style: .json)
        #expect(json.count == 3 && json[0].contains(#""channel":37"#) && json[0].contains(#""rssi":-61"#), "\(json)")
    }

    @Test("a request to connect opens a connection: its data are ATT, and a packet that is sent again is no second one")
    func connection() throws {
        let read: [UInt8] = [3, 0, 4, 0, 0x0A, 3, 0]
        let records = [
            Self.request, Self.record(Self.data(0x02, read), way: .fromCentral),
            Self.record(Self.data(0x02, read), way: .fromCentral),
            Self.record(Self.data(0x01, []), way: .fromPeripheral),
            Self.record(Self.data(0x0A, [2, 0, 4, 0, 0x0B, 7]), way: .fromPeripheral),
        ]
        let lines = try decoded(records)
        #expect(has(lines, "CONNECT_IND", "0x50654a2b", "0x17a3c5", "Interval: 30 ms", "Timeout: 720 ms"), "\(lines)")
        #expect(lines.count { $0.contains("ATT Read Request") } == 1, "\(lines)")
        #expect(has(lines, "sent again", "Empty PDU"), "\(lines)")
        #expect(has(lines, "ATT Read Response"), "\(lines)")
    }

    @Test("control PDUs have their names and fields, each of the specification's, whole or cut")
    func control() throws {
        var records = [Self.request]
        for opcode: UInt8 in 0...45 {
            for count in [0, 1, 26] {
                // The start of encryption would hide what follows.
                guard ![0x02, 0x03, 0x04, 0x05, 0x06].contains(opcode) else { continue }
                let header: UInt8 = UInt8(records.count % 2) << 3 | 0x03
                records.append(
                    Self.record(
                        Self.data(header, [opcode] + [UInt8](repeating: 1, count: count)),
                        way: records.count % 2 == 0 ? .fromCentral : .fromPeripheral))
            }
        }
        let lines = try decoded(records)
        #expect(
            has(
                lines, "LL_CONNECTION_UPDATE_IND", "LL_CHANNEL_MAP_IND", "LL_FEATURE_REQ", "LL_VERSION_IND",
                "LL_REJECT_EXT_IND", "LL_LENGTH_REQ", "LL_PHY_UPDATE_IND", "LL_SUBRATE_IND", "LL_PERIODIC_SYNC_WR_IND",
                "Unknown control PDU", "Instant: 257"), "\(lines.suffix(20))")
        #expect(lines.count { $0.contains("it ends within its fields") } > 20)
        #expect(try decoded(records, style: .json).count == records.count)
        for opcode: UInt8 in 0...42 { #expect(LinkLayerControlTable.name(of: opcode) != nil) }
        #expect(LinkLayerControlTable.name(of: 43) == nil && LinkLayerControlTable.fields(of: 200) == nil)
    }

    @Test("what is encrypted without a key, and what has a wrong CRC, is said and not guessed")
    func hidden() throws {
        let records = [
            Self.request,
            Self.record(Self.data(0x03, [3] + [UInt8](repeating: 1, count: 22)), way: .fromCentral),
            Self.record(Self.data(0x07, [4] + [UInt8](repeating: 2, count: 12)), way: .fromPeripheral),
            Self.record(Self.data(0x0F, [5]), way: .fromPeripheral),
            Self.record(Self.data(0x0A, [3, 0, 4, 0, 0x0A, 3, 0, 1, 1, 1, 1]), way: .fromCentral),
            Self.record(Self.data(0x02, [3, 0, 4, 0, 0x0A, 3, 0]), way: .fromCentral, crc: 0x0400),
        ]
        let lines = try decoded(records)
        #expect(has(lines, "LL_ENC_REQ", "LL_ENC_RSP", "LL_START_ENC_REQ", "Encrypted PDU"), "\(lines)")
        #expect(has(lines, "Damaged packet", "CRC: wrong") && !has(lines, "ATT Read Request"), "\(lines)")
    }

    @Test("extended advertising has its set, the place of its continuation, and its data")
    func extended() throws {
        // ADV_EXT_IND: an extended header with ADI and AuxPtr; AUX_ADV_IND: AdvA, ADI and data.
        let pointer = Self.advertising(0x07, [6, 0x18, 0x34, 0x12, 0x85, 0x0A, 0x20])
        let content: [UInt8] = [9, 0x09] + Self.peripheral + [0x34, 0x12, 3, 8, 72, 105]
        let records = [
            Self.record(pointer),
            Self.record(Self.advertising(0x47, content), channel: 6, way: .auxiliary, phy: 1),
        ]
        let lines = try decoded(records)
        #expect(has(lines, "ADV_EXT_IND", "AUX_ADV_IND", "Advertising Set: 1", "Data Identifier: 564"), "\(lines)")
        #expect(has(lines, "Next on channel: 5", "PHY: 2M", "Hi"), "\(lines)")
    }

    @Test("counts are those of what was received: PDUs, links, and ATT behind them")
    func counts() throws {
        let records = [
            Self.record(Self.advertising(0x40, Self.peripheral + [2, 1, 6])), Self.request,
            Self.record(Self.data(0x02, [3, 0, 4, 0, 0x0A, 3, 0]), way: .fromCentral),
            Self.record(Self.data(0x03, [0x02, 0x13]), way: .fromPeripheral),
        ]
        var reader = try CaptureReader(bytes: Self.pcap(records))
        var summary = CaptureSummary()
        while let record = try reader.next() { summary.count(record) }
        #expect(summary.linkLayer.packets == 4 && summary.linkLayer.advertising == 2 && summary.linkLayer.data == 2)
        #expect(summary.linkLayer.advertisingByName.map { "\($0.name) \($0.count)" } == ["ADV_IND 1", "CONNECT_IND 1"])
        #expect(summary.linkLayer.controlByOpcode == [.init(number: 2, count: 1)])
        #expect(summary.attByOpcode == [.init(number: 0x0A, count: 1)] && summary.malformed == 0)
    }

    @Test("octets of any kind are text, and each line of JSON is whole")
    func hostile() throws {
        var state: UInt64 = 38
        func next() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        var records = [Self.request]
        for index in 0..<3000 {
            let octets = (0..<Int(next() % 60)).map { _ in next() }
            switch index % 4 {
            case 0: records.append(Self.record(Self.data(next(), octets), channel: next() % 40, way: .fromCentral))
            case 1: records.append(Self.record(Self.advertising(next(), octets), channel: next() % 40))
            case 2: records.append(Self.record(Self.data(0x03, octets), way: .fromPeripheral))
            default: records.append(octets)
            }
        }
        #expect(try !decoded(records).isEmpty)
        let json = try decoded(records, style: .json)
        #expect(!json.isEmpty && json.allSatisfy { $0.hasPrefix("{") && $0.hasSuffix("}") })
    }
}
