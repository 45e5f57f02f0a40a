import BLEPackets

/// Trackers that can be found by others than their owner (Detecting Unwanted Location Trackers, IETF), in service data of
/// 0xFCB2: whose network they belong to, and whether their owner is near.
enum LocationTracker {
    /// The manufacturer network ID registry (draft-ietf-dult-accessory-protocol, IANA considerations).
    private static let networks: [UInt8: String] = [0x01: "Apple", 0x02: "Google"]

    static func report(_ data: [UInt8]) -> SensorReport? {
        guard data.count >= 2 else { return nil }
        return SensorReport(
            "Location Tracker",
            fields: [
                SensorField("network", .text(networks[data[0]] ?? "number \(data[0])")),
                SensorField("near_owner", .boolean(data[1] & 1 != 0)),
            ])
    }
}
