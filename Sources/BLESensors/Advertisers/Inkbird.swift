import BLEPackets

/// Inkbird's thermometers. Their manufacturer data have no company: the number in its place is the first value.
enum Inkbird {
    static let small = OctetLayout("temperature~i16~°C~e-2|humidity~u16~%~e-2|~s3|battery~u8~%")
    static let dry = OctetLayout("temperature~i16~°C~e-2|~u16|~s3|battery~u8~%")
    static let large = OctetLayout("~s6|temperature~i16~°C~e-1|humidity~u16~%~e-1~~0=?|battery~u8~%")

    /// The models by the names that they advertise.
    private static let models: [String: (name: String, layout: OctetLayout, octets: Int)] = [
        "sps": ("IBS-TH", small, 9), "tps": ("IBS-TH2/P01B", small, 9), "ibs-p02b": ("IBS-P02B", large, 18),
        "ith-11-b": ("ITH-11-B", large, 18), "ith-13-b": ("ITH-13-B", large, 18), "ith-21-b": ("ITH-21-B", large, 18),
    ]

    static func report(
        _ entry: AdvertisingData.ManufacturerData, in advertisement: SensorAdvertisement
    ) -> SensorReport? {
        let data = [UInt8(entry.company & 0xFF), UInt8(entry.company >> 8)] + entry.data
        let name = advertisement.name.lowercased()
        if let model = models[name], data.count == model.octets {
            // The probe has the same packet, with no humidity in it.
            let isDry = name == "tps" && [[0, 0], [0xFF, 0xFF]].contains(Array(data[2..<4]))
            guard let fields = (isDry ? dry : model.layout).fields(of: data) else { return nil }
            let isBroken = fields.contains { field in
                guard ["humidity", "battery"].contains(field.name), case .number(let number) = field.value else {
                    return false
                }
                return number.double > 100
            }
            return isBroken ? nil : SensorReport("Inkbird", model: model.name, fields: fields)
        }
        guard name.contains("ibbq") || name.contains("xbbq"), data.count > 10, data.count <= 22,
            data.count.isMultiple(of: 2)
        else { return nil }
        let count = (data.count - 10) / 2
        guard [1, 2, 4, 6].contains(count) else { return nil }
        var fields: [SensorField] = []
        for index in 0..<count {
            let raw = Int16(bitPattern: UInt16(data[10 + 2 * index]) | UInt16(data[11 + 2 * index]) << 8)
            // Nothing is plugged in.
            guard raw != -1 else { continue }
            let temperature = DecimalNumber(raw, exponent: -1)
            fields.append(SensorField("temperature_probe_\(index + 1)", .number(temperature), unit: "°C"))
        }
        return SensorReport("Inkbird", model: "iBBQ-\(count)", fields: fields)
    }
}
