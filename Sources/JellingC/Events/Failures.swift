import BLEHost
import BLEPackets
import CJelling

extension jelling_completion {
    private mutating func set(_ failure: jelling_failure, code: UInt32 = 0, detail: UInt32 = 0) {
        unsafe self.failure = failure.rawValue
        unsafe self.code = code
        unsafe self.detail = detail
    }

    mutating func set(_ failure: HostFailure) {
        switch failure {
        case .cancelled: unsafe set(JELLING_FAILURE_CANCELLED)
        case .controllerLost: unsafe set(JELLING_FAILURE_CONTROLLER_LOST)
        case .controllerUnresponsive: unsafe set(JELLING_FAILURE_CONTROLLER_UNRESPONSIVE)
        case .controller(let status, let opcode):
            unsafe set(JELLING_FAILURE_CONTROLLER, code: UInt32(status.rawValue), detail: UInt32(opcode.rawValue))
        case .commandTimeout(let opcode):
            unsafe set(JELLING_FAILURE_COMMAND_TIMEOUT, detail: UInt32(opcode.rawValue))
        case .linkLost(let reason):
            switch reason {
            case .releasedByClient: unsafe set(JELLING_FAILURE_LINK_LOST)
            case .controller(let status): unsafe set(JELLING_FAILURE_LINK_LOST, code: UInt32(status.rawValue))
            case .controllerLost: unsafe set(JELLING_FAILURE_CONTROLLER_LOST)
            }
        case .notConnected: unsafe set(JELLING_FAILURE_NOT_CONNECTED)
        case .connectionFailed(let status):
            unsafe set(JELLING_FAILURE_CONNECTION_FAILED, code: UInt32(status.rawValue))
        case .gatt(let failure): unsafe set(failure)
        case .security(let failure): unsafe set(failure)
        case .channel(let failure): unsafe set(failure)
        case .publishing(let error): unsafe set(error)
        case .invalidRequest(let error):
            let code: UInt32 =
                switch error {
                case .connectionParameters: 1
                case .parametersTooLong: 2
                case .stopped: 3
                case .notAvailableOnSharedController: 4
                case .advertisementTooLong: 5
                case .notPermitted: 6
                case .advertisingSet: 7
                case .train: 8
                case .channelMap: 9
                case .pathLossZones: 10
                case .subevents: 11
                }
            unsafe set(JELLING_FAILURE_INVALID_REQUEST, code: code)
        case .procedureTimeout: unsafe set(JELLING_FAILURE_PROCEDURE_TIMEOUT)
        case .rejectedByPeer: unsafe set(JELLING_FAILURE_REJECTED_BY_PEER)
        case .limitReached: unsafe set(JELLING_FAILURE_LIMIT_REACHED)
        }
    }

    mutating func set(_ failure: GATTFailure) {
        switch failure {
        case .att(let error, let handle):
            unsafe set(JELLING_FAILURE_ATT, code: UInt32(error.rawValue), detail: UInt32(handle.rawValue))
        case .invalidResponse: unsafe set(JELLING_FAILURE_INVALID_RESPONSE)
        case .transactionTimeout: unsafe set(JELLING_FAILURE_TRANSACTION_TIMEOUT)
        case .disconnected(let status): unsafe set(JELLING_FAILURE_LINK_LOST, code: UInt32(status.rawValue))
        case .bearerClosed: unsafe set(JELLING_FAILURE_BEARER_CLOSED)
        case .notConnected: unsafe set(JELLING_FAILURE_NOT_CONNECTED)
        case .cancelled: unsafe set(JELLING_FAILURE_CANCELLED)
        case .valueTooLong(let limit): unsafe set(JELLING_FAILURE_VALUE_TOO_LONG, detail: UInt32(clamping: limit))
        case .invalidParameters: unsafe set(JELLING_FAILURE_INVALID_PARAMETERS)
        case .queueFull: unsafe set(JELLING_FAILURE_QUEUE_FULL)
        case .reliableWriteMismatch(let handle):
            unsafe set(JELLING_FAILURE_RELIABLE_WRITE_MISMATCH, detail: UInt32(handle.rawValue))
        case .discoveryTooLong: unsafe set(JELLING_FAILURE_DISCOVERY_TOO_LONG)
        case .notSubscribed: unsafe set(JELLING_FAILURE_NOT_SUBSCRIBED)
        case .security(let failure): unsafe set(failure)
        }
    }

