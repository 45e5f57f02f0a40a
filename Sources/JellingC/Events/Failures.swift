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
        case .controllerFault(let fault):
            let (code, detail): (UInt32, UInt32) =
                switch fault {
                case .unanswered(let opcode): (1, UInt32(opcode.rawValue))
                case .refused(_, let opcode): (2, UInt32(opcode.rawValue))
                case .noReports: (3, 0)
                case .noLowEnergy: (4, 0)
                case .reportsItself: (5, 0)
                case .stalledLinks: (6, 0)
                case .hardwareError(let code): (7, UInt32(code))
                case .connectsToNobody: (8, 0)
                case .forgetsState: (9, 0)
                case .packetsLost: (10, 0)
                }
            unsafe set(JELLING_FAILURE_CONTROLLER_FAULT, code: code, detail: detail)
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
        let (kind, detail): (jelling_security_failure, UInt32) =
            switch failure {
            case .refusedByUs(let reason): (JELLING_SECURITY_REFUSED_BY_US, UInt32(reason.rawValue))
            case .refusedByPeer(let reason): (JELLING_SECURITY_REFUSED_BY_PEER, UInt32(reason.rawValue))
            case .timedOut: (JELLING_SECURITY_TIMED_OUT, 0)
            case .keyMissingAtPeer: (JELLING_SECURITY_KEY_MISSING_AT_PEER, 0)
            case .encryptionFailed(let status): (JELLING_SECURITY_ENCRYPTION_FAILED, UInt32(status.rawValue))
            case .wouldReplaceBond: (JELLING_SECURITY_WOULD_REPLACE_BOND, 0)
            case .keyTooWeak: (JELLING_SECURITY_KEY_TOO_WEAK, 0)
            case .noKey: (JELLING_SECURITY_NO_KEY, 0)
            case .notAvailable: (JELLING_SECURITY_NOT_AVAILABLE, 0)
            case .alreadyPairing: (JELLING_SECURITY_ALREADY_PAIRING, 0)
            case .repeatedAttempts(let wait):
                (JELLING_SECURITY_REPEATED_ATTEMPTS, UInt32(clamping: (wait.rawValue / 1_000_000) &+ 1))
            case .passkeyLocked: (JELLING_SECURITY_PASSKEY_IS_LOCKED, 0)
            case .tooManyBonds: (JELLING_SECURITY_TOO_MANY_BONDS, 0)
            case .linkLost: (JELLING_SECURITY_LINK_LOST, 0)
            case .cancelled: (JELLING_SECURITY_CANCELLED, 0)
            }
        unsafe set(JELLING_FAILURE_SECURITY, code: kind.rawValue, detail: detail)
    }

    private mutating func set(_ failure: ChannelFailure) {
        let (kind, detail): (jelling_channel_failure, UInt16) =
            switch failure {
            case .refused(let result): (JELLING_CHANNEL_REFUSED, result.rawValue)
            case .notReconfigurable(let result): (JELLING_CHANNEL_NOT_RECONFIGURABLE, result.rawValue)
            case .invalidAnswer: (JELLING_CHANNEL_INVALID_ANSWER, 0)
            case .notOpen: (JELLING_CHANNEL_NOT_OPEN, 0)
            case .noResources: (JELLING_CHANNEL_NO_RESOURCES, 0)
            case .unitTooLong: (JELLING_CHANNEL_UNIT_TOO_LONG, 0)
            case .invalidSPSM: (JELLING_CHANNEL_INVALID_SPSM, 0)
            }
        unsafe set(JELLING_FAILURE_CHANNEL, code: kind.rawValue, detail: UInt32(detail))
    }

    private mutating func set(_ error: GATTPublishError) {
        let (kind, handle): (jelling_publish_failure, AttributeHandle) =
            switch error {
            case .uuidNotAllowed: (JELLING_PUBLISH_UUID_NOT_ALLOWED, .none)
            case .propertyNotAllowed: (JELLING_PUBLISH_PROPERTY_NOT_ALLOWED, .none)
            case .descriptorNotAllowed: (JELLING_PUBLISH_DESCRIPTOR_NOT_ALLOWED, .none)
            case .cachedValueNotReadOnly: (JELLING_PUBLISH_VALUE_NOT_READ_ONLY, .none)
            case .valueTooLong: (JELLING_PUBLISH_VALUE_TOO_LONG, .none)
            case .includedServiceUnknown(let handle): (JELLING_PUBLISH_INCLUDED_SERVICE_UNKNOWN, handle)
            case .outOfHandles: (JELLING_PUBLISH_OUT_OF_HANDLES, .none)
            case .unknownService(let handle): (JELLING_PUBLISH_UNKNOWN_SERVICE, handle)
            case .isIncluded(_, let other): (JELLING_PUBLISH_IS_INCLUDED, other)
            case .handlesOutOfOrder(let handle): (JELLING_PUBLISH_HANDLES_OUT_OF_ORDER, handle)
            }
        unsafe set(JELLING_FAILURE_PUBLISHING, code: kind.rawValue, detail: UInt32(handle.rawValue))
    }
}
