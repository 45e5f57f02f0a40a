/// The messages between Apple's devices in manufacturer data of 0x004C: the kinds that are publicly known.
///
/// Their content is undocumented and mostly encrypted: it is not decoded, but for what Find My says of the owner.
enum AppleContinuity {
    private static let kinds: [UInt8: String] = [
        0x02: "iBeacon", 0x03: "AirPrint", 0x05: "AirDrop", 0x06: "HomeKit",
        0x07: "Proximity Pairing",
        0x08: "Hey Siri", 0x09: "AirPlay Target", 0x0A: "AirPlay Source", 0x0B: "Magic Switch", 0x0C: "Handoff",
        0x0D: "Tethering Target", 0x0E: "Tethering Source", 0x0F: "Nearby Action", 0x10: "Nearby Info", 0x12: "Find My",
        0x16: "Nearby",
    ]

    static func report(_ data: [UInt8]) -> SensorReport? {
        var names: [String] = []
        var fields: [SensorField] = []
        var rest = data[...]
        while rest.count >= 2, let kind = rest.first {
            guard let name = kinds[kind] else { break }
            names.append(name)
            let content = rest.dropFirst(2).prefix(Int(rest[rest.startIndex + 1]))
            if kind == 0x12, fields.isEmpty { fields = findMy(content) }
            rest = rest.dropFirst(2 + Int(rest[rest.startIndex + 1]))
        }
        guard !names.isEmpty else { return nil }
        return SensorReport("Apple", fields: [SensorField("messages", .text(names.joined(separator: ", ")))] + fields)
    }

    /// Near its owner a device sends its status and two bits of its key; apart from him, the whole key, for the devices of
    /// others that report where it is (Find My Network Accessory Specification, tables 5-2 and 5-5).
    private static func findMy(_ content: ArraySlice<UInt8>) -> [SensorField] {
        guard let status = content.first, content.count == 2 || content.count == 25 else { return [] }
        let kinds = ["Apple device", "AirTag", "accessory", "AirPods"]
        let levels = ["full", "medium", "low", "critical"]
        var fields = [
            // Reserved bits of the specification, which AirGuard reads to tell the kinds of devices apart.
            SensorField("kind", .text(kinds[Int(status >> 4 & 3)])),
            SensorField("near_owner", .boolean(content.count == 2)),
        ]
        // The specification sets this bit. AirTags do not, and claim a low battery that is full.
        if status & 0x20 != 0 {
            // Whether the owner's device has connected since the key last changed.
            fields.append(SensorField("maintained", .boolean(status & 0x04 != 0)))
            fields.append(SensorField("battery_level", .text(levels[Int(status >> 6)])))
        }
        return fields
    }
}
