import BLEPackets

/// An error for an app (SPEC 2.1): of Core Bluetooth or of the remote attribute server.
public enum ClientError: Error, Hashable, Sendable {
    /// A `CBError` with this code.
    case coreBluetooth(CoreBluetoothError)
    /// A `CBATTError` with this code.
    case att(code: UInt8)

    static func att(_ error: ATTError) -> Self { .att(code: error.rawValue) }
}

/// The codes of `CBError` (SPEC 2.1).
public enum CoreBluetoothError: Int, Hashable, Sendable {
    /// The reason is unknown or has no code.
    case unknown = 0
    /// The request is invalid.
    case invalidParameters = 1
    /// The attribute does not exist, or no longer exists.
    case invalidHandle = 2
    /// There is no link to the device.
    case notConnected = 3
    /// No resources are left for the request.
    case outOfSpace = 4
    /// The system ended the link or the request without the device.
    case operationCancelled = 5
    /// The supervision timeout of the link has expired.
    case connectionTimeout = 6
    /// The device ended the link.
    case peripheralDisconnected = 7
    /// The system provides this service itself.
    case uuidNotAllowed = 8
    /// The manager is already advertising.
    case alreadyAdvertising = 9
    /// The link could not be established.
    case connectionFailed = 10
    /// The controller has reached its maximum number of links.
    case connectionLimitReached = 11
    /// The identifier belongs to no known device.
    case unknownDevice = 12
    /// The device or its controller does not support this.
    case operationNotSupported = 13
    /// The device has lost its keys of the bond.
    case peerRemovedPairingInformation = 14
    /// The device did not respond while the link was being encrypted.
    case encryptionTimedOut = 15
    /// The maximum number of bonds is reached.
    case tooManyLEPairedDevices = 16
}
