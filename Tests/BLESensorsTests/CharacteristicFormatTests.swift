import BLEAssignedNumbers
import BLEPackets
import Testing

@testable import BLESensors

@Suite("Assigned characteristics")
struct CharacteristicFormatTests {
    /// UUID, octets, and what they mean in words.
    static let samples: [(UInt16, [UInt8], String)] = [
        (0x2A19, [0x57], "87 %"),
        (0x2A07, [0xF4], "-12 dBm"),
        (0x2A6E, [0x59, 0x08], "21.37 °C"), (0x2A6E, [0x00, 0x80], "not known"), (0x2A6E, [0x30, 0xF8], "-20 °C"),
        (0x2A6F, [0x0A, 0x14], "51.3 %"), (0x2A6F, [0xFF, 0xFF], "not known"),
        (0x2A6D, [0xCD, 0x75, 0x0F, 0x00], "101319.7 Pa"),
        (0x2A37, [0x06, 0x40], "Sensor Contact yes, Heart Rate 64 bpm"),
        (
            0x2A37, [0x1D, 0x2C, 0x01, 0x10, 0x00, 0x00, 0x04, 0x00, 0x02],
            "Sensor Contact no, Heart Rate 300 bpm, Energy Expended 16 kJ, RR-Interval 1, 0.5 s"
        ),
        (0x2A38, [0x01], "Chest"), (0x2A38, [0x63], "99"),
        (
            0x2A1C, [0x06, 0x71, 0x01, 0x00, 0xFF, 0xEA, 0x07, 0x0B, 0x16, 0x06, 0x12, 0x26, 0x02],
            "Temperature Measurement Value 36.9 °C, Time Stamp 2026-11-22 06:18:38, Temperature Type Body (general)"
        ),
        (0x2A1C, [0x01, 0xFF, 0xFF, 0x7F, 0x00], "not known"),
        (
            0x2A35, [0x00, 0x78, 0x00, 0x50, 0x00, 0x5D, 0x00],
            "Systolic 120 mmHg, Diastolic 80 mmHg, Mean Arterial Pressure 93 mmHg"
        ),
        (0x2A5B, [0x01, 0x10, 0, 0, 0, 0x00, 0x08], "Cumulative Wheel Revolutions 16, Last Wheel Event Time 2 s"),
        (
            0x2A53, [0x05, 0x80, 0x02, 0x50, 0x64, 0x00],
            "Instantaneous Speed 2.5 m/s, Instantaneous Cadence 80 /min, Instantaneous Stride Length 1 m, "
                + "Walking or Running running"
        ),
        (
            0x2A63, [0x30, 0x00, 0xC8, 0x00, 0x01, 0, 0, 0, 0x00, 0x04, 0x02, 0x00, 0x00, 0x04],
            "Instantaneous Power 200 W, Cumulative Wheel Revolutions 1, Last Wheel Event Time 0.5 s, "
                + "Cumulative Crank Revolutions 2, Last Crank Event Time 1 s"
        ),
        (0x2A9D, [0x00, 0x10, 0x36], "69.2 kg"), (0x2A9D, [0x01, 0x10, 0x36], "138.4 lb"),
        (0x2A9D, [0x08, 0x10, 0x36, 0xE6, 0x00, 0x09, 0x07], "Weight 69.2 kg, BMI 23 kg/m², Height 1.801 m"),
        (0x2A9C, [0x02, 0x00, 0xC8, 0x00, 0, 0, 0, 0, 0, 0, 0], "Body Fat Percentage 20 %, Time Stamp not known"),
        (0x2A2B, [0xEA, 0x07, 11, 22, 6, 18, 38, 7, 128, 0x01], "Date Time 2026-11-22 06:18:38"),
        (
            0x2A50, [0x02, 0x5E, 0x04, 0x40, 0x00, 0x00, 0x03],
            "Vendor ID Source USB Implementer’s Forum, Vendor ID 1118, Product ID 64, Product Version 768"
        ),
        (0x2A29, Array("Jelling\0\0".utf8), "Jelling"), (0x2A00, Array("Kjøkken".utf8), "Kjøkken"),
        (0x2A01, [0xC1, 0x03], "Human Interface Device: Keyboard"),
        (0x2A04, [0x18, 0x00, 0x28, 0x00, 0x00, 0x00, 0x2A, 0x00], "Minimum Connection Interval 30 ms"),
        (0x2902, [0x01, 0x00], "Notification yes, Indication no"),
        (0x2AED, [0x00, 0x00, 0x00], "not known"), (0x2AED, [0x2B, 0x51, 0x00], "2026-11-22"),
        (0x2B13, [0x40], "1 s"), (0x2B13, [0xFF], "not known"), (0x2B13, [0xFE], "total life of the device"),
        (0x2B18, [0xD3, 0x00], "3.297 V"),
        (0x2BED, [0x02, 0x21, 0x00, 0x4B], "Battery Present yes"),
        (0x2BD0, [0x1A, 0xE0], "0.26 kg/m³"), (0x2BD0, [0x00, 0x08], "not valid"),
        (0x2C22, [0x05], "Contact 0 closed, Contact 1 open, Contact 2 closed"),
        (0x2ABF, [0x01, 0x7F], "7F01"), (0x2A0E, [0xF8], "-120 min"),
        (0x2BFF, [0x03, 0x41, 0, 0x42, 0], "UDI Label A"),
        (
            0x2A67, [0x04, 0x00, 0x00, 0x1B, 0xB7, 0x21, 0x00, 0xA9, 0x14, 0x07],
            "Position Status 0, Elevation Source 0, Heading Source Heading based on movement, Latitude 56.5648128°, "
                + "Longitude 11.8794496°"
        ),
    ]

