import BLEPackets

/// Why something failed, as an app is told (SPEC 2.1): an error of Core Bluetooth or one of the remote's attribute server.
public enum ClientError: Error, Hashable, Codable, Sendable {
    /// `CBError` with this code.
    case coreBluetooth(CoreBluetoothError)
    /// `CBATTError` with this octet, whatever it is.
    case att(code: UInt8)

    static func att(_ error: ATTError) -> Self { .att(code: error.rawValue) }
}

/// The codes of `CBError` (SPEC 2.1).
public enum CoreBluetoothError: Int, Hashable, Codable, Sendable {
    case unknown = 0
    case invalidParameters = 1
    case invalidHandle = 2
    case notConnected = 3
    case outOfSpace = 4
    case operationCancelled = 5
    case connectionTimeout = 6
    case peripheralDisconnected = 7
    case uuidNotAllowed = 8
    case alreadyAdvertising = 9
    case connectionFailed = 10
    case connectionLimitReached = 11
    case unknownDevice = 12
    case operationNotSupported = 13
    case peerRemovedPairingInformation = 14
    case encryptionTimedOut = 15
    case tooManyLEPairedDevices = 16
}
