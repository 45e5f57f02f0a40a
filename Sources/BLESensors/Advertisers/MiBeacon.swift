import BLEAssignedNumbers
import BLEPackets

/// Xiaomi's MiBeacon, versions 2 to 5: service data of 0xFE95 with objects of a number, a length and a value, plain or
/// encrypted with the bind key of the device.
enum MiBeacon {
    static func report(_ data: [UInt8], in advertisement: SensorAdvertisement) -> SensorReport? {
        guard data.count >= 5 else { return nil }
        let control = UInt16(data[0]) | UInt16(data[1]) << 8
        let version = control >> 12
        let isMesh = control & 0x80 != 0
        guard version >= 2, !isMesh else { return nil }
        let product = UInt16(data[2]) | UInt16(data[3]) << 8
        let model = AssignedNumbers.line(of: product, in: models)?.description
        var report = SensorReport("MiBeacon v\(version)", model: model, fields: [])
        var start = 5
        var address = advertisement.address?.octets
        if control & 0x10 != 0 {
            guard data.count >= start + 6 else { return nil }
            address = Array(data[5..<11])
            start += 6
        }
        if control & 0x20 != 0 {
            guard data.count > start else { return nil }
            let hasInputs = data[start] & 0x20 != 0
            start += hasInputs ? 2 : 1
        }
        // Without an object it only announces the device.
        guard control & 0x40 != 0, start < data.count else { return report }
        var payload = Array(data[start...])
        if control & 0x08 != 0 {
            guard let keys = advertisement.keys, let key = keys.key(of: advertisement.address), let address else {
                report.encryption = .needsKey
                return report
            }
            let plain =
                version <= 3
                ? decryptLegacy(data, payload, address, key, keys) : decrypt(data, payload, address, key, keys)
            guard let plain else {
                report.encryption = .wrongKey
                return report
            }
            report.encryption = .decrypted
            if version > 3 {
                let counter = [data[4]] + payload.suffix(7).prefix(3)
                report.seal = SensorSeal(counter: counter, code: payload.suffix(4))
            }
            payload = plain
        }
        report.fields = fields(of: payload, model: model ?? "")
        return report
    }

    /// Versions 4 and 5: counter and code follow the ciphertext.
    private static func decrypt(
        _ data: [UInt8], _ payload: [UInt8], _ address: [UInt8], _ key: [UInt8], _ keys: SensorKeys
    ) -> [UInt8]? {
        guard payload.count >= 9 else { return nil }
        let nonce = address + data[2..<5] + payload.suffix(7).prefix(3)
        return keys.open(
            payload.dropLast(7), key: key, nonce: nonce, additional: [0x11], code: Array(payload.suffix(4)))
    }

    /// Versions 2 and 3: the code has only one octet, so that a wrong key is recognised by the decrypted data.
    private static func decryptLegacy(
        _ data: [UInt8], _ payload: [UInt8], _ address: [UInt8], _ key: [UInt8], _ keys: SensorKeys
    ) -> [UInt8]? {
        guard payload.count >= 7 else { return nil }
        // The keys of these devices are of 12 octets, which are filled up in their middle.
        let key = key.count == 12 ? Array(key[..<6] + [0x8D, 0x3D, 0x3C, 0x97] + key[6...]) : key
        let nonce = data[..<5] + payload.suffix(4).prefix(3) + address.prefix(5)
        let plain = keys.open(payload.dropLast(4), key: key, nonce: Array(nonce), additional: [], code: nil)
        guard let plain, plain.count >= 3, plain.count >= 3 + Int(plain[2]) else { return nil }
        return plain
    }

    private static func fields(of payload: [UInt8], model: String) -> [SensorField] {
        var fields: [SensorField] = []
        var rest = payload[...]
        while rest.count >= 3 {
            let octets = Array(rest.prefix(3))
            let number = UInt16(octets[0]) | UInt16(octets[1]) << 8
            rest = rest.dropFirst(3)
            guard rest.count >= octets[2] else { break }
            fields += MiBeaconObject.fields(number, Array(rest.prefix(Int(octets[2]))), model: model)
            rest = rest.dropFirst(Int(octets[2]))
        }
        return fields
    }
}
