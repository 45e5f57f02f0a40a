import BLE
import Synchronization

/// Counts what a scan receives, and what of it comes from one device.
final class ScanTally: Sendable {
    private struct State {
        var figures = ScanFigures()
        var sighting: Discovery?
        var sightings = 0
        var strongest: Int8?
        var failure: Failure?
    }

    private let name: String?
    private let own: [DeviceAddress]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - name: of the device that is looked for.
    ///   - own: the addresses of the controller that scans.
    init(name: String?, own: [DeviceAddress]) { (self.name, self.own) = (name, own) }

    var figures: ScanFigures { state.withLock { $0.figures } }
    /// The device that was looked for, when it was last received.
    var sighting: Discovery? { state.withLock { $0.sighting } }
    var sightings: Int { state.withLock { $0.sightings } }
    /// Of the device that was looked for, in dBm.
    var strongest: Int8? { state.withLock { $0.strongest } }

    /// Why the scan, or what it should receive, failed.
    var failure: Failure? {
        get { state.withLock { $0.failure } }
        set { state.withLock { $0.failure = newValue } }
    }

    /// Scans for a time.
    /// - Parameter endsEarly: whether the first packet of the device is enough; without a device, the first report.
    func scan(_ adapter: Adapter, for duration: Duration, endsEarly: Bool = false) async throws {
        let start = ContinuousClock.now
        do {
            try await withDeadline(after: duration) { [self] in
                for try await discovery in adapter.scan(ScanRequest(allowsDuplicates: true)) {
                    if add(discovery), endsEarly { return }
                }
            }
        } catch {
            try Task.checkCancellation()
            failure = Failure(error)
        }
        try Task.checkCancellation()
        state.withLock { $0.figures.seconds = start.duration(to: .now) / .seconds(1) }
    }

    /// - Returns: whether this is what is looked for.
    private func add(_ discovery: Discovery) -> Bool {
        let isWanted =
            name.map { (discovery.advertisingData.localNameWithoutPadding ?? "").isSameName(as: $0) } ?? true
        state.withLock { state in
            state.figures.add(discovery, own: own)
            guard isWanted else { return }
            state.sighting = discovery
            state.sightings += 1
            if discovery.rssi != 127 { state.strongest = max(state.strongest ?? discovery.rssi, discovery.rssi) }
        }
        return isWanted
    }
}
