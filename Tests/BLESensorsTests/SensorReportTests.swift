import BLEHost
import BLEPackets
import BLESecurity
import Testing

@testable import BLESensors

@Suite("Advertisers")
struct SensorReportTests {
    /// What an advertisement is made of: name, service data, manufacturer data; and what it says.
    struct Sample: Sendable, CustomTestStringConvertible {
        var name: String?
        var service: (UInt16, String)?
        var maker: (UInt16, String)?
        var text: String
        var testDescription: String { text }
    }

    static func octets(_ hex: String) -> [UInt8] {
        let digits = hex.filter { $0 != " " }.map { UInt8($0.hexDigitValue ?? 0) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    static func data(_ sample: Sample) -> AdvertisingData {
        var data = AdvertisingData()
        data.localName = sample.name
        if let (uuid, hex) = sample.service {
            data.serviceData = [.init(uuid: BluetoothUUID(uuid), data: octets(hex))]
        }
        if let (company, hex) = sample.maker { data.manufacturerData = [.init(company: company, data: octets(hex))] }
        return data
    }

    static func keys(_ hex: String) -> SensorKeys {
        var keys = SensorKeys { key, block in
            guard case .octets(let octets) = SwiftCryptoProvider().answer(.encrypt(key: key, block: block)) else {
                return nil
            }
            return octets
        }
        keys.add(octets(hex), for: nil)
        return keys
    }

    static let samples: [Sample] = [
        Sample(service: (0xFCD2, "40 02C409 03BF13"), text: "BTHome v2: temperature 25 °C, humidity 50.55 %"),
        Sample(
            name: "SBHT-003C", service: (0xFCD2, "44 0009 0164 2E33 3A01 45F3FF"),
            text:
                "BTHome v2 Shelly BLU H&T: packet id 9, battery 100 %, humidity 51 %, button press, temperature -1.3 °C"
        ),
        Sample(
            service: (0xFCD2, "40 0C6E0B 0CDC0A 5302 4869 50 5D396164 F1 00010204"),
            text:
                "BTHome v2: voltage 1 2.926 V, voltage 2 2.78 V, text Hi, timestamp 2023-05-14T19:41:17Z, firmware 4.2.1.0"
        ),
        Sample(service: (0xFCD2, "40 1500 2D01 FF"), text: "BTHome v2: battery low no, window yes"),
        Sample(
            service: (0xFE95, "5020 5B05 01 665544332211 0D10 04 D700 0E02"),
            text: "MiBeacon v2 LYWSD03MMC: temperature 21.5 °C, humidity 52.6 %"),
        Sample(
            service: (0xFE95, "5830 5B05 01 665544332211 00000000000000"), text: "MiBeacon v3 LYWSD03MMC: encrypted"),
        Sample(
            service: (0x181A, "A4C138112233 00D7 35 4B 0BB8 07"),
            text: "ATC: temperature 21.5 °C, humidity 53 %, battery 75 %, voltage 3 V, packet id 7"),
        Sample(
            service: (0x181A, "332211 38C1A4 5908 8C14 B80B 4B 07 05"),
            text: "pvvx: temperature 21.37 °C, humidity 52.6 %, voltage 3 V, battery 75 %, packet id 7, flags 5"),
        Sample(
            maker: (0x0499, "0512FC5394C37C0004FFFC040CAC364200CDCBB8334C884F"),
            text:
                "RuuviTag 5: temperature 24.3 °C, humidity 53.49 %, pressure 1000.44 hPa, acceleration x 4 mg, "
                + "acceleration y -4 mg, acceleration z 1036 mg, voltage 2977 mV, tx power 4 dBm, movement counter 66, "
                + "sequence 205"),
        Sample(
            maker: (0x0499, "03291A1ECE1EFC18F94202CA0B53"),
            text: "RuuviTag 3: temperature 26.3 °C, humidity 20.5 %, pressure 1027.66 hPa, "
                + "acceleration x -1000 mg, acceleration y -1726 mg, acceleration z 714 mg, voltage 2899 mV"),
        Sample(
            maker: (0x0499, "06170C5668C79E007000C90501D900CD00 4C884F"),
            text: "RuuviTag 6 Ruuvi Air: temperature 29.5 °C, humidity 55.3 %, pressure 1011.02 hPa, pm25 11.2 µg/m³, "
                + "carbon dioxide 201 ppm, sequence 205, voc index 10, nox index 2, illuminance 13027 lx, "
                + "sound pressure 18 dB"),
        Sample(
            maker: (0x004C, "0215 FDA50693A4E24FB1AFCFC6EB07647825 0001 0002 C5"),
            text: "iBeacon: uuid FDA50693-A4E2-4FB1-AFCF-C6EB07647825, major 1, minor 2, power -59 dBm"),
        Sample(
            service: (0xFEAA, "00 E7 00112233445566778899 AABBCCDDEEFF"),
            text: "Eddystone UID: namespace 00112233445566778899, instance aabbccddeeff, power -25 dBm"),
        Sample(
            service: (0xFEAA, "10 EB 03 676F6F 07"),
            text: "Eddystone URL: url https://goo.com, power -21 dBm"),
        Sample(
            service: (0xFEAA, "20 00 0BB8 1580 00000010 00000064"),
            text: "Eddystone TLM: voltage 3 V, temperature 21.5 °C, packets 16, uptime 10 s"),
        Sample(
            service: (0xFEAA, "30 EB 0011223344556677"),
            text: "Eddystone EID: ephemeral id 0011223344556677, power -21 dBm"),
        Sample(
            maker: (0xEC88, "00 0341C1 64 00"),
            text: "Govee H5072/H5075: temperature 21.3 °C, humidity 44.1 %, battery 100 %"),
        Sample(
            name: "GVH5101_1234", maker: (0x0001, "0101 8341C1 E4"),
            text: "Govee H5101: temperature not valid, humidity not valid, battery 100 %"),
        Sample(
            name: "GVH5183_1234", maker: (0x67DD, "01000101 E401 8F0A 0BB8 1770 0000"),
            text: "Govee H5183: temperature probe 1 30 °C, temperature alarm probe 1 60 °C"),
        Sample(
            name: "GV51231234", maker: (0x8803, "7337 F967BDAF C1EE06565797655F08E3F5CC2C9BA15E 68AF"),
            text: "Govee H5123: window yes, battery 48 %"),
        Sample(
            maker: (0x8803, "6700 0890 9858 36D9C273A9EABFC07CC09D66AEFD7F19CA5D"),
            text: "Govee H5130: button press, presence yes, battery 53 %"),
        Sample(
            service: (0xFD3D, "00 BE F4 00 10 B9 40"), maker: (0x0969, "99BBF4DC7BD2A4F2C8AF5BD99F267A0E17"),
            text: "SwitchBot Hub 3: temperature -122.6 °C, humidity 14 %, light level 15, motion no"),
        Sample(
            service: (0xFD3D, "3D F2 16"), maker: (0x0969, "AB921A88ADC7CD9478F32C277005"),
            text: "SwitchBot Relay Switch 2PM: on 1 yes, power 1 11303 W, on 2 no, power 2 28677 W"),
        Sample(
            service: (0xFD3D, "00 1D 82 00 11 36 40"), maker: (0x0969, "940E99EA1A6FC4FB839D4511322A23EF08"),
            text:
                "SwitchBot Radiator Thermostat: temperature 29.3 °C, target temperature -69.8 °C, on yes, window no, mode manual, "
                + "battery 123 %"),
        Sample(
            service: (0xFD3D, "54 00 64 05 96 35"),
            text: "SwitchBot Meter: temperature 22.5 °C, humidity 53 %, battery 100 %"),
        Sample(service: (0xFD3D, "48 90 E4"), text: "SwitchBot Bot: switch mode yes, on yes, battery 100 %"),
        Sample(
            service: (0xFD3D, "64 40 50 02 00 00 00 00 03"),
            text:
                "SwitchBot Contact Sensor: opening yes, door left open no, motion yes, light no, button count 3, battery 80 %"
        ),
        Sample(
            service: (0xFD3D, "63 40 50 1E 41 00"),
            text: "SwitchBot Curtain: position 70 %, moving no, light level 4, battery 80 %"),
        Sample(
            name: "sps", maker: (0x0830, "CB14 0112 3456 08"),
            text: "Inkbird IBS-TH: temperature 20.96 °C, humidity 53.23 %, battery 86 %"),
        Sample(maker: (0x004C, "1005 0318 1122 33 0C0E 00"), text: "Apple: messages Nearby Info, Handoff"),
        Sample(maker: (0x0006, "01 09 20 02"), text: "Microsoft: device Windows 10 desktop"),
    ]

    @Test("an advertisement says what its format defines", arguments: samples)
    func meaning(_ sample: Sample) throws {
        let reports = SensorReport.reports(in: Self.data(sample))
        #expect(reports.map(\.description) == [sample.text])
        let names = try #require(reports.first).fields.map(\.name)
        #expect(Set(names).count == names.count, "a name stands twice")
    }

    @Test("BTHome and MiBeacon are decrypted with the key of the device, and with no other")
    func encrypted() throws {
        let home = Self.data(Sample(service: (0xFCD2, "41 A47266C95F73 00112233 78237214"), text: ""))
        let address = DeviceAddress("54:48:E6:8F:80:A5")
        func report(_ keys: SensorKeys?) -> SensorReport? {
            SensorReport.reports(in: home, from: address, keys: keys).first
        }
        #expect(report(nil)?.encryption == .needsKey)
        #expect(report(Self.keys("00112233445566778899aabbccddeeff"))?.encryption == .wrongKey)
        let read = try #require(report(Self.keys("231d39c1d7cc1ab1aee224cd096db932")))
        #expect(read.encryption == .decrypted)
        #expect(read.description == "BTHome v2: temperature 25.06 °C, humidity 50.55 %")
        var own = Self.keys("00112233445566778899aabbccddeeff")
        own.add(Self.octets("231d39c1d7cc1ab1aee224cd096db932"), for: address)
        #expect(report(own)?.encryption == .decrypted)
    }

    @Test("every layout in the program is one, and Home Assistant's classes are told")
    func layouts() {
        let layouts = [
            CustomThermometer.atc, CustomThermometer.pvvx, CustomThermometer.encryptedATC,
            CustomThermometer.encryptedPVVX,
            RuuviTag.format3, RuuviTag.format5, RuuviTag.format6, RuuviTag.formatE1, IBeacon.layout, Eddystone.uid,
            AltBeacon.layout, MatterCommissioning.layout,
            Eddystone.telemetry, Govee.plain, Inkbird.small, Inkbird.dry, Inkbird.large,
        ]
        #expect(layouts.allSatisfy { !$0.fields.isEmpty })
        #expect(BTHome.objectCount == 90)
        #expect(SensorField("voltage_2", .number(3)).deviceClass == "voltage")
        #expect(SensorField("power", .number(3), unit: "W").deviceClass == "power")
        #expect(SensorField("power", .number(-59), unit: "dBm").deviceClass == "signal_strength")
        #expect(SensorField("battery_low", .boolean(true)).deviceClass == "battery")
        #expect(SensorField("packet_id", .number(3)).deviceClass == nil)
    }

    @Test("no octets break a reader, whatever the format")
    func hostile() {
        var random: UInt64 = 1
        func next() -> UInt8 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: random >> 56)
        }
        let keys = Self.keys("231d39c1d7cc1ab1aee224cd096db932")
        let names = [
            "", "sps", "tps", "iBBQ", "ibs-p02b", "GVH5075", "GVH5112", "H5106", "5140", "H5184", "H5198", "GV5179",
        ]
        let kinds: [(service: UInt16?, company: UInt16?)] =
            [0xFCD2, 0xFE95, 0x181A, 0x181B, 0x181D, 0xFEAA, 0xFD3D, 0x0D00].map { ($0, nil) }
            + [0x0499, 0x004C, 0x0006, 0xEC88, 0x0001, 0x8801, 0x8803, 0x1234, 0x67DD].map { (nil, $0) }
        let heads = Self.samples.flatMap { [$0.service?.1, $0.maker?.1] }.compactMap(\.self).map(Self.octets)
        for (service, company) in kinds {
            for round in 0..<1500 {
                var octets = (0..<Int(next() % 44)).map { _ in next() }
                if round.isMultiple(of: 2) {
                    let head = heads[Int(next()) % heads.count]
                    octets = Array(head.prefix(Int(next() % 32))) + octets.prefix(Int(next() % 16))
                }
                var data = AdvertisingData()
                data.localName = names[Int(next()) % names.count]
                data.serviceUUIDs = [BluetoothUUID(UInt16(0x5550))]
                if let service {
                    data.serviceData = [.init(uuid: BluetoothUUID(service), data: octets)]
                    data.manufacturerData = [.init(company: 0x0969, data: (0..<Int(next() % 20)).map { _ in next() })]
                }
                if let company { data.manufacturerData = [.init(company: company, data: octets)] }
                for report in SensorReport.reports(in: data, from: DeviceAddress("54:48:E6:8F:80:A5"), keys: keys) {
                    #expect(!report.description.isEmpty)
                    #expect(report.fields.count < 100)
                }
            }
        }
    }
}

@Suite("Keys of sensors")
struct SensorKeysTests {
    @Test("keys are neither printed nor shown in parts")
    func staySecret() {
        var keys = SensorKeys { _, _ in nil }
        keys.add([UInt8](0xA1...0xB0), for: nil)
        var parts = ""
        dump(keys, to: &parts)
        for text in ["\(keys)", String(reflecting: [keys]), parts] {
            #expect(!text.contains("161") && !text.lowercased().contains("a1a2"))
        }
        #expect("\(keys)" == "sensor keys: 1")
    }
}
