/// The messages between Apple's devices in manufacturer data of 0x004C: the kinds that are publicly known.
///
/// Their content is undocumented and mostly encrypted: it is not decoded.
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
        var rest = data[...]
        while rest.count >= 2, let kind = rest.first {
            guard let name = kinds[kind] else { break }
            names.append(name)
            rest = rest.dropFirst(2 + Int(rest[rest.startIndex + 1]))
        }
        guard !names.isEmpty else { return nil }
        return SensorReport("Apple", fields: [SensorField("messages", .text(names.joined(separator: ", ")))])
    }
}
