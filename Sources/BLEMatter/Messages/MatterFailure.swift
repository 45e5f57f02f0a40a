/// Why a command failed, as the answer says it.
struct MatterFailure: Error, Equatable {
    /// The words of the protocol.
    enum Word: String {
        case bluetoothUnavailable = "bluetooth_unavailable"
        case alreadyScanning = "already_scanning"
        case notScanning = "not_scanning"
        case deviceNotFound = "device_not_found"
        case connectionFailed = "connection_failed"
        case alreadyConnected = "already_connected"
        case notConnected = "not_connected"
        case timeout
        case serviceNotFound = "service_not_found"
        case characteristicNotFound = "characteristic_not_found"
        case readFailed = "read_failed"
        case writeFailed = "write_failed"
        case subscribeFailed = "subscribe_failed"
        case notSubscribed = "not_subscribed"
        case notifyNotSupported = "notify_not_supported"
        case discoveryFailed = "discovery_failed"
        case internalError = "internal_error"
    }

    var word: Word
    /// For people.
    var message: String

    init(_ word: Word, _ message: String) {
        self.word = word
        self.message = message
    }
}
