import BLECapture
import Testing

@testable import BLEDecoder

@Suite("Decoding a capture")
struct CaptureDecoderTests {
    /// LE Enhanced Connection Complete: handle 0x0040, central, C0:DE:00:00:00:01 random.
    static let connected: [UInt8] =
        [4, 0x3E, 31, 0x0A, 0, 0x40, 0, 0, 1, 1, 0, 0, 0, 0xDE, 0xC0] + [UInt8](repeating: 0, count: 12)
        + [24, 0, 0, 0, 72, 0, 0]
    static let disconnected: [UInt8] = [4, 5, 4, 0, 0x40, 0, 0x13]

    static func frame(_ channel: UInt8, _ payload: [UInt8], flags: UInt8 = 0) -> [UInt8] {
        [2, 0x40, flags << 4, UInt8(payload.count + 4), 0, UInt8(payload.count), 0, channel, 0] + payload
    }

    private func lines(
        _ packets: [[UInt8]], received: Set<Int> = [], style: DecodingStyle = .text(isColoured: false),
        filter: DecodingFilter = DecodingFilter()
    ) throws -> [String] {
        var reader = try CaptureReader(bytes: CaptureBytes.btsnoop(packets) { received.contains($0) })
        var decoder = CaptureDecoder(style: style, filter: filter)
        while let record = try reader.next() { decoder.decode(record) }
        return unsafe decoder.output.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
            .split(separator: "\n").map(String.init)
    }

    @Test("a command shows its name and its fields with units")
    func command() throws {
        let lines = try lines([[1, 0x0B, 0x20, 7, 1, 0x60, 0, 0x30, 0, 1, 0]])
        #expect(lines[1] == "< 22:13:20.000000 #1 command LE Set Scan Parameters (0x200b)")
        #expect(lines[2...].contains("      LE Scan Type: active (0x01)"))
        #expect(lines[2...].contains("      LE Scan Interval: 60 ms"))
        #expect(lines[2...].contains("      Own Address Type: random (0x01)"))
    }

    @Test("of an extended report the target is shown where it is directed to one; JSON has the field always")
    func targets() throws {
        func report(_ target: UInt8) -> [UInt8] {
            [4, 0x3E, 29, 0x0D, 1, 0x13, 0, 1, 1, 0, 0, 0, 0xDE, 0xC0, 1, 0, 0xFF, 127, 0xCE, 0, 0]
                + [target == 0 ? 0 : 1, target, 0, 0, 0, 0, 0, 3, 2, 1, 6]
        }
        let undirected = try lines([report(0)], received: [0])
        #expect(!undirected.contains { $0.contains("Direct Address") })
        #expect(undirected.contains { $0.contains("Periodic Advertising Interval") })
        #expect(undirected.contains { $0.contains("Flags: 0x06") })
        let directed = try lines([report(7)], received: [0])
        #expect(directed.contains { $0.hasSuffix("Direct Address: 00:00:00:00:00:07") })
        #expect(directed.contains { $0.hasSuffix("Direct Address Type: random (0x01)") })
        let json = try lines([report(0)], received: [0], style: .json)
        #expect(json[0].contains(#""directAddressType":0,"#))
        #expect(json[0].contains(#""directAddress":"00:00:00:00:00:00""#))
    }

