/// Google's Eddystone, in service data of 0xFEAA.
enum Eddystone {
    /// Of all but telemetry: the power at no distance.
    static let uid = OctetLayout("~u8|power~i8~dBm")
    static let telemetry = OctetLayout(
        "~u16|voltage~U16~V~e-3~~0=?|temperature~I16~°C~b-8~~8000=?|packets~U32|uptime~U32~s~e-1")

    static func report(_ data: [UInt8]) -> SensorReport? {
        switch data.first {
        case 0x00 where data.count >= 18:
            let ids = [
                SensorField("namespace", .octets(Array(data[2..<12]))),
                SensorField("instance", .octets(Array(data[12..<18]))),
            ]
            return SensorReport("Eddystone UID", fields: ids + (uid.fields(of: data) ?? []))
        case 0x10 where data.count >= 3:
            let url = SensorField("url", .text(url(data[2...])))
            return SensorReport("Eddystone URL", fields: [url] + (uid.fields(of: data) ?? []))
        case 0x20 where data.count >= 14 && data[1] == 0x00:
            return telemetry.fields(of: data).map { SensorReport("Eddystone TLM", fields: $0) }
        case 0x20 where data.count >= 18 && data[1] == 0x01:
            return SensorReport("Eddystone TLM", encryption: .needsKey, fields: [])
        case 0x30 where data.count >= 10:
            let id = SensorField("ephemeral_id", .octets(Array(data[2..<10])))
            return SensorReport("Eddystone EID", fields: [id] + (uid.fields(of: data) ?? []))
        default: return nil
        }
    }

    /// Octets below 14 are abbreviations of common endings.
    private static func url(_ octets: ArraySlice<UInt8>) -> String {
        var text: [UInt8] = []
        for (index, octet) in octets.enumerated() {
            if index == 0, octet < EddystoneURL.schemes.count {
                text += Array(EddystoneURL.schemes[Int(octet)].utf8)
            } else if index > 0, octet < EddystoneURL.codes.count {
                text += Array(EddystoneURL.codes[Int(octet)].utf8)
            } else {
                text.append(octet)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
