import BLEPackets

/// The free firmware of Xiaomi's thermometers: ATC's and pvvx's custom formats in service data of Environmental Sensing
/// (0x181A), plain or by AES-CCM.
enum CustomThermometer {
    static let atc = OctetLayout("~s6|temperature~I16~°C~e-1|humidity~u8~%|battery~u8~%|voltage~U16~V~e-3|packet_id~u8")
    static let pvvx = OctetLayout(
        "~s6|temperature~i16~°C~e-2|humidity~u16~%~e-2|voltage~u16~V~e-3|battery~u8~%|packet_id~u8|flags~u8")
    static let encryptedATC = OctetLayout("temperature~u8~°C~5e-1+-80|humidity~u8~%~5e-1|~w8|battery~.0-6~%|trigger~.7")
    static let encryptedPVVX = OctetLayout("temperature~i16~°C~e-2|humidity~u16~%~e-2|battery~u8~%|flags~u8")

    static func report(_ data: [UInt8], in advertisement: SensorAdvertisement) -> SensorReport? {
        switch data.count {
        case 13: return atc.fields(of: data).map { SensorReport("ATC", fields: $0) }
        case 15: return pvvx.fields(of: data).map { SensorReport("pvvx", fields: $0) }
        case 8: return decrypted(data, SensorReport("ATC", fields: []), encryptedATC, advertisement)
        case 11: return decrypted(data, SensorReport("pvvx", fields: []), encryptedPVVX, advertisement)
        default: return nil
        }
    }

    /// A counter, the octets, and a code of four.
    private static func decrypted(
        _ data: [UInt8], _ empty: SensorReport, _ layout: OctetLayout, _ advertisement: SensorAdvertisement
    ) -> SensorReport {
        var report = empty
        report.encryption = .needsKey
        guard let keys = advertisement.keys, let key = keys.key(of: advertisement.address),
            let address = advertisement.address?.octets
        else { return report }
        // The head of the structure on the air belongs to the nonce: length, type, UUID and counter.
        let nonce = address + [UInt8(data.count + 3), 0x16, 0x1A, 0x18, data[0]]
        let plain = keys.open(
            data[1..<data.count - 4], key: key, nonce: nonce, additional: [0x11], code: Array(data.suffix(4)))
        guard let plain, let fields = layout.fields(of: plain) else {
            report.encryption = .wrongKey
            return report
        }
        report.encryption = .decrypted
        report.fields = fields
        return report
    }
}
