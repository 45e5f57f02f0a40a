import BLEGateway
import BLEJSON

/// What is known of devices, for those who ask over HTTP. Each call takes the lock of the radio for a short time.
extension GatewayCore {
    func deviceDocuments(after place: Int, limit: Int) -> (documents: [JSONValue], next: Int?) {
        state.withLock { $0.gateway.deviceDocuments(after: place, limit: limit) }
    }

    func deviceDocument(of address: String) -> JSONValue? { state.withLock { $0.gateway.deviceDocument(of: address) } }

    /// Whether a device has a random address; `nil`: it was not heard.
    func isRandom(_ address: UInt64) -> Bool? { state.withLock { $0.gateway.isRandom(address) } }

    func drainDeviceEvents(after place: Int, limit: Int) -> (events: [GatewayEvent], next: Int?) {
        state.withLock { $0.gateway.drainDeviceEvents(after: place, limit: limit) }
    }

    func sensorSamples(limit: Int) -> (samples: [SensorSample], omitted: Int) {
        state.withLock { $0.gateway.sensorSamples(limit: limit, at: Self.now) }
    }
}
