import BLEHost

/// How well each adapter receives the devices that were heard lately, also those that the filters exclude.
struct LinkSignals {
    /// What was heard in the present period, and in the one before.
    private var present: [UInt64: [SignalTrack]] = [:]
    private var previous: [UInt64: [SignalTrack]] = [:]
    private var began = Instant.zero

    private static let period = Microseconds.seconds(30)
    private static let timeConstant = Microseconds.seconds(5)
    /// The maximum number of devices in a period: whoever advertises from ever new addresses gets no more memory.
    private static let limit = 16_384

    mutating func heard(_ address: UInt64, adapter: Int, rssi: Int8, at now: Instant) {
        if began.distance(to: now).rawValue >= Self.period.rawValue {
            (previous, present, began) = (present, [:], now)
        }
        guard rssi != 127 else { return }
        var tracks = present[address] ?? []
        if let index = tracks.firstIndex(where: { $0.adapter == adapter }) {
            tracks[index].receive(rssi, timeConstant: Self.timeConstant, at: now)
        } else if !tracks.isEmpty || present.count < Self.limit {
            tracks.append(SignalTrack(adapter: adapter, rssi: rssi, at: now))
        }
        if !tracks.isEmpty { present[address] = tracks }
    }

    /// The adapter, of these, that receives the device best; `nil` if none has heard it lately.
    func best(for address: UInt64, among adapters: Set<Int>) -> Int? {
        var signals: [Int: Double] = [:]
        for track in (previous[address] ?? []) + (present[address] ?? []) where adapters.contains(track.adapter) {
            signals[track.adapter] = track.smoothed
        }
        return signals.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key
    }
}
