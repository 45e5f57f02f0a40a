import BLEHost
import BLEPackets
import BLESecurity
import Testing

@testable import BLESensors

/// What beacons send, beside what the descriptions of their formats show.
@Suite("Beacons")
struct BeaconTests {
    static let octets = SensorReportTests.octets

    static func report(_ data: BeaconData, name: String? = nil) -> String {
        var advertisement = AdvertisingData()
        advertisement.localName = name
        switch data.owner {
        case .company(let company):
            advertisement.manufacturerData = [.init(company: company, data: data.octets)]
        case .service(let number):
            advertisement.serviceData = [.init(uuid: BluetoothUUID(number), data: data.octets)]
        }
        return SensorReport.reports(in: advertisement).map(\.description).joined(separator: "; ")
    }

    @Test("an iBeacon has the octets of Apple's description, and the decoder reads them")
    func iBeacon() throws {
        let uuid = try #require(BluetoothUUID("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"))
        let data = IBeaconFrame(uuid: uuid, major: 1, minor: 258, power: -59).data
        var writer = AdvertisingDataWriter()
        try data.append(to: &writer)
        #expect(writer.bytes == Self.octets("1AFF4C000215E2C56DB5DFFB48D2B060D0F5A71096E000010102C5"))
        #expect(writer.bytes.count == data.structureByteCount)
        #expect(Self.report(data).hasSuffix("major 1, minor 258, power -59 dBm"))
    }

