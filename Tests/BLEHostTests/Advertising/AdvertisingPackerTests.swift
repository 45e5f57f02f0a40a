import BLEPackets
import Testing

@testable import BLEHost

/// What Core Bluetooth puts where, from captures of devices (SPEC 3.4, 8) and by rule (SPEC 3.5).
@Suite("Advertising packer")
struct AdvertisingPackerTests {
    /// As iOS sends it.
    let iOS = AdvertisingPackerSettings(
        flags: AdvertisingFlags(rawValue: 0x1A), overflow: .on(company: OverflowArea.company))

    func pack(
        _ name: String? = nil, _ uuids: [String] = [], _ state: AdvertisingContribution.State = .foreground
    ) throws -> PackedAdvertisement {
        AdvertisingPacker.pack(try contribution(name, uuids, state), settings: iOS)
    }

    func contribution(
        _ name: String? = nil, _ uuids: [String] = [], _ state: AdvertisingContribution.State = .foreground
    ) throws -> AdvertisingContribution {
        AdvertisingContribution(
            localName: name, serviceUUIDs: try uuids.map { try #require(BluetoothUUID($0)) }, state: state)
    }

    // MARK: Captures

    @Test("foreground: one 16-bit service and the name Fred, no scan response (SPEC 8)")
    func fred() throws {
        let packed = try pack("Fred", ["C007"])
        #expect(hex(packed.advertisement) == "02011a030307c0050946726564")
        #expect(packed.scanResponse.isEmpty)
        #expect(packed.visible == [BluetoothUUID(UInt16(0xC007))])
        #expect(packed.name == .init(value: "Fred", placement: .advertisement, isTruncated: false))
    }

    @Test("foreground: a 128-bit service on the base UUID stays 128 bits long, and the name Tester (SPEC 8)")
    func tester() throws {
        let packed = try pack("Tester", ["00003AC5-0000-1000-8000-00805F9B34FB"])
        #expect(hex(packed.advertisement) == "02011a1107fb349b5f80000080001000 00c53a0000 0709546573746572".compact)
        #expect(packed.scanResponse.isEmpty)
    }

    static let five = [
        "1FA2FD8A-17E0-4D3B-AF45-305DA6130E39", "2FA2FD8A-17E0-4D3B-AF45-305DA6130E39",
        "5FA2FD8A-17E0-4D3B-AF45-305DA6130E39", "4FA2FD8A-17E0-4D3B-AF45-305DA6130E39",
        "3FA2FD8A-17E0-4D3B-AF45-305DA6130E39",
    ]

    @Test("foreground: the first of five 128-bit services is visible, four are hashed in the scan response (SPEC 8)")
    func fiveServices() throws {
        let packed = try pack("uynguyen", Self.five)
        #expect(
            hex(packed.advertisement) == "02011a1106390e13a65d3045af3b4de0178afda21f090975796e677579656e")
        #expect(hex(packed.scanResponse) == "14ff4c000140004000080008" + "000000000000000000")
        #expect(packed.overflow.count == 4)
    }

    @Test("foreground: the name is cut to the eight octets after a 128-bit service (SPEC 8)")
    func lightBlue() throws {
        // Only the visible service of the capture is known; the hidden one sets the same bit.
        let hidden = "00000000-0000-0000-0000-000000000072"
        let packed = try pack("LightBlue", ["D2BD45F0-FB9D-3182-8EE7-E37900000" + "07F", hidden])
        #expect(hex(packed.advertisement) == "02011a11067f000000" + "79e3e78e82319dfbf045bdd2" + "09084c69676874426c75")
        #expect(hex(packed.scanResponse) == "14ff4c0001" + "000000000000000000000000000000" + "02")
        #expect(packed.name == .init(value: "LightBlu", placement: .advertisement, isTruncated: true))
    }

    @Test(
        "background: a mask of 21 octets in the advertisement, nothing else (SPEC 8, ADV-4)",
        arguments: [
            ("C007", "00000000100000000000000000000000"), ("C008", "00000000000000080000000000000000"),
            ("1001", "00000000000000020000000000000000"), ("3333", "00000000000000020000000000000000"),
            ("2F234454-CF6D-4A0F-ADF2-F4911BA9FFA6", "00000000000000000000080000000000"),
            ("428132AF-4746-42D3-801E-4572D65BFD9B", "00000000000000000000200000000000"),
            ("00003AC5-0000-1000-8000-00805F9B34FB", "00000000000000000000000000200000"),
        ])
    func background(uuid: String, mask: String) throws {
        let packed = try pack("Tester", [uuid], .background)
        #expect(hex(packed.advertisement) == "02011a14ff4c0001" + mask)
        #expect(packed.scanResponse.isEmpty)
        #expect(packed.name == nil && packed.visible.isEmpty)
    }

    @Test("foreground: four 16-bit services and one of 128 bits fill the 28 octets (SPEC 3.4)")
    func fourAndOne() throws {
        let packed = try pack(nil, ["0001", "0002", "0003", "0004", Self.five[0]])
        #expect(packed.advertisement.count == 31)
        #expect(hex(packed.advertisement).hasPrefix("02011a" + "09030100020003000400" + "1107"))
        #expect(packed.overflow.isEmpty && packed.scanResponse.isEmpty)
    }

    @Test("foreground: dozens of 16-bit services, those that fit in an incomplete list (SPEC 3.4)")
    func dozens() throws {
        let packed = try pack(nil, (1...40).map { "10" + ($0 < 16 ? "0" : "") + String($0, radix: 16) })
        #expect(packed.visible.count == 13 && packed.overflow.count == 27)
        #expect(hex(packed.advertisement).hasPrefix("02011a1b02"))
        #expect(packed.scanResponse.count == 21)
    }

    // MARK: Limits

    @Test("28 octets are for name and services together, their headers among them (SPEC ADV-1, ADV-5)")
    func sharedOctets() throws {
        // 1 service: 4 octets of a list, so that 24 are left, 22 of a name behind its header.
        let name = "abcdefghijklmnopqrstuv"
        let full = try pack(name, ["180D"])
        #expect(hex(full.advertisement) == "02011a03030d18" + "1709" + hex(Array(name.utf8)))
        #expect(full.advertisement.count == 31 && full.scanResponse.isEmpty)
        // If headers did not count there would be room for two more.
        let cut = try pack(name + "w", ["180D"])
        #expect(hex(cut.advertisement) == "02011a03030d18" + "1708" + hex(Array(name.utf8)))
        #expect(cut.name == .init(value: name, placement: .advertisement, isTruncated: true))
        let alone = try pack(name + "wxyz")
        #expect(alone.advertisement.count == 31 && alone.name?.isTruncated == false)
        #expect(try pack(name + "wxyz!").name?.isTruncated == true)
        let services = try pack(nil, (0..<13).map { "18" + String(UInt8(0x10 + $0), radix: 16) })
        #expect(services.advertisement.count == 31 && services.overflow.isEmpty)
        #expect(try pack(nil, (0..<14).map { "18" + String(UInt8(0x10 + $0), radix: 16) }).overflow.count == 1)
    }

    @Test("when the 28 are used up, the name gets 10 octets of the scan response, and services get none (SPEC ADV-2)")
    func scanResponseOctets() throws {
        let shorts = (0..<13).map { "18" + String(UInt8(0x10 + $0), radix: 16) }
        let packed = try pack("Thermometer", shorts)
        #expect(packed.advertisement.count == 31)
        #expect(hex(packed.scanResponse) == "0b08" + hex(Array("Thermomete".utf8)))
        #expect(hex(try pack("Thermomete", shorts).scanResponse) == "0b09" + hex(Array("Thermomete".utf8)))
        // Hidden services that are not sent take no room.
        let silent = AdvertisingPacker.pack(try contribution("Thermometer", shorts + ["1830"]))
        #expect(silent.scanResponse == packed.scanResponse && silent.overflow.count == 1)
        // The overflow area leaves eight.
        let more = try pack("Thermometer", shorts + ["1830"])
        #expect(more.overflow == [BluetoothUUID(UInt16(0x1830))] && more.visible.count == 13)
        #expect(more.scanResponse.count == 31)
        let read = AdvertisingData(
            advertisement: [UInt8]().span.bytes, scanResponse: more.scanResponse.span.bytes)
        #expect(read.serviceUUIDs.isEmpty && read.localName == "Thermome")
    }

    @Test("a service without room is found by scans for it, and by no others (SPEC ADV-3)")
    func overflowed() throws {
        let packed = try pack("uynguyen", Self.five)
        let read = AdvertisingData(
            advertisement: packed.advertisement.span.bytes, scanResponse: packed.scanResponse.span.bytes)
        #expect(read.serviceUUIDs == [try #require(BluetoothUUID(Self.five[0]))])
        let hidden = try Self.five.dropFirst().map { try #require(BluetoothUUID($0)) }
        for uuid in hidden { #expect(read.hashedServiceUUIDs(scanFor: [uuid]) == [uuid]) }
        #expect(read.hashedServiceUUIDs(scanFor: []).isEmpty)
        #expect(read.hashedServiceUUIDs(scanFor: [BluetoothUUID(UInt16(0x180A))]).isEmpty)
    }

    @Test("secondary services are packed only if they are named: nothing is added to the request (SPEC ADV-6)")
    func onlyWhatWasAskedFor() throws {
        let packed = try pack("A", ["180D"])
        let read = AdvertisingData(advertisement: packed.advertisement.span.bytes)
        #expect(read.serviceUUIDs == [BluetoothUUID(UInt16(0x180D))] && packed.overflow.isEmpty)
    }

    @Test("structures are a length, a type and data as the specification has them (SPEC ADV-7)")
    func format() throws {
        let packed = try pack("Ab", ["180D", "12345678", Self.five[0]])
        var rest = packed.advertisement[...]
        var types: [UInt8] = []
        while let length = rest.first {
            types.append(try #require(rest.dropFirst().first))
            #expect(rest.count > Int(length))
            rest = rest.dropFirst(Int(length) + 1)
        }
        #expect(types == [0x01, 0x03, 0x05, 0x07])
        #expect(hex(packed.scanResponse) == "03094162")
    }

    // MARK: Rules

    @Test("a list is incomplete only when a service of its own width was hidden (SPEC 3.4 rule 2, ADV-7)")
    func completeness() throws {
        let packed = try pack(nil, ["180D", Self.five[0], Self.five[1]])
        #expect(hex(packed.advertisement).hasPrefix("02011a03030d181106"))
        let other = try pack(nil, [Self.five[0]] + (0..<5).map { "180\($0)" })
        #expect(other.visible.count == 5)
        #expect(hex(other.advertisement).hasPrefix("02011a0902") && hex(other.advertisement).contains("1107"))
    }

    @Test("a smaller service after one that does not fit is still visible (SPEC 3.5 step 3)")
    func laterSmaller() throws {
        let packed = try pack(nil, [Self.five[0], Self.five[1], "180D"])
        #expect(packed.visible == [try #require(BluetoothUUID(Self.five[0])), BluetoothUUID(UInt16(0x180D))])
        #expect(packed.overflow == [try #require(BluetoothUUID(Self.five[1]))])
    }

    @Test("the same service in two widths is one, in the width of the first (SPEC 3.5)")
    func duplicates() throws {
        let packed = try pack(nil, ["180D", "0000180D-0000-1000-8000-00805F9B34FB", "180D"])
        #expect(hex(packed.advertisement) == "02011a03030d18")
    }

    @Test("a list of 32-bit services is between the others (SPEC 3.5 step 4)")
    func widths() throws {
        let packed = try pack(nil, ["12345678", "180D"])
        #expect(hex(packed.advertisement) == "02011a03030d18050578563412")
    }

    @Test(
        "a name goes where more of it fits (SPEC 3.5 step 5)",
        arguments: [
            // 18 octets of services: room for 8 in the advertisement.
            ("12345678", 1, "12345678", PackedAdvertisement.NamePlacement.advertisement, false),
            ("123456789", 1, "12345678", .advertisement, true),
            ("1234567890", 1, "12345678", .advertisement, true),
            // 28 octets of services: the scan response takes 10.
            ("1234", 5, "1234", .scanResponse, false),
            ("12345678", 5, "12345678", .scanResponse, false),
            ("1234567890", 5, "1234567890", .scanResponse, false),
            ("12345678901", 5, "1234567890", .scanResponse, true),
            // 22 octets: room for 4, and the scan response can take more.
            ("1234", 2, "1234", .advertisement, false),
            ("12345", 2, "12345", .scanResponse, false),
            ("€€€€€", 2, "€€€", .scanResponse, true),
            ("🎈🎈🎈", 5, "🎈🎈", .scanResponse, true),
            ("123456789é", 5, "123456789", .scanResponse, true),
            ("aé", 1, "aé", .advertisement, false),
            ("äöüäö", 1, "äöüä", .advertisement, true),
            ("1234567é", 1, "1234567", .advertisement, true),
        ] as [(String, Int, String, PackedAdvertisement.NamePlacement, Bool)])
    func names(
        name: String, services: Int, sent: String, placement: PackedAdvertisement.NamePlacement, isTruncated: Bool
    ) throws {
        let shorts = (0..<(services - 1)).map { "180\($0)" }
        let packed = try pack(name, shorts + [Self.five[0]])
        #expect(packed.name == .init(value: sent, placement: placement, isTruncated: isTruncated))
        #expect(packed.advertisement.count <= 31 && packed.scanResponse.count <= 12)
    }

    @Test(
        "beside the overflow area a name has eight octets, whichever app needs the area (SPEC 3.4 rule 5)",
        arguments: [true, false])
    func nameBesideOverflow(isOneApp: Bool) throws {
        let shorts = (0..<4).map { "180\($0)" }
        let hidden = try contribution(nil, ["180F"], isOneApp ? .foreground : .background)
        var first = try contribution("1234567890", shorts + [Self.five[0]])
        if isOneApp { first.serviceUUIDs += hidden.serviceUUIDs }
        let packed = AdvertisingPacker.pack(isOneApp ? [first] : [first, hidden], settings: iOS)
        #expect(packed.name == .init(value: "12345678", placement: .scanResponse, isTruncated: true))
        #expect(packed.scanResponse.count == 31 && packed.overflow == hidden.serviceUUIDs)
    }

    @Test("a name stays in the advertisement when the scan response cannot take more of it (SPEC 3.5 step 5)")
    func scanResponseTakesNoMore() throws {
        // Room for eight octets.
        let packed = try pack("€€€", ["180D", "12345678", "12345679", "1234567A"])
        #expect(packed.name?.placement == .advertisement)
        let full = try pack("€€€", ["180D", "180F", "12345678", "12345679"])
        #expect(full.name == .init(value: "€€€", placement: .advertisement, isTruncated: false))
        // Room for six octets, two characters of three: as many as fit beside the overflow area, and without it ten do.
        let most = ["12345678", "12345679", "1234567A", "180D", "180F"]
        let tight = try pack("€€€", most + [Self.five[0]])
        #expect(tight.name == .init(value: "€€", placement: .advertisement, isTruncated: true))
        let roomy = try pack("€€€", most)
        #expect(roomy.name == .init(value: "€€€", placement: .scanResponse, isTruncated: false))
    }

    @Test("an empty name counts as none, and no request at all gives only flags")
    func nothing() throws {
        #expect(hex(try pack("").advertisement) == "02011a")
        #expect(try pack("").name == nil)
        #expect(hex(AdvertisingPacker.pack(AdvertisingContribution()).advertisement) == "020106")
    }

    @Test("the overflow area is sent only if asked for, with the configured company (SPEC 3.6)")
    func emission() throws {
        let wish = try contribution(nil, ["C007"], .background)
        let silent = AdvertisingPacker.pack(wish)
        #expect(hex(silent.advertisement) == "020106" && silent.scanResponse.isEmpty)
        #expect(silent.overflow == [BluetoothUUID(UInt16(0xC007))])
        let own = AdvertisingPacker.pack(wish, settings: .init(overflow: .on(company: 0xFFFF)))
        #expect(hex(own.advertisement) == "02010614ffffff0100000000100000000000000000000000")
    }

    @Test(
        "a contribution may hash its services or not, whatever the settings say; all hash under one company (SPEC 3.6)")
    func emissionOfEach() throws {
        func background(
            _ uuids: [String], _ overflow: AdvertisingPackerSettings.OverflowEmission?
        ) throws -> AdvertisingContribution {
            var made = try contribution(nil, uuids, .background)
            made.overflow = overflow
            return made
        }
        let (own, apple) = (UInt16(0xFFFF), OverflowArea.company)
        let wishes = [
            try background(["C007", "3333"], .off), try background(["C008"], .on(company: apple)),
            try background(["3333"], .on(company: apple)), try background(["180D"], .on(company: own)),
        ]
        let packed = AdvertisingPacker.pack(wishes)
        let mask = OverflowArea(hashing: [BluetoothUUID(UInt16(0xC008)), BluetoothUUID(UInt16(0x3333))]).mask
        #expect(hex(packed.advertisement) == "02010614ff4c0001" + hex(mask))
        #expect(packed.overflow.count == 4)
        #expect(hex(AdvertisingPacker.pack(wishes.reversed()).advertisement).hasPrefix("02010614ffffff01"))
        // What one may not hash and another shows to everyone is no longer hidden.
        let both = AdvertisingPacker.pack([wishes[0], try contribution(nil, ["C007"])], settings: iOS)
        // The list is incomplete without the other service.
        #expect(hex(both.advertisement) == "02011a030207c0")
        #expect(AdvertisingPacker.pack([wishes[0]], settings: iOS).advertisement == [2, 1, 0x1A])
        // Without a word of its own, it is as the settings say.
        #expect(AdvertisingPacker.pack(try background(["C007"], nil), settings: iOS).advertisement.count == 24)
    }

    @Test("scan response: the overflow area, then the name (SPEC 3.5 step 6)")
    func scanResponseOrder() throws {
        let shorts = (0..<16).map { "18" + String(UInt8(0x10 + $0), radix: 16) }
        let packed = try pack("Thermometer", shorts)
        #expect(packed.advertisement.count == 31)
        #expect(packed.scanResponse.count == 31)
        #expect(hex(packed.scanResponse).hasPrefix("14ff4c0001"))
        #expect(hex(packed.scanResponse).hasSuffix("0908546865726d6f6d65"))
    }

    @Test("several apps: the most recent in the foreground comes first, those in the background are hashed (SPEC 3.5)")
    func severalApps() throws {
        let packed = AdvertisingPacker.pack(
            [
                try contribution("Hidden", ["1801"], .background), try contribution("First", ["180D"]),
                try contribution("Second", [Self.five[0], "180F"]),
            ], settings: iOS)
        #expect(packed.name?.value == "First")
        #expect(packed.visible == [BluetoothUUID(UInt16(0x180D)), BluetoothUUID(UInt16(0x180F))])
        #expect(packed.overflow == [try #require(BluetoothUUID(Self.five[0])), BluetoothUUID(UInt16(0x1801))])
        #expect(hex(packed.advertisement) == "02011a" + "05020d180f18" + "06094669727374")
        #expect(packed.scanResponse.count == 21)
    }

    @Test("a key that an app may not set is an error (SPEC PER-10)")
    func keys() throws {
        try AdvertisingContribution.check(keys: ["kCBAdvDataServiceUUIDs", "kCBAdvDataLocalName"])
        do throws(AdvertisingKeyError) {
            try AdvertisingContribution.check(keys: ["kCBAdvDataLocalName", "kCBAdvDataTxPowerLevel"])
            Issue.record("allowed")
        } catch {
            #expect(error.key == "kCBAdvDataTxPowerLevel")
        }
    }
}