    @Test("octets mean what the GATT Specification Supplement says", arguments: samples)
    func meaning(_ uuid: UInt16, _ octets: [UInt8], _ meaning: String) throws {
        let format = try #require(CharacteristicFormat(of: BluetoothUUID(uuid)))
        let text = CharacteristicFormat.text(try format.decode(octets.span.bytes))
        #expect(text.hasPrefix(meaning), "\(text)")
        if meaning != text { #expect(text.dropFirst(meaning.count).hasPrefix(", ")) }
    }

    @Test("a value that is truncated or too long is an error, not a guess")
    func broken() throws {
        func failure(_ uuid: UInt16, _ octets: [UInt8]) -> DecodingError? {
            do throws(DecodingError) {
                _ = try CharacteristicFormat(of: BluetoothUUID(uuid))?.decode(octets.span.bytes)
                return nil
            } catch {
                return error
            }
        }
        #expect(failure(0x2A19, []) == .truncated(needed: 1, remaining: 0))
        #expect(failure(0x2A19, [1, 2]) == .trailingBytes(1))
        #expect(failure(0x2A37, [0x01, 0x40]) == .truncated(needed: 2, remaining: 1))
        #expect(failure(0x2A08, [0, 0, 0]) == .truncated(needed: 7, remaining: 3))
        #expect(failure(0x2BFF, [0x01, 0x41]) == .truncated(needed: 1, remaining: 0))
    }

    @Test("a characteristic without a format is not an error")
    func unknown() {
        #expect(CharacteristicFormat(of: BluetoothUUID(UInt16(0x2AFF))) != nil)
        #expect(CharacteristicFormat(of: BluetoothUUID(UInt16(0xFFF4))) == nil)
        #expect(CharacteristicFormat(of: BluetoothUUID(high: 1, low: 2)) == nil)
        #expect(CharacteristicFormat(of: BluetoothUUID(UInt16(0x2A19)).expanded) != nil)
    }

    @Test("every line of the table can be read, and no octets break it")
    func everyLine() throws {
        var count = 0
        var random: UInt32 = 1
        for number in UInt16.min...UInt16.max {
            guard let line = AssignedNumbers.line(of: number, in: CharacteristicFormat.lines) else { continue }
            let format = try #require(OctetLayout(line: line.description), "\(line)")
            count += 1
            for length in 0..<40 {
                for fill in [UInt8(0), 0xFF, 0x80, 0x7F, nil] {
                    let octets = (0..<length).map { _ in
                        random = random &* 1_664_525 &+ 1_013_904_223
                        return fill ?? UInt8(truncatingIfNeeded: random >> 24)
                    }
                    guard let fields = format.fields(of: octets) else { continue }
                    for field in fields { #expect(!field.description.isEmpty) }
                }
            }
        }
        #expect(count == 297)
    }
}

@Suite("Decimal numbers")
struct DecimalNumberTests {
    @Test("digits stand as they are meant")
    func text() {
        #expect(DecimalNumber(2137, exponent: -2).description == "21.37")
        #expect(DecimalNumber(2130, exponent: -2).description == "21.3")
        #expect(DecimalNumber(-5, exponent: -1).description == "-0.5")
        #expect(DecimalNumber(-5, exponent: -3).description == "-0.005")
        #expect(DecimalNumber(5, exponent: 3).description == "5000")
        #expect(DecimalNumber(0, exponent: 100).description == "0")
        #expect(DecimalNumber(12, exponent: 20).description == "1200000000000000000000")
        #expect(DecimalNumber(2137, exponent: -2).double == 21.37)
        #expect(DecimalNumber(2137, exponent: -2) == DecimalNumber(21370, exponent: -3))
        #expect(DecimalNumber(21).integer == 21 && DecimalNumber(21, exponent: -1).integer == nil)
        #expect(DecimalNumber(-3, binaryExponent: -2).description == "-0.75")
        #expect(DecimalNumber(rounding: 1.005, places: 2)?.description == "1")
        #expect(DecimalNumber(rounding: .infinity, places: 2) == nil)
    }
}
