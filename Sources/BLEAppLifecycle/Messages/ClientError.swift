import BLEPackets

/// An error for an app (SPEC 2.1): of Core Bluetooth or of the remote attribute server.
public enum ClientError: Error, Hashable, Sendable {
    /// A `CBError` with this code.
    case coreBluetooth(CoreBluetoothError)
    /// A `CBATTError` with this code.
    case att(code: UInt8)

    static func att(_ error: ATTError) -> Self { .att(code: error.rawValue) }
}

/// The codes of `CBError`, in the order of their numbers; `CBError.Code` says when an app gets which (SPEC 2.1).
public enum CoreBluetoothError: Int, Hashable, Sendable {
    case unknown, invalidParameters, invalidHandle, notConnected, outOfSpace, operationCancelled, connectionTimeout,
        peripheralDisconnected, uuidNotAllowed, alreadyAdvertising, connectionFailed, connectionLimitReached,
        unknownDevice, operationNotSupported, peerRemovedPairingInformation, encryptionTimedOut, tooManyLEPairedDevices
}
