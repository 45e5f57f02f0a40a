import BLEValues
import Synchronization

/// An app as somebody would write it, on `BLE`: it shows the heart rate of a chest belt and the charge of its battery,
/// and connects again when the belt was away.
final class BeltMonitor: Sendable {
    enum Screen: Equatable, Sendable {
        case searching
        case noBelt
        case measuring(battery: Int)
        case rate(Int)
        case away
        case broken(String)
    }

    private let adapter: Adapter
    private let shown = Mutex<[Screen]>([])

    init(adapter: Adapter) { self.adapter = adapter }

    /// What the app has shown so far, in order.
    var screens: [Screen] { shown.withLock { $0 } }

    private func show(_ screen: Screen) { shown.withLock { $0.append(screen) } }

    /// Runs until the task is cancelled.
    func run() async {
        show(.searching)
        guard let belt = await findBelt() else { return show(.noBelt) }
        for await state in adapter.reconnecting(to: belt, pause: Duration.seconds(1)...Duration.seconds(30)) {
            switch state {
            case .connected(let belt): await measure(belt)
            case .disconnected: show(.away)
            case .failed(let error): show(.broken(error.cause))
            case .connecting: break
            }
        }
    }

    private func findBelt() async -> DeviceAddress? {
        let found = try? await adapter.scan(for: .seconds(5), ScanRequest(serviceUUIDs: [.heartRate]))
        return found?.filter(\.isConnectable).max { $0.rssi < $1.rssi }?.address
    }

    private func measure(_ belt: Peripheral) async {
        do {
            show(.measuring(battery: try await belt.read(.batteryLevel)))
            for try await rate in try await belt.values(of: .heartRateMeasurement) { show(.rate(rate.beatsPerMinute)) }
        } catch let error as BLEError {
            if error.code != .linkLost { show(.broken(error.cause)) }
        } catch {}
    }
}
