/// Govee's buttons and sensors that send when something happens, H5121 to H5130: a time, sixteen octets that are
/// encrypted with that time, and their CRC.
enum GoveeEvents {
    static let octets = 24

    static func report(_ data: [UInt8], in advertisement: SensorAdvertisement) -> SensorReport? {
        let sealed = Array(data[6..<22])
        guard checksum(sealed) == UInt16(data[22]) << 8 | UInt16(data[23]) else { return nil }
        // Their octets are in the opposite order of the standard's.
        let key = [UInt8](repeating: 0, count: 12) + data[2..<6].reversed()
        guard let plain = BlockCipher.decrypt(sealed.reversed(), key: key).map({ Array($0.reversed()) }) else {
            return nil
        }
        let named = models.first { advertisement.name.contains("GV" + $0.value.dropFirst()) }
        guard let model = named?.value ?? models.first(where: { $0.number == plain[2] })?.value else { return nil }
        var report = SensorReport("Govee", model: model, fields: [])
        let state = plain[5]
        switch model {
        case "H5121": report.fields = [SensorField("motion", .boolean(state == 1))]
        case "H5122": report.fields = [SensorField("button", .text("press"))]
        case "H5123": report.fields = [SensorField("window", .boolean(state == 2))]
        case "H5124": report.fields = [SensorField("vibration", .boolean(state == 1))]
        case "H5125", "H5126":
            // Buttons are numbered from 1 here, as BTHome's are.
            report.fields = [SensorField("button_\(Int(state) + 1)", .text("press"))]
        default:
            if state & 0x10 != 0 { report.fields.append(SensorField("button", .text("press"))) }
            if state != 0x10 { report.fields.append(SensorField("presence", .boolean(state & 1 != 0))) }
        }
        report.fields.append(SensorField("battery", .number(DecimalNumber(plain[4])), unit: "%"))
        return report
    }

    private static let models: [(number: UInt8, value: String)] = [
        (3, "H5121"), (8, "H5122"), (2, "H5123"), (9, "H5124"), (10, "H5125"), (11, "H5126"), (13, "H5130"),
    ]

    /// CRC-16 with the polynomial 0x1021, from 0x1D0F.
    private static func checksum(_ octets: [UInt8]) -> UInt16 {
        octets.reduce(UInt16(0x1D0F)) { crc, octet in
            (0..<8).reversed().reduce(crc) { crc, bit in
                let isSet = (crc >> 15) ^ UInt16(octet >> UInt8(bit) & 1) == 1
                return crc << 1 ^ (isSet ? 0x1021 : 0)
            }
        }
    }
}
