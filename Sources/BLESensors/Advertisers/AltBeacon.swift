import BLEPackets

/// AltBeacon (altbeacon.org), in manufacturer data of any company. Most have a UUID and two numbers, like an iBeacon.
enum AltBeacon {
    static let layout = OctetLayout("major~U16|minor~U16|power~i8~dBm|reserved~u8")

    static func report(_ data: [UInt8]) -> SensorReport? {
        guard data.count >= 24, data[0] == 0xBE, data[1] == 0xAC else { return nil }
        let uuid = SensorField("uuid", .text(IBeacon.uuid(data[2..<18])))
        return SensorReport("AltBeacon", fields: [uuid] + (layout.fields(of: data[18...]) ?? []))
    }
}
