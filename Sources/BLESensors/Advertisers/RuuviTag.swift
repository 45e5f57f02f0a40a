/// Ruuvi's data formats 3, 5, 6 and E1, in manufacturer data of 0x0499.
enum RuuviTag {
    private static let head =
        "temperature~I16~°C~5e-3~~8000=?|humidity~U16~%~25e-4~~ffff=?|pressure~U16~hPa~e-2+50000~~ffff=?"
    static let format3 = OctetLayout(
        "~u8|humidity~u8~%~5e-1|~u16|pressure~U16~hPa~e-2+50000|acceleration_x~I16~mg|acceleration_y~I16~mg|acceleration_z~I16~mg|voltage~U16~mV"
    )
    static let format5 = layout(
        "~u8|\(head)|acceleration_x~I16~mg~~~8000=?|acceleration_y~I16~mg~~~8000=?|acceleration_z~I16~mg~~~8000=?"
            + "|~W16|voltage~.5-15~mV~e0+1600~~7ff=?|tx_power~.0-4~dBm~2e0+-20~~1f=?|movement_counter~u8~~~~ff=?"
            + "|sequence~U16~~~~ffff=?")
    static let format6 = layout(
        "~u8|\(head)|pm25~U16~µg/m³~e-1~~ffff=?|carbon_dioxide~U16~ppm~~~ffff=?|~u8|~u8|~u8|~u8|sequence~u8")
    static let formatE1 = layout(
        "~u8|\(head)|pm1~U16~µg/m³~e-1~~ffff=?|pm25~U16~µg/m³~e-1~~ffff=?|pm4~U16~µg/m³~e-1~~ffff=?"
            + "|pm10~U16~µg/m³~e-1~~ffff=?|carbon_dioxide~U16~ppm~~~ffff=?|~u8|~u8|illuminance~U24~lx~e-2~~ffffff=?"
            + "|~u24|sequence~U24~~~~ffffff=?|~w8|calibrating~.0")

    private static func layout(_ line: String) -> OctetLayout { OctetLayout(line: line) ?? OctetLayout("") }

    static func report(_ data: [UInt8]) -> SensorReport? {
        switch data.first {
        case 3 where data.count >= 14:
            guard var fields = format3.fields(of: data) else { return nil }
            // Sign and whole degrees, then hundredths.
            let magnitude = Int64(data[2] & 0x7F) * 100 + Int64(data[3])
            let temperature = DecimalNumber(data[2] & 0x80 == 0 ? magnitude : -magnitude, exponent: -2)
            fields.insert(
                SensorField("temperature", data[3] < 100 ? .number(temperature) : .invalid, unit: "°C"), at: 0)
            return SensorReport("RuuviTag 3", model: "RuuviTag", fields: fields)
        case 5 where data.count >= 24:
            return format5.fields(of: data).map { SensorReport("RuuviTag 5", model: "RuuviTag", fields: $0) }
        case 6 where data.count >= 20:
            guard let fields = format6.fields(of: data) else { return nil }
            let more = [
                index("voc_index", data[11], data[16] & 0x40), index("nox_index", data[12], data[16] & 0x80),
                SensorField("illuminance", illuminance(data[13]), unit: "lx"), sound(data[14], data[16] & 0x10),
            ]
            return SensorReport("RuuviTag 6", model: "Ruuvi Air", fields: fields + more)
        case 0xE1 where data.count >= 40:
            guard let fields = formatE1.fields(of: data) else { return nil }
            let more = [index("voc_index", data[17], data[28] & 0x40), index("nox_index", data[18], data[28] & 0x80)]
            return SensorReport("RuuviTag E1", model: "Ruuvi Air", fields: fields + more)
        default: return nil
        }
    }

    /// Nine bits, of which the least significant is stored separately.
    private static func index(_ name: String, _ octet: UInt8, _ leastBit: UInt8) -> SensorField {
        let value = UInt16(octet) << 1 | (leastBit == 0 ? 0 : 1)
        return SensorField(name, value == 0x1FF ? .unknown : .number(DecimalNumber(value)))
    }

    private static func sound(_ octet: UInt8, _ leastBit: UInt8) -> SensorField {
        let value = Int64(octet) << 1 | (leastBit == 0 ? 0 : 1)
        let level = DecimalNumber(value * 2 + 180, exponent: -1)
        return SensorField("sound_pressure", value == 0x1FF ? .unknown : .number(level), unit: "dB")
    }

    /// A logarithmic scale: 0 is dark, 254 are 65,535 lux.
    private static func illuminance(_ octet: UInt8) -> SensorValue {
        guard octet < 255 else { return .unknown }
        // 2 to the power of 16 · octet / 254: the whole part, then halves, quarters and so on by square roots.
        var exponent = 16 * Double(octet) / 254
        var value = 1.0
        while exponent >= 1 {
            value *= 2
            exponent -= 1
        }
        var factor = 2.0
        for _ in 0..<40 {
            factor.formSquareRoot()
            exponent *= 2
            if exponent >= 1 {
                value *= factor
                exponent -= 1
            }
        }
        return DecimalNumber(rounding: value - 1, places: 0).map { .number($0) } ?? .invalid
    }
}