    mutating func set(_ failure: SecurityFailure) {
        var detail: UInt32 = 0
        let kind: jelling_security_failure
        switch failure {
        case .refusedByUs(let reason):
            kind = JELLING_SECURITY_REFUSED_BY_US
            detail = UInt32(reason.rawValue)
        case .refusedByPeer(let reason):
            kind = JELLING_SECURITY_REFUSED_BY_PEER
            detail = UInt32(reason.rawValue)
        case .timedOut: kind = JELLING_SECURITY_TIMED_OUT
        case .keyMissingAtPeer: kind = JELLING_SECURITY_KEY_MISSING_AT_PEER
        case .encryptionFailed(let status):
            kind = JELLING_SECURITY_ENCRYPTION_FAILED
            detail = UInt32(status.rawValue)
        case .wouldReplaceBond: kind = JELLING_SECURITY_WOULD_REPLACE_BOND
        case .keyTooWeak: kind = JELLING_SECURITY_KEY_TOO_WEAK
        case .noKey: kind = JELLING_SECURITY_NO_KEY
        case .notAvailable: kind = JELLING_SECURITY_NOT_AVAILABLE
        case .alreadyPairing: kind = JELLING_SECURITY_ALREADY_PAIRING
        case .repeatedAttempts(let wait):
            kind = JELLING_SECURITY_REPEATED_ATTEMPTS
            detail = UInt32(clamping: (wait.rawValue / 1_000_000) &+ 1)
        case .passkeyLocked: kind = JELLING_SECURITY_PASSKEY_IS_LOCKED
        case .tooManyBonds: kind = JELLING_SECURITY_TOO_MANY_BONDS
        case .linkLost: kind = JELLING_SECURITY_LINK_LOST
        case .cancelled: kind = JELLING_SECURITY_CANCELLED
        }
        unsafe set(JELLING_FAILURE_SECURITY, code: kind.rawValue, detail: detail)
    }

    private mutating func set(_ failure: ChannelFailure) {
        var detail: UInt32 = 0
        let kind: jelling_channel_failure
        switch failure {
        case .refused(let result):
            kind = JELLING_CHANNEL_REFUSED
            detail = UInt32(result.rawValue)
        case .notReconfigurable(let result):
            kind = JELLING_CHANNEL_NOT_RECONFIGURABLE
            detail = UInt32(result.rawValue)
        case .invalidAnswer: kind = JELLING_CHANNEL_INVALID_ANSWER
        case .notOpen: kind = JELLING_CHANNEL_NOT_OPEN
        case .noResources: kind = JELLING_CHANNEL_NO_RESOURCES
        case .unitTooLong: kind = JELLING_CHANNEL_UNIT_TOO_LONG
        case .invalidSPSM: kind = JELLING_CHANNEL_INVALID_SPSM
        }
        unsafe set(JELLING_FAILURE_CHANNEL, code: kind.rawValue, detail: detail)
    }

    private mutating func set(_ error: GATTPublishError) {
        var handle = AttributeHandle.none
        let kind: jelling_publish_failure
        switch error {
        case .uuidNotAllowed: kind = JELLING_PUBLISH_UUID_NOT_ALLOWED
        case .propertyNotAllowed: kind = JELLING_PUBLISH_PROPERTY_NOT_ALLOWED
        case .descriptorNotAllowed: kind = JELLING_PUBLISH_DESCRIPTOR_NOT_ALLOWED
        case .cachedValueNotReadOnly: kind = JELLING_PUBLISH_VALUE_NOT_READ_ONLY
        case .valueTooLong: kind = JELLING_PUBLISH_VALUE_TOO_LONG
        case .includedServiceUnknown(let unknown):
            kind = JELLING_PUBLISH_INCLUDED_SERVICE_UNKNOWN
            handle = unknown
        case .outOfHandles: kind = JELLING_PUBLISH_OUT_OF_HANDLES
        case .unknownService(let unknown):
            kind = JELLING_PUBLISH_UNKNOWN_SERVICE
            handle = unknown
        case .isIncluded(_, let other):
            kind = JELLING_PUBLISH_IS_INCLUDED
            handle = other
        case .handlesOutOfOrder(let wrong):
            kind = JELLING_PUBLISH_HANDLES_OUT_OF_ORDER
            handle = wrong
        }
        unsafe set(JELLING_FAILURE_PUBLISHING, code: kind.rawValue, detail: UInt32(handle.rawValue))
    }
}
