import BLETestKit
import BLEValues
import Synchronization
import Testing

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

@Test func beltComesBack() async throws {
    let radio = try TestRadio()
    let belt = radio.add(
        TestDevice("Belt") {
            TestService(.heartRate) {
                TestCharacteristic(.heartRateMeasurement, [.notify]).notifying(every: .seconds(1)) { _ in [0, 72] }
            }
        })
    let adapter = try await radio.openAdapter()
    let shown = Mutex<[String]>([])
    let logging = Task {
        await logHeartRate(of: belt.address, adapter) { text in shown.withLock { $0.append(text) } }
    }
    while !shown.withLock({ $0.contains("72") }) { await radio.clock.advance(by: .seconds(1)) }
    belt.goOutOfRange()
    while belt.isConnected { await radio.clock.advance(by: .seconds(1)) }
    belt.comeIntoRange()
    while belt.statistics.connections < 2 { await radio.clock.advance(by: .seconds(1)) }
    logging.cancel()
    await adapter.close()
}
