import BLECapture
import Testing

@testable import BLEDecoder

/// What controllers, drivers and capture programs put beside the packets of HCI: named, and without its octets.
@Suite("Records of vendors in a capture")
struct VendorTraceTests {
    private static let secret: [UInt8] = [0xDE, 0xAD, 0xBE, 0xEF, 0xDE, 0xAD, 0xBE, 0xEF]

    private func decoded(_ bytes: [UInt8], _ style: DecodingStyle) throws -> [String] {
        var reader = try CaptureReader(bytes: bytes)
        var decoder = CaptureDecoder(style: style)
        while let record = try reader.next() { decoder.decode(record) }
        return unsafe decoder.output.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
            .split(separator: "\n").map(String.init)
    }

    private func summary(_ bytes: [UInt8]) throws -> CaptureSummary {
        var reader = try CaptureReader(bytes: bytes)
        var summary = CaptureSummary()
        while let record = try reader.next() { summary.count(record) }
        return summary
    }

    /// Read Local Version Information is complete: a controller of this company.
    private static func version(_ company: UInt16) -> [UInt8] {
        [4, 0x0E, 12, 1, 0x01, 0x10, 0, 0x0B, 0, 0, 0x0B, UInt8(company & 0xFF), UInt8(company >> 8), 0, 0]
    }

    private static func event(_ parameters: [UInt8]) -> [UInt8] { [4, 0xFF, UInt8(parameters.count)] + parameters }

    struct Trace: Sendable, CustomTestStringConvertible {
        var vendor: String
        var packets: [[UInt8]]
        var testDescription: String { vendor }
    }

    private static let traces: [Trace] = [
        .init(vendor: "Qualcomm, log", packets: [[2, 0xDC, 0x2E, 8, 0] + secret]),
        .init(vendor: "Qualcomm, memory dump", packets: [[2, 0xDD, 0x2E, 8, 0] + secret]),
        .init(vendor: "MediaTek, log", packets: [[2, 0xFF, 0x05, 8, 0] + secret]),
        .init(vendor: "MediaTek, memory dump", packets: [[2, 0x6F, 0xFC, 8, 0] + secret]),
        .init(vendor: "Intel, telemetry", packets: [event([0x87, 0x80, 0x03] + secret)]),
        .init(vendor: "Intel, telemetry", packets: [version(2), event([0x29] + secret)]),
        .init(vendor: "Intel, trace", packets: [version(2), event([0x17] + secret)]),
        .init(vendor: "Intel, trace", packets: [version(2), event([0x2C] + secret)]),
        .init(vendor: "Realtek, memory dump", packets: [version(0x5D), event([0x34] + secret)]),
        .init(
            vendor: "Broadcom, diagnostics of the link manager",
            packets: [[7] + secret + [UInt8](repeating: 0, count: 55)]),
        .init(vendor: "Linux, diagnostics", packets: [[0xF0] + secret]),
        .init(vendor: "Linux, specific to a vendor", packets: [[0xFF] + secret]),
    ]

    @Test("each is named by its vendor, and its octets are in no form of the output", arguments: traces)
    func named(trace: Trace) throws {
        let bytes = CaptureBytes.btsnoop(trace.packets) { _ in true }
        let text = try decoded(bytes, .text(isColoured: false))
        #expect(text.contains("      Vendor: \(trace.vendor)"))
        #expect(text.contains("      Data: (withheld)"))
        let json = try #require(try decoded(bytes, .json).last)
        #expect(json.contains("\"vendor\":\"\(trace.vendor)\"") && json.contains("\"data\":\"(withheld)\""))
        #expect(!(text + [json]).contains { $0.contains("deadbeef") })
        let summary = try summary(bytes)
        #expect(summary.malformed == 0 && summary.frames == trace.packets.count)
        #expect(try decoded(bytes, .text(isColoured: false)).allSatisfy { !$0.contains("Malformed") })
    }

    @Test("cut by the capture program or longer than it says, it does not show its octets either", arguments: traces)
    func damaged(trace: Trace) throws {
        guard var packet = trace.packets.last, packet[0] == 2 || packet[0] == 4 else { return }
        packet.append(0xDE)
        let bytes = CaptureBytes.btsnoop(trace.packets.dropLast() + [packet]) { _ in true }
        #expect(!(try decoded(bytes, .text(isColoured: false))).contains { $0.contains("deadbeef") })
        #expect(!(try decoded(bytes, .json)).contains { $0.contains("deadbeef") })
    }

    @Test("an event that other vendors may send likewise is named only if the controller's company is known")
    func otherCompany() throws {
        for packets in [[Self.event([0x34, 1])], [Self.version(0x0F), Self.event([0x34, 1])]] {
            let text = try decoded(CaptureBytes.btsnoop(packets) { _ in true }, .text(isColoured: false))
            #expect(!text.contains { $0.contains("Vendor:") })
        }
        // As the Linux monitor says it of an adapter, and of no other one.
        let monitor = CaptureBytes.monitor([
            (10, 1, [1, 2, 3, 4, 5, 6, 0x5D, 0]), (3, 1, [0xFF, 2, 0x34, 1]), (3, 2, [0xFF, 2, 0x34, 1]),
        ])
        let text = try decoded(monitor, .text(isColoured: false))
        #expect(text.count { $0 == "      Vendor: Realtek, memory dump" } == 1)
    }

    @Test("diagnostics of the Linux monitor show their length; a packet of another type shows what cannot be a key")
    func monitorDiagnostics() throws {
        let monitor = CaptureBytes.monitor([(11, 0, Self.secret)])
        let text = try decoded(monitor, .text(isColoured: false))
        #expect(text.contains { $0.contains("Vendor Diagnostic") } && text.contains("      Length: 8"))
        #expect(!text.contains { $0.contains("deadbeef") })
        let other = try decoded(CaptureBytes.btsnoop([[0x31, 1]]), .text(isColoured: false))
        #expect(other.contains { $0.contains("Packet of unknown type") })
    }

    @Test("records of PacketLogger that hold no packet have names; texts are shown without keys")
    func packetLogger() throws {
        let records: [(UInt8, [UInt8], String)] = [
            (0xFC, Array("hello\0".utf8), "Note"), (0xFE, Array("Controller\0".utf8), "New Controller"),
            (0xF7, Array("log \(String(repeating: "0123456789abcdef", count: 2))".utf8), "System Log"),
            (0x0B, Self.secret, "Received LMP Data"), (0xFD, Self.secret, "Configuration"),
            (0xF0, Self.secret, "PacketLogger Note"),
        ]
        var bytes: [UInt8] = []
        for (type, octets, _) in records {
            bytes += [0, 0, 0, UInt8(9 + octets.count), 0x65, 0, 0, 0, 0, 0, 0, 1, type] + octets
        }
        let text = try decoded(bytes, .text(isColoured: false))
        for (_, _, name) in records { #expect(text.contains { $0.hasSuffix("note    \(name)") }) }
        #expect(text.contains(#"      Text: "hello""#) && text.contains(#"      Text: "log (withheld)""#))
        #expect(!text.contains { $0.contains("deadbeef") || $0.contains("0123456789abcdef") })
    }
}
