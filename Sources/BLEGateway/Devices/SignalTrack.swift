import BLEHost

/// The signal of one device at one adapter.
struct SignalTrack {
    var adapter: Int
    /// The signal strength of the last packet, in dBm.
    var last: Int8
    var smoothed: Double
    var heard: Instant

    init(adapter: Int, rssi: Int8, at now: Instant) {
        self.adapter = adapter
        last = rssi
        smoothed = Double(rssi)
        heard = now
    }

    mutating func receive(_ rssi: Int8, timeConstant: Microseconds, at now: Instant) {
        let span = Double(max(0, heard.distance(to: now).rawValue))
        let share = timeConstant.rawValue <= 0 ? 1 : span / (span + Double(timeConstant.rawValue))
        smoothed += share * (Double(rssi) - smoothed)
        last = rssi
        heard = now
    }
}
