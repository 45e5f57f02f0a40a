import BLEPackets

/// Apple's iBeacon: type 0x02 of its manufacturer data.
enum IBeacon {
    static let layout = OctetLayout("major~U16|minor~U16|power~i8~dBm")

    static func report(_ data: [UInt8]) -> SensorReport? {
        guard data.count >= 23, data[0] == 0x02, data[1] == 0x15 else { return nil }
        let numbers = layout.fields(of: data[18...]) ?? []
        return SensorReport("iBeacon", fields: [SensorField("uuid", .text(uuid(data[2..<18])))] + numbers)
    }

    /// The text of a UUID that has its most significant octet first.
    static func uuid(_ octets: ArraySlice<UInt8>) -> String {
        let uuid = octets.reduce((high: UInt64(0), low: UInt64(0))) { sum, octet in
            (sum.high << 8 | sum.low >> 56, sum.low << 8 | UInt64(octet))
        }
        return BluetoothUUID(high: uuid.high, low: uuid.low).fullDescription
    }
}