    @Test("a controller's log is its vendor's, not a connection's, and its octets are withheld")
    func traces() throws {
        let log: [UInt8] = [2, 0xDC, 0x2E, 7, 0, 3, 0, 4, 0, 0x0A, 3, 0]
        let text = try lines([log], received: [0])
        #expect(text[1] == "> 22:13:20.000000 #1 acl     Vendor diagnostics")
        #expect(
            text[2...] == [
                "      Handle: 0x0edc", "      Vendor: Qualcomm, log", "      Length: 7", "      Data: (withheld)",
            ])
        let json = try lines([log], received: [0], style: .json)
        #expect(json[0].contains(#""name":"Vendor diagnostics""#))
        #expect(json[0].contains(#""vendor":"Qualcomm, log","length":7,"data":"(withheld)""#))
        // Sent by a host it is data, as is what a connection with the handle receives.
        #expect(try lines([log])[1].contains("0x0edc ATT Read Request"))
        var connected = Self.connected
        (connected[5], connected[6]) = (0xDC, 0x0E)
        #expect(try lines([connected, log], received: [1]).contains { $0.contains("ATT Read Request") })
    }

    @Test("every time that a file can state is shown, as a distinct date")
    func times() throws {
        let dates: [(UInt64, String)] = [
            (0, "== -1-12-20 UTC\n< 00:00:00.000000"), (.max, "< 23:59:59.999999"), (1 << 63, "< "),
            ((1 << 63) - 1, "< "),
        ]
        for (time, expected) in dates {
            var bytes = CaptureBytes.btsnoop([[1, 3, 0x0C, 0]])
            for octet in 0..<8 { bytes[32 + octet] = UInt8(time >> UInt64(56 - 8 * octet) & 0xFF) }
            var reader = try CaptureReader(bytes: bytes)
            var decoder = CaptureDecoder(style: .text(isColoured: false))
            while let record = try reader.next() { decoder.decode(record) }
            let text = unsafe decoder.output.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
            #expect(text.contains(expected) && text.contains("Reset"), "\(text)")
        }
    }

    @Test("discovery gives names to handles; a response is paired with its request")
    func discovery() throws {
        let packets = [
            Self.connected,
            Self.frame(4, [0x08, 1, 0, 0xFF, 0xFF, 0x03, 0x28]),
            Self.frame(4, [0x09, 7, 0x11, 0, 0x10, 0x12, 0, 0x37, 0x2A], flags: 2),
            Self.frame(4, [0x0A, 0x12, 0]),
            Self.frame(4, [0x0B, 6, 64], flags: 2),
        ]
        let lines = try lines(packets, received: [2, 4])
        let read = "acl     0x0040 C0:DE:00:00:00:01 random ATT Read Re"
        #expect(lines.contains { $0.hasSuffix(read + "quest (0x0a) 0x0012 Heart Rate Measurement") })
        #expect(lines.contains { $0.hasSuffix(read + "sponse (0x0b) 0x0012 Heart Rate Measurement") })
        #expect(lines.contains("      Answers: #4 after 0.001 ms"))
        #expect(lines.contains("      Value: 0640 = Sensor Contact yes, Heart Rate 64 bpm"))
        #expect(lines.contains("        Properties: notify"))
    }

    @Test("a vendor's characteristic does not get the name of the member that owns its UUID; a service does")
    func memberNames() throws {
        let packets = [
            Self.connected, Self.frame(4, [0x10, 1, 0, 0xFF, 0xFF, 0x00, 0x28]),
            Self.frame(4, [0x11, 6, 0x10, 0, 0x12, 0, 0xF4, 0xFF], flags: 2),
            Self.frame(4, [0x08, 1, 0, 0xFF, 0xFF, 0x03, 0x28]),
            Self.frame(4, [0x09, 7, 0x11, 0, 0x10, 0x12, 0, 0xF4, 0xFF], flags: 2),
            Self.frame(4, [0x0A, 0x12, 0]),
        ]
        let lines = try lines(packets, received: [2, 4])
        #expect(lines.contains("        Service: FFF4 FiRa Consortium"))
        #expect(lines.contains("        Characteristic: FFF4"))
        #expect(lines.contains { $0.hasSuffix("ATT Read Request (0x0a) 0x0012 FFF4") })
    }

    @Test("what discovery found still applies when the device connects again")
    func reconnection() throws {
        let packets = [
            Self.connected, Self.frame(4, [0x08, 1, 0, 0xFF, 0xFF, 0x03, 0x28]),
            Self.frame(4, [0x09, 7, 0x11, 0, 0x10, 0x12, 0, 0x37, 0x2A], flags: 2), Self.disconnected, Self.connected,
            Self.frame(4, [0x1B, 0x12, 0, 6, 64], flags: 2),
        ]
        let lines = try lines(packets, received: [2, 5])
        #expect(lines.last { $0.contains("Notification") }?.hasSuffix("0x0012 Heart Rate Measurement") == true)
    }

    @Test("fragments are reassembled and shown with the last one")
    func fragments() throws {
        let lines = try lines([
            [2, 0x40, 0x00, 5, 0, 7, 0, 4, 0, 0x12], [2, 0x40, 0x10, 3, 0, 3, 0, 0x61],
            [2, 0x40, 0x10, 3, 0, 0x62, 0x63, 0x64],
        ])
        #expect(lines.count { $0.contains("ACL fragment") } == 2)
        #expect(lines.contains("      Value: 61626364 = \"abcd\""))
    }

    @Test(
        "keys and passkeys are never written, in text or JSON, intact or malformed",
        arguments: [DecodingStyle.text(isColoured: false), .json])
    func secrets(style: DecodingStyle) throws {
        let secret = [UInt8](repeating: 0xA7, count: 16)
        let packets: [[UInt8]] = [
            Self.frame(6, [0x06] + secret), Self.frame(6, [0x08] + secret), Self.frame(6, [0x0A] + secret),
            Self.frame(6, [0x04] + secret), Self.frame(6, [0x06] + secret.prefix(9)),
            Self.frame(6, [0x06] + secret + [0xA7]),
            [1, 0x19, 0x20, 28, 0x40, 0] + [UInt8](repeating: 0, count: 10) + secret,
            [1, 0x19, 0x20, 27, 0x40, 0] + [UInt8](repeating: 0, count: 9) + secret,
            [1, 0x1A, 0x20, 18, 0x40, 0] + secret,
            [1, 0x27, 0x20, 39] + [UInt8](repeating: 0, count: 7) + secret + secret,
            [1, 0x0B, 0x04, 22, 1, 2, 3, 4, 5, 6] + secret, [1, 0x11, 0x0C, 23, 1, 1, 2, 3, 4, 5, 6] + secret,
            [4, 0x18, 23, 1, 2, 3, 4, 5, 6] + secret + [4], [4, 0x18, 30, 1, 2, 3, 4, 5, 6] + secret + [4],
            [4, 0x33, 10, 1, 2, 3, 4, 5, 6, 0xA7, 0xA7, 0xA7, 0xA7], [4, 0x3E, 34, 0x09, 0] + secret + secret,
            [4, 0x0E, 12, 1, 0x18, 0x20, 0] + secret.prefix(8), [4, 0x0E, 12, 1, 0x18, 0x20, 1] + secret.prefix(8),
            [4, 0x3E, 19, 2, 1, 0, 1, 1, 2, 3, 4, 5, 6, 7, 6, 0x2D] + secret.prefix(5) + [0xC0],
            // Fragments of a frame that comes to nothing.
            [2, 0x40, 0x00, 9, 0, 17, 0, 6, 0, 6, 0xA7, 0xA7, 0xA7, 0xA7], [2, 0x40, 0x10, 14, 0] + secret.prefix(14),
        ]
        let text = try lines(packets, style: style).joined(separator: "\n")
        #expect(!text.contains("a7a7a7a7"))
        #expect(!text.contains("2812782503"))
        #expect(text.contains("withheld"))
    }

    @Test("BR/EDR channels are named by the protocol that was asked for")
    func classicChannels() throws {
        let asked = Self.frame(1, [0x02, 5, 4, 0, 1, 0, 0x41, 0])
        let answered = Self.frame(1, [0x03, 5, 8, 0, 0x52, 0, 0x41, 0, 0, 0, 0, 0], flags: 2)
        let lines = try lines([asked, answered, Self.frame(0x52, [1, 2, 3])], received: [1])
        #expect(lines.contains { $0.contains("L2CAP Connection Request (0x02)") })
        #expect(lines.contains { $0.hasSuffix("L2CAP SDP (0x0001) channel 0x0052") })
    }

    @Test("each filter passes what is asked for")
    func filters() throws {
        let packets = [
            [1, 3, 0x0C, 0], Self.connected, Self.frame(4, [0x0A, 0x12, 0]), Self.frame(4, [0x0A, 0x13, 0]),
            Self.frame(6, [5, 8]), Self.disconnected,
        ]
        func headlines(_ filter: DecodingFilter) throws -> Int {
            try lines(packets, filter: filter).count { $0.hasPrefix("<") || $0.hasPrefix(">") }
        }
        #expect(try headlines(DecodingFilter(kinds: .command)) == 1)
        #expect(try headlines(DecodingFilter(kinds: [.att, .smp])) == 3)
        #expect(try headlines(DecodingFilter(connectionHandle: 0x40)) == 5)
        #expect(try headlines(DecodingFilter(address: 0xC0DE_0000_0001)) == 5)
        #expect(try headlines(DecodingFilter(attributeHandle: 0x13)) == 1)
        #expect(try headlines(DecodingFilter(kinds: .event, attributeHandle: 0x13)) == 0)
    }

    @Test("control and invisible characters of a name are shown by number")
    func hostileName() throws {
        let name = Array("L\u{1B}[2J\u{9B}\u{202E}\u{61C}\u{200B}\u{FEFF}\u{E0041}e\u{301}\u{301}\u{301}".utf8)
        let report: [UInt8] =
            [
                4, 0x3E, UInt8(14 + name.count), 2, 1, 0, 1, 1, 2, 3, 4, 5, 6, UInt8(name.count + 2),
                UInt8(name.count + 1), 9,
            ]
            + name + [0xC0]
        let hidden = #"L\u001b[2J\u009b\u202e\u061c\u200b\ufeff\udb40\udc41e"#
        let text = try lines([report]).joined()
        #expect(text.contains(hidden + "\u{301}\u{301}\\u0301\""))
        // To a program it is the same name.
        let json = try lines([report], style: .json).joined()
        #expect(json.contains(hidden + "\u{301}\u{301}\u{301}\""))
        for line in [text, json] {
            #expect(line.unicodeScalars.allSatisfy { !$0.properties.isDefaultIgnorableCodePoint && $0.value != 0x9B })
        }
    }

    @Test("in text, the data of beacons and sensors is followed by what it says, packet by packet")
    func sensors() throws {
        func report(_ data: [UInt8]) -> [UInt8] {
            [4, 0x3E, UInt8(12 + data.count), 2, 1, 0, 1, 1, 2, 3, 4, 5, 6, UInt8(data.count)] + data + [0xC0]
        }
        let beacon: [UInt8] =
            [2, 1, 6, 26, 0xFF, 0x4C, 0, 2, 21] + [UInt8](repeating: 0xAB, count: 16) + [0, 1, 0, 2, 0xC5]
        let sensor: [UInt8] = [2, 1, 6, 10, 0x16, 0xD2, 0xFC, 0x40, 2, 0xC4, 9, 3, 0xBF, 0x13]
        let packets = [report(beacon), report(sensor), report(beacon), report([2, 1, 6])]
        let said = try lines(packets).filter { $0.hasPrefix("        Says: ") }
        #expect(said.count == 3 && said.first == said.last)
        #expect(said.first?.hasPrefix("        Says: iBeacon: uuid ABABABAB-ABAB-") == true, "\(said)")
        #expect(said.dropFirst().first == "        Says: BTHome v2: temperature 25 °C, humidity 50.55 %")
        // Programs read them with `ad decode`.
        #expect(try lines(packets, style: .json).allSatisfy { !$0.contains("iBeacon") })
        // Data that breaks the rules says nothing.
        #expect(try !lines([report(beacon.dropLast())]).contains { $0.contains("Says: ") })
    }

    @Test("what a sensor says cannot harm a terminal, or end a line")
    func hostileSensor() throws {
        let text = Array("\u{1B}[2J\n\u{202E}x".utf8)
        let data: [UInt8] = [UInt8(text.count + 6), 0x16, 0xD2, 0xFC, 0x40, 0x53, UInt8(text.count)] + text
        let report: [UInt8] =
            [4, 0x3E, UInt8(12 + data.count), 2, 1, 0, 1, 1, 2, 3, 4, 5, 6, UInt8(data.count)] + data + [0xC0]
        let said = try lines([report]).filter { $0.contains("Says: ") }
        #expect(said.count == 1 && said[0].hasSuffix("x"))
        #expect(said.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x202E } }, "\(said)")
    }

    @Test("the data of a page never ends its script element, whatever a name contains")
    func page() throws {
        let name = Array("</script><b>".utf8)
        let report: [UInt8] =
            [
                4, 0x3E, UInt8(14 + name.count), 2, 1, 0, 1, 1, 2, 3, 4, 5, 6, UInt8(name.count + 2),
                UInt8(name.count + 1), 9,
            ]
            + name + [0xC0]
        var reader = try CaptureReader(bytes: CaptureBytes.btsnoop([report]))
        var page = HTMLReport()
        page.begin(title: "a<b>")
        while let record = try reader.next() { page.add(record) }
        page.end()
        let text = unsafe page.output.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        #expect(page.rowCount == 1)
        #expect(text.split(separator: "</script>").count == 5)
        #expect(text.contains("\\u003c/script>\\u003cb>"))
    }

    /// A report of BTHome v2 with a temperature in hundredths of a degree.
    private static func thermometer(_ device: UInt8, _ hundredths: Int16) -> [UInt8] {
        let value = UInt16(bitPattern: hundredths)
        let data: [UInt8] = [7, 0x16, 0xD2, 0xFC, 0x40, 2, UInt8(truncatingIfNeeded: value), UInt8(value >> 8)]
        return [4, 0x3E, UInt8(12 + data.count), 2, 1, 3, 1, device, 2, 3, 4, 5, 6, UInt8(data.count)] + data + [0xC0]
    }

    private static func page(of packets: [[UInt8]], sent: Int? = nil) throws -> String {
        var reader = try CaptureReader(bytes: CaptureBytes.btsnoop(packets) { $0 != sent })
        var page = HTMLReport()
        page.begin(title: "x")
        while let record = try reader.next() { page.add(record) }
        page.end()
        return unsafe page.output.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }

    @Test("a page has the numbers with units of values and of advertising data, each with its series")
    func measures() throws {
        let text = try Self.page(
            of: [
                Self.connected, Self.thermometer(1, 2150), Self.frame(4, [0x08, 1, 0, 0xFF, 0xFF, 0x03, 0x28]),
                Self.frame(4, [0x09, 7, 2, 0, 0x10, 3, 0, 0x37, 0x2A], flags: 2),
                Self.frame(4, [0x1B, 3, 0, 6, 64], flags: 2), Self.thermometer(2, -5), Self.thermometer(1, 2155),
                Self.frame(4, [0x1B, 3, 0, 6, 66], flags: 2), Self.frame(4, [0x1B, 3, 0], flags: 2),
            ], sent: 2)
        for row in ["[0,21.5]]", "[1,64.0]]", "[2,-0.05]]", "[0,21.55]]", "[1,66.0]]"] {
            #expect(text.contains(row), "\(row)")
        }
        #expect(text.contains(#"{c:-1,address:"06:05:04:03:02:01",name:"temperature",unit:"°C"}"#))
        #expect(text.contains(#"{c:0,address:"00:00:00:00:00:00",name:"Heart Rate",unit:"bpm"}"#))
        #expect(text.contains("OMITTED=0"))
    }

    @Test("whoever sends from ever new addresses makes no more series than a page can plot")
    func floodOfSeries() throws {
        let text = try Self.page(of: (0..<200).map { Self.thermometer(UInt8($0), 2000) })
        #expect(text.contains("OMITTED=168,MEASURES=["))
        #expect(text.split(separator: #"name:"temperature""#).count == MeasureSeries.limit + 1)
    }

    @Test(
        "the summary and the text agree on what is malformed; nothing traps or grows without bound, whatever the input")
    func hostile() throws {
        var generator = Generator(state: 7)
        let seeds = [
            Self.connected, Self.disconnected, Self.frame(4, [0x09, 7, 0x11, 0, 0x10, 0x12, 0, 0x37, 0x2A]),
            Self.frame(4, [0x05, 1, 1, 0, 2, 0x29]), Self.frame(6, [1, 3, 0, 1, 16, 7, 7]),
            Self.frame(5, [0x12, 1, 8, 0, 6, 0, 6, 0, 0, 0, 100, 0]),
            [1, 0x43, 0x20, 10 + 16, 0, 0, 0, 1, 2, 3, 4, 5, 6, 1] + [UInt8](repeating: 9, count: 16),
            [4, 0x3E, 19, 2, 1, 0, 1, 1, 2, 3, 4, 5, 6, 7, 2, 1, 6, 3, 3, 13, 24, 0xC0], [4, 0x0E, 4, 1, 3, 0x0C, 0],
            [4, 0x13, 9, 2, 0x40, 0, 1, 0, 0x41, 0, 1, 0], [3, 1, 0, 2, 1, 2], [5, 1, 0, 2, 0, 1, 2],
            Self.frame(4, [0x23, 0x12, 0, 200, 0, 1]), Self.frame(4, [0x11, 6, 1, 0, 5, 0, 0, 0x18]),
        ]
        var summary = CaptureSummary()
        var text = CaptureDecoder(style: .text(isColoured: true))
        var json = CaptureDecoder(style: .json)
        for _ in 0..<150 {
            let packets = (0..<200).map { _ -> [UInt8] in
                var packet = seeds[Int(generator.next() % UInt64(seeds.count))]
                for _ in 0..<(generator.next() % 4) {
                    let place = Int(generator.next() % UInt64(packet.count))
                    packet[place] = UInt8(truncatingIfNeeded: generator.next() >> 11)
                }
                return generator.next() % 8 == 0 ? Array(packet.prefix(Int(generator.next() % 12))) : packet
            }
            var reader = try CaptureReader(bytes: CaptureBytes.btsnoop(packets) { $0 % 3 == 0 })
            while let record = try reader.next() {
                summary.count(record)
                text.decode(record)
                json.decode(record)
                text.removeOutput()
                json.removeOutput()
            }
        }
        #expect(summary.frames == 30_000)
        #expect(text.malformedCount == json.malformedCount)
        #expect(abs(text.malformedCount - summary.malformed) * 50 < summary.malformed)
        #expect(text.table.links.count <= LinkTable.maximumLinkCount)
    }
}

/// A small generator that gives the same numbers in every run.
private struct Generator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 17
    }
}