    @Test("an AltBeacon has the octets of its specification")
    func altBeacon() throws {
        let uuid = try #require(BluetoothUUID("E2C56DB5-DFFB-48D2-B060-D0F5A71096E0"))
        let data = AltBeaconFrame(uuid: uuid, major: 1, minor: 2, power: -59, reserved: 7).data
        var writer = AdvertisingDataWriter()
        try data.append(to: &writer)
        #expect(writer.bytes == Self.octets("1BFF1801BEACE2C56DB5DFFB48D2B060D0F5A71096E000010002C507"))
        #expect(
            Self.report(data) == "AltBeacon: uuid E2C56DB5-DFFB-48D2-B060-D0F5A71096E0, major 1, minor 2, "
                + "power -59 dBm, reserved 7")
        #expect(AltBeaconFrame(identifier: [1]).identifier == [1] + [UInt8](repeating: 0, count: 19))
    }

    @Test(
        "an address of the web is abbreviated as Eddystone says, and the decoder reads it again",
        arguments: [
            ("https://example.com/", "03 6578616d706c65 00"), ("http://www.example.org", "00 6578616d706c65 08"),
            ("https://goo.gl/Aa1", "03 676f6f2e676c2f416131"), ("HTTPS://www.a.info/b.gov", "01 61 04 62 0d"),
        ])
    func url(text: String, hex: String) throws {
        let url = try EddystoneURL(text)
        #expect(url.octets == Self.octets(hex))
        let data = EddystoneFrame.url(url, power: -18).data
        #expect(data.octets.prefix(2) == [0x10, 0xEE])
        #expect(data.listedService == BluetoothUUID(0xFEAA as UInt16))
        let read = text.hasPrefix("HTTPS") ? text.replacing("HTTPS", with: "https") : text
        #expect(Self.report(data) == "Eddystone URL: url \(read), power -18 dBm")
    }

    @Test("an address of the web that cannot be sent is refused with the reason")
    func wrongURLs() {
        func mistake(_ text: String) -> EddystoneURL.Mistake? {
            do throws(EddystoneURL.Mistake) { _ = try EddystoneURL(text) } catch { return error }
            return nil
        }
        #expect(mistake("ftp://example.com") == .scheme)
        #expect(mistake("https://") == .empty)
        #expect(mistake("https://a b") == .character(" "))
        #expect(mistake("https://ä.de") == .character("ä"))
        #expect(mistake("https://12345678901234567") == nil)
        #expect(mistake("https://123456789012345678") == .tooLong(18))
    }

    @Test("an identifier of Eddystone has 20 octets, the last two of them reserved")
    func uid() {
        let data = EddystoneFrame.uid(
            namespace: Self.octets("00010203040506070809"), instance: Self.octets("aabbccddeeff"), power: -20
        ).data
        #expect(data.octets == Self.octets("00EC 00010203040506070809 AABBCCDDEEFF 0000"))
        #expect(
            Self.report(data) == "Eddystone UID: namespace 00010203040506070809, instance aabbccddeeff, power -20 dBm")
    }

    static func measurements(_ text: String) throws -> [BTHomeMeasurement] {
        try text.split(separator: ",").map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return try BTHomeMeasurement(pair[0], pair[1])
        }
    }

    @Test(
        "measurements have the octets of bthome.io, in the order of their numbers",
        arguments: [
            ("temperature=25,humidity=50.55", "40 02C409 03BF13"),
            ("humidity=50.55,temperature=25", "40 02C409 03BF13"),
            ("packet_id=9", "40 0009"), ("battery=97", "40 0161"), ("pressure=1008.83", "40 04138A01"),
            ("illuminance=13460.67", "40 05138A14"), ("mass=80.3", "40 065E1F"), ("mass=74.86lb", "40 073E1D"),
            ("dew-point=17.38", "40 08CA06"), ("count=96", "40 0960"), ("count=24585", "40 3D0960"),
            ("energy=1346.067", "40 0A138A14"), ("power=69.14", "40 0B021B00"), ("voltage=3.074", "40 0C020C"),
            ("pm25=3090", "40 0D120C"), ("power_on=yes", "40 1001"), ("window=closed", "40 2D00"),
            ("rotation=307.4", "40 3F020C"), ("distance=12", "40 400C00"), ("distance=7.8m", "40 414E00"),
            ("timestamp=1684093277", "40 505D396164"), ("text=Hello World!", "40 530C48656C6C6F20576F726C6421"),
            ("raw=48656c", "40 540348656c"), ("temperature=-5.5", "40 02DAFD"), ("button=press", "44 3A01"),
            ("dimmer=-3", "44 3C0103"), ("temperature=21.456", "40 026208"), ("humidity=350", ""),
        ])
    func bthome(text: String, hex: String) throws {
        guard !hex.isEmpty else {
            do throws(BTHomeMeasurement.Mistake) {
                _ = try BTHomeMeasurement("humidity", "700")
                Issue.record("out of range")
            } catch { #expect(error == .value("0 to 655.35 %")) }
            return
        }
        #expect(BTHomeFrame(try Self.measurements(text)).data.octets == Self.octets(hex))
    }

    @Test("a wrong measurement is refused with what is right")
    func wrongMeasurements() {
        func mistake(_ name: String, _ value: String) -> BTHomeMeasurement.Mistake? {
            do throws(BTHomeMeasurement.Mistake) { _ = try BTHomeMeasurement(name, value) } catch { return error }
            return nil
        }
        #expect(mistake("temprature", "1") == .unknown)
        #expect(mistake("temperature", "warm") == .value("a number in °C"))
        #expect(mistake("temperature", "400") == nil)
        #expect(mistake("temperature", "4000") == .value("-3276.8 to 3276.7 °C"))
        #expect(mistake("mass", "1kn") == .value("a number in kg or lb"))
        #expect(mistake("window", "ajar") == .value("yes or no"))
        #expect(mistake("raw", "abc") == .value("octets in hexadecimal, such as 0aff"))
        #expect(mistake("packet_id", "300") == .value("0 to 255"))
        #expect(BTHomeMeasurement.names.contains("temperature") && BTHomeMeasurement.names.contains("button"))
    }

    @Test("every quantity that can be sent is read again")
    func roundTrip() throws {
        for name in BTHomeMeasurement.names where name != "button" && name != "dimmer" {
            let value =
                ["text": "Hi", "raw": "0aff"][name]
                ?? (name == "timestamp" ? "1684093277" : (try? BTHomeMeasurement(name, "yes")) != nil ? "yes" : "7")
            let data = BTHomeFrame([try BTHomeMeasurement(name, value)]).data
            let words = name.replacing("_", with: " ")
            #expect(Self.report(data).hasPrefix("BTHome v2: \(words) "), "\(name): \(data.octets)")
        }
    }

    @Test("the sample of bthome.io is encrypted to the octets that it shows")
    func sealed() throws {
        let frame = BTHomeFrame(try Self.measurements("temperature=25.06,humidity=50.55"))
        let address = try #require(DeviceAddress("54:48:E6:8F:80:A5"))
        let key = Self.octets("231d39c1d7cc1ab1aee224cd096db932")
        let encrypt: SensorKeys.Encrypt = { key, block in
            guard case .octets(let octets) = SwiftCryptoProvider().answer(.encrypt(key: key, block: block)) else {
                return nil
            }
            return octets
        }
        let data = try #require(frame.sealed(key: key, address: address, counter: 0x3322_1100, encrypt: encrypt))
        #expect(data.octets == Self.octets("41 a47266c95f73 00112233 78237214"))
        #expect(data.octets.count == frame.data.octets.count + BTHomeFrame.sealByteCount)
        #expect(frame.sealed(key: [1], address: address, counter: 1, encrypt: encrypt) == nil)
    }

    @Test(
        "Matter's commissioning data, trackers and Find My say whom they belong to",
        arguments: [
            SensorReportTests.Sample(
                service: (0xFFF6, "00 000F F1FF 0080 00"),
                text: "Matter: discriminator 3840, vendor 65521, product 32768, additional data no, "
                    + "extended announcement no"),
            SensorReportTests.Sample(
                service: (0xFFF6, "00 BC1A 0000 0000 03"),
                text: "Matter: discriminator 2748, version 1, vendor not known, product not known, "
                    + "additional data yes, extended announcement yes"),
            SensorReportTests.Sample(
                service: (0xFCB2, "01 01 AA"), text: "Location Tracker: network Apple, near owner yes"),
            SensorReportTests.Sample(
                service: (0xFCB2, "07 00"), text: "Location Tracker: network number 7, near owner no"),
            SensorReportTests.Sample(
                maker: (0x004C, "1202 2403"),
                text: "Apple: messages Find My, kind accessory, near owner yes, maintained yes, battery level full"),
            SensorReportTests.Sample(
                maker: (0x004C, "1219 A0 00112233445566778899AABBCCDDEEFF001122334455 03 7F"),
                text: "Apple: messages Find My, kind accessory, near owner no, maintained no, battery level low"),
            // What an AirTag with a full battery was seen to send.
            SensorReportTests.Sample(
                maker: (0x004C, "1219 90 00112233445566778899AABBCCDDEEFF001122334455 03 7F"),
                text: "Apple: messages Find My, kind AirTag, near owner no"),
        ])
    func owners(sample: SensorReportTests.Sample) {
        let reports = SensorReport.reports(in: SensorReportTests.data(sample))
        #expect(reports.map(\.description) == [sample.text])
    }

    @Test("what is too short has no report", arguments: ["", "00", "00000FF1FF0080", "01000FF1FF008000"])
    func short(hex: String) {
        var data = AdvertisingData()
        data.serviceData = [
            .init(uuid: BluetoothUUID(0xFFF6 as UInt16), data: Self.octets(hex)),
            .init(uuid: BluetoothUUID(0xFCB2 as UInt16), data: Array(Self.octets(hex).prefix(1))),
        ]
        #expect(SensorReport.reports(in: data).isEmpty)
    }
}
