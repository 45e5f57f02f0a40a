import BLEHost
import BLESensors

/// What is known of a device whose key the settings have: of its encrypted packets, and which of its values they had.
struct ProtectedDevice {
    /// `nil` until the first packet with a counter that lasts.
    var replays: ReplayGuard?
    /// Its encrypted packets.
    var heard = HeardPackets()
    private var decryptedNames: Set<String> = []
    private var nextReport = Instant.zero

    /// The shortest time between two notices about a device.
    private static let pause = Microseconds.seconds(600)
    /// Formats that identify a device and have no values of sensors.
    private static let beacons: Set<String> = [
        "iBeacon", "AltBeacon", "Apple", "Location Tracker", "Matter", "Microsoft", "Eddystone UID", "Eddystone URL",
        "Eddystone EID",
    ]

    mutating func recordDecrypted(_ report: SensorReport) {
        for field in report.fields { decryptedNames.insert(field.name) }
    }

    /// Removes the values of a report in clear that anybody could have sent in place of the device.
    /// - Returns: whether there were such values.
    func removeUnprotected(_ report: inout SensorReport) -> Bool {
        let count = report.fields.count
        // Some devices with MiBeacon encrypt some of their values only.
        let isMixed = report.format.hasPrefix("MiBeacon") || Self.beacons.contains(report.format)
        report.fields.removeAll { !isMixed || decryptedNames.contains($0.name) }
        return report.fields.count < count
    }

    /// Whether it is time to report the device; then it is not for a while. A restarted counter is always reported: it
    /// ends what was reported before, and takes several packets that were never received before.
    mutating func mayTell(_ kind: GatewayNotice.Kind, at now: Instant) -> Bool {
        if case .restarted = kind { return true }
        guard now >= nextReport else { return false }
        nextReport = now.advanced(by: Self.pause)
        return true
    }
}
