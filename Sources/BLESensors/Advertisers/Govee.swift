import BLEPackets

/// Govee's thermometers and hygrometers. Their manufacturer data uses identifiers of other companies, so that they are
/// recognised by length, identifier and name together.
enum Govee {
    static func report(
        _ entry: AdvertisingData.ManufacturerData, in advertisement: SensorAdvertisement
    ) -> SensorReport? {
        var data = entry.data
        // The scan response of a beacon is joined to some of them.
        if data.count > 25, containsRocks(data) { data = Array(data.dropLast(25)) }
        let name = advertisement.name
        func isNamed(_ models: String...) -> String? { models.first { name.contains($0) } }
        switch data.count {
        case 6:
            if isPresence(data), entry.company == 0x8803 || entry.company == 0x8843 || isNamed("H5127") != nil {
                let fields = [
                    SensorField("occupancy", .boolean(data[4] == 1)), SensorField("motion", .boolean(data[5] == 17)),
                ]
                return SensorReport("Govee", model: "H5127", fields: fields)
            }
            if let model = isNamed("H5072", "H5075", "H5129") ?? (entry.company == 0xEC88 ? "H5072/H5075" : nil) {
                return SensorReport(
                    "Govee", model: model, fields: packed(data[1...3], status: data[4]) + battery(data[4]))
            }
            if isNamed("H5106") != nil { return SensorReport("Govee", model: "H5106", fields: airQuality(data)) }
            if let model = isNamed(
                "H5108", "H5100", "H5101", "H5102", "H5103", "H5104", "H5105", "H5174", "H5177", "H5110", "GV5179")
            {
                return SensorReport(
                    "Govee", model: model, fields: packed(data[2...4], status: data[5]) + battery(data[5]))
            }
        case 7 where entry.company == 0xEC88 || isNamed("H5074") != nil:
            return SensorReport("Govee", model: "H5074", fields: plain.fields(of: data[1...]) ?? [])
        case 8 where isNamed("H5112", "GV5112") != nil:
            let probe = data[7] == 0x41 ? "1" : data[7] == 0x82 ? "2" : ""
            guard !probe.isEmpty else { return nil }
            let fields = packed(data[2...4], status: data[5]).filter { probe == "1" || $0.name != "humidity" }
            let named = fields.map { SensorField("\($0.name)_probe_\(probe)", $0.value, unit: $0.unit) }
            return SensorReport("Govee", model: "H5112", fields: named + battery(data[5]))
        case 8 where isNamed("5140") != nil:
            let carbonDioxide = UInt16(data[5]) << 8 | UInt16(data[6])
            let value: SensorValue = data[7] == 0 ? .number(DecimalNumber(carbonDioxide)) : .invalid
            return SensorReport(
                "Govee", model: "H5140",
                fields: packed(data[2...4], status: data[7] == 0 ? 0 : 0x80)
                    + [SensorField("carbon_dioxide", value, unit: "ppm")])
        case 8
        where entry.company == 0x0001
            || isNamed(
                "H5108", "H5100", "H5101", "H5102", "H5103", "H5104", "H5105", "H5174", "H5177", "H5110", "GV5179")
                != nil:
            return SensorReport(
                "Govee", model: "H5108", fields: packed(data[2...4], status: data[5]) + battery(data[5]))
        case 9:
            if let model = isNamed("H5071", "H5052", "H5051") ?? (entry.company == 0xEC88 ? "H5051" : nil) {
                return SensorReport("Govee", model: model, fields: plain.fields(of: data[1...]) ?? [])
            }
            if entry.company == 0x0001 || isNamed("H5178", "B5178") != nil {
                let fields = packed(data[3...5], status: data[6]) + battery(data[6])
                return SensorReport("Govee", model: data[2] == 1 ? "H5178-REMOTE" : "H5178", fields: fields)
            }
            if entry.company == 0x8801 || isNamed("H5179") != nil {
                return SensorReport("Govee", model: "H5179", fields: plain.fields(of: data[4...]) ?? [])
            }
        case GoveeEvents.octets: return GoveeEvents.report(data, in: advertisement)
        case 14, 17, 20: return GoveeProbes.report(data, company: entry.company, in: advertisement)
        default: break
        }
        return nil
    }

    /// Hundredths, and a battery without an error bit.
    static let plain = OctetLayout("temperature~i16~°C~e-2|humidity~u16~%~e-2|battery~u8~%")

    private static func isPresence(_ data: [UInt8]) -> Bool {
        data.starts(with: [0xEC, 0x00, 0x01, 0x01]) || data.starts(with: [0xEC, 0x00, 0x02, 0x01])
    }

    private static func containsRocks(_ data: [UInt8]) -> Bool {
        let text = Array("INTELLI_ROCKS".utf8)
        return data.indices.contains { data[$0...].starts(with: text) }
    }

    /// Three octets: a sign, and temperature and humidity in tenths in one decimal number.
    private static func packed(_ octets: ArraySlice<UInt8>, status: UInt8 = 0) -> [SensorField] {
        let bits = octets.reduce(Int64(0)) { $0 << 8 | Int64($1) }
        let magnitude = (bits & 0x7FFFFF) / 1000
        let temperature = bits & 0x800000 == 0 ? magnitude : -magnitude
        let isValid = status & 0x80 == 0 && (-400...1000).contains(temperature)
        let humidity = DecimalNumber((bits & 0x7FFFFF) % 1000, exponent: -1)
        return [
            SensorField(
                "temperature", isValid ? .number(DecimalNumber(temperature, exponent: -1)) : .invalid, unit: "°C"),
            SensorField("humidity", isValid ? .number(humidity) : .invalid, unit: "%"),
        ]
    }

    private static func battery(_ octet: UInt8) -> [SensorField] {
        [SensorField("battery", .number(DecimalNumber(octet & 0x7F)), unit: "%")]
    }

    /// Temperature, humidity and fine dust in one decimal number of four octets.
    private static func airQuality(_ data: [UInt8]) -> [SensorField] {
        let bits = data[2..<6].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        let number = bits & 0x7FFF_FFFF
        let temperature = bits & 0x8000_0000 == 0 ? number / 1_000_000 : -(number / 1_000_000)
        return [
            SensorField("temperature", .number(DecimalNumber(temperature, exponent: -1)), unit: "°C"),
            SensorField("humidity", .number(DecimalNumber(number % 1_000_000 / 1000, exponent: -1)), unit: "%"),
            SensorField("pm25", .number(DecimalNumber(number % 1000)), unit: "µg/m³"),
        ]
    }
}
