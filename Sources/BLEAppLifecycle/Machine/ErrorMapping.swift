import BLEHost
import BLEPackets

extension DisconnectionReason {
    /// The error for an app (SPEC appendix A).
    var clientError: ClientError? {
        switch self {
        case .releasedByClient: nil
        case .controllerLost: .coreBluetooth(.unknown)
        case .controller(let status): .coreBluetooth(status.coreBluetoothError)
        }
    }
}

extension HCIStatus {
    /// The `CBError` of a link that ended for this reason (SPEC appendix A).
    var coreBluetoothError: CoreBluetoothError {
        switch rawValue {
        case 0x08: .connectionTimeout
        case 0x13, 0x14, 0x15: .peripheralDisconnected
        case 0x16: .operationCancelled
        case 0x3E: .connectionFailed
        case 0x05, 0x06: .peerRemovedPairingInformation
        case 0x22, 0x3D: .encryptionTimedOut
        case 0x09: .connectionLimitReached
        case 0x07, 0x0D: .outOfSpace
        default: .unknown
        }
    }
}

extension HostFailure {
    /// The error of a failed connection.
    var connectionError: ClientError {
        switch self {
        case .connectionFailed(let status), .controller(let status, _): .coreBluetooth(status.coreBluetoothError)
        case .limitReached: .coreBluetooth(.connectionLimitReached)
        case .security(let failure): failure.clientError
        case .cancelled, .controllerLost, .controllerUnresponsive, .controllerFault, .commandTimeout, .linkLost,
            .notConnected, .gatt,
            .channel, .publishing, .invalidRequest, .procedureTimeout, .rejectedByPeer:
            .coreBluetooth(.connectionFailed)
        }
    }

    /// The error of a failed request to a remote peripheral, or of a failed service.
    var clientError: ClientError {
        switch self {
        case .gatt(.att(let error, _)): .att(error)
        case .gatt(.disconnected), .gatt(.bearerClosed), .gatt(.notConnected), .linkLost, .notConnected:
            .coreBluetooth(.notConnected)
        case .gatt(.transactionTimeout): .coreBluetooth(.connectionTimeout)
        case .gatt(.cancelled), .cancelled: .coreBluetooth(.operationCancelled)
        case .gatt(.valueTooLong): .att(.invalidAttributeValueLength)
        case .gatt(.queueFull), .limitReached: .coreBluetooth(.outOfSpace)
        case .publishing(.uuidNotAllowed): .coreBluetooth(.uuidNotAllowed)
        case .publishing(.outOfHandles): .coreBluetooth(.outOfSpace)
        case .publishing: .coreBluetooth(.invalidParameters)
        case .channel(let failure): failure.clientError
        case .security(let failure), .gatt(.security(let failure)): failure.clientError
        case .gatt(.invalidResponse), .gatt(.invalidParameters), .gatt(.reliableWriteMismatch),
            .gatt(.discoveryTooLong), .gatt(.notSubscribed), .controllerLost, .controllerUnresponsive, .controllerFault,
            .controller, .commandTimeout, .connectionFailed, .invalidRequest, .procedureTimeout, .rejectedByPeer:
            .coreBluetooth(.unknown)
        }
    }
}

extension SecurityFailure {
    /// The error of a request that failed for lack of security.
    fileprivate var clientError: ClientError {
        switch self {
        case .keyMissingAtPeer: .coreBluetooth(.peerRemovedPairingInformation)
        case .timedOut: .coreBluetooth(.encryptionTimedOut)
        case .encryptionFailed(let status): .coreBluetooth(status.coreBluetoothError)
        case .linkLost: .coreBluetooth(.notConnected)
        case .tooManyBonds: .coreBluetooth(.tooManyLEPairedDevices)
        case .noKey, .notAvailable, .refusedByUs, .refusedByPeer, .alreadyPairing, .repeatedAttempts, .passkeyLocked,
            .wouldReplaceBond, .keyTooWeak, .cancelled:
            .att(.insufficientAuthentication)
        }
    }
}
