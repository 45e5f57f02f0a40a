/// Xiaomi's older scales: service data of Weight Scale (0x181D) and of Body Composition (0x181B).
enum MiScale {
    static func report(_ data: [UInt8], service: UInt16) -> SensorReport? {
        let isBody = service == 0x181B
        guard data.count == (isBody ? 13 : 10) else { return nil }
        // The same flags, in other places.
        let isPounds = data[0] & 1 != 0
        let isStable = data[isBody ? 1 : 0] & 0x20 != 0
        let isEmpty = data[isBody ? 1 : 0] & 0x80 != 0
        let place = isBody ? 11 : 1
        let raw = Int64(data[place]) | Int64(data[place + 1]) << 8
        let mass =
            if isPounds { DecimalNumber(raw, exponent: -2) } else {
                // Steps of 5 g; if the scale shows catties, hundredths of half a kilogram, which is the same.
                DecimalNumber(raw * 5, exponent: -3)
            }
        let unit = isPounds ? "lb" : "kg"
        var fields = [SensorField("mass_non_stabilized", .number(mass), unit: unit)]
        let isMeasured = isStable && !isEmpty && raw > 0
        if isMeasured {
            fields.append(SensorField("mass", .number(mass), unit: unit))
            if isBody, data[1] & 2 != 0 {
                let impedance = Int64(data[9]) | Int64(data[10]) << 8
                fields.append(SensorField("impedance", .number(DecimalNumber(impedance)), unit: "Ω"))
            }
        }
        fields.append(SensorField("stabilized", .boolean(isMeasured)))
        return SensorReport(
            "Xiaomi scale", model: isBody ? "XMTZC02HM/XMTZC05HM/NUN4049CN" : "XMTZC01HM/XMTZC04HM", fields: fields)
    }
}
