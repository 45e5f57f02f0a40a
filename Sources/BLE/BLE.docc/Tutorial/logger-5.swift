import BLEValues

/// Shows the heart rate of a belt until the task is cancelled.
func logHeartRate(
    of address: DeviceAddress, _ adapter: Adapter, show: @Sendable (String) -> Void
) async {
    for await state in adapter.reconnecting(to: address) {
        show("\(state)")
        guard case .connected(let belt) = state else { continue }
        do {
            for try await rate in try await belt.values(of: .heartRateMeasurement) {
                show("\(rate.beatsPerMinute)")
            }
        } catch {
            show("\(error)")
        }
    }
}
