import BLEHost
import BLEPackets

extension WireFailure {
    init(_ failure: HostFailure) {
        self.init()
        switch failure {
        case .cancelled: reason = .cancelled
        case .controllerLost: reason = .controllerLost
        case .controllerUnresponsive: reason = .controllerUnresponsive
        case .controller(let status, let opcode):
            reason = .controller
            code = UInt32(status.rawValue)
            self.opcode = UInt32(opcode.rawValue)
        case .commandTimeout(let opcode):
            reason = .commandTimeout
            self.opcode = UInt32(opcode.rawValue)
        case .linkLost(let cause):
            reason = .linkLost
            disconnection = WireDisconnection(cause)
        case .notConnected: reason = .notConnected
        case .connectionFailed(let status):
            reason = .connectionFailed
            code = UInt32(status.rawValue)
        case .procedureTimeout: reason = .procedureTimeout
        case .rejectedByPeer: reason = .rejectedByPeer
        case .limitReached: reason = .limitReached
        case .invalidRequest(.connectionParameters): reason = .connectionParameters
        case .invalidRequest(.stopped): reason = .stopped
        case .invalidRequest(.notAvailableOnSharedController): reason = .notAvailable
        case .invalidRequest(.notPermitted): reason = .notPermitted
        case .invalidRequest(.advertisementTooLong): reason = .advertisementTooLong
        case .invalidRequest(.parametersTooLong): reason = .parametersTooLong
        case .invalidRequest(.advertisingSet(let fault)):
            reason = .advertisingSet
            code = fault.wire
        case .invalidRequest(.train): reason = .train
        case .invalidRequest(.subevents): reason = .subevents
        case .invalidRequest(.pathLossZones): reason = .pathLossZones
        case .invalidRequest(.channelMap): reason = .channelMap
        case .publishing(let error): set(error)
        case .channel(let failure): set(failure)
        case .gatt(let failure): set(failure)
        case .security(let failure): set(failure)
        }
    }

    private mutating func set(_ failure: GATTFailure) {
        switch failure {
        case .att(let error, let handle):
            reason = .gattAtt
            code = UInt32(error.rawValue)
            self.handle = handle.wire
        case .invalidResponse(let detail): set(detail)
        case .transactionTimeout: reason = .gattTransactionTimeout
        case .disconnected(let status):
            reason = .gattDisconnected
            code = UInt32(status.rawValue)
        case .bearerClosed: reason = .gattBearerClosed
        case .notConnected: reason = .gattNotConnected
        case .cancelled: reason = .gattCancelled
        case .valueTooLong(let limit):
            reason = .gattValueTooLong
            number = UInt64(limit)
        case .invalidParameters: reason = .gattInvalidParameters
        case .queueFull: reason = .gattQueueFull
        case .reliableWriteMismatch(let handle):
            reason = .gattReliableWriteMismatch
            self.handle = handle.wire
        case .discoveryTooLong: reason = .gattDiscoveryTooLong
        case .notSubscribed: reason = .gattNotSubscribed
        case .security(let failure):
            set(failure)
            isOfGatt = true
        }
    }

    private mutating func set(_ detail: ATTInvalidResponse) {
        switch detail {
        case .malformed(.truncated(let needed, let remaining)):
            reason = .gattTruncated
            number = UInt64(clamping: needed)
            otherNumber = UInt64(clamping: remaining)
        case .malformed(.trailingBytes(let count)):
            reason = .gattTrailingBytes
            number = UInt64(clamping: count)
        case .malformed(.invalidValue(let value, let field)):
            reason = .gattInvalidValue
            number = value
            otherNumber = UInt64(DecodingError.Field.ofWire.firstIndex(of: field) ?? 0)
        case .malformed(.lengthMismatch(let stated, let actual)):
            reason = .gattLengthMismatch
            number = UInt64(clamping: stated)
            otherNumber = UInt64(clamping: actual)
        case .wrongOpcode(let opcode):
            reason = .gattWrongOpcode
            self.opcode = UInt32(opcode.rawValue)
        case .wrongRequestInError(let opcode):
            reason = .gattWrongRequestInError
            self.opcode = UInt32(opcode.rawValue)
        case .handleOutOfRange(let handle):
            reason = .gattHandleOutOfRange
            self.handle = handle.wire
        case .handleOutOfOrder(let handle):
            reason = .gattHandleOutOfOrder
            self.handle = handle.wire
        case .elementLength(let length):
            reason = .gattElementLength
            number = UInt64(clamping: length)
        case .tooManyValues: reason = .gattTooManyValues
        }
    }

    private mutating func set(_ failure: SecurityFailure) {
        switch failure {
        case .refusedByUs(let cause):
            reason = .refusedByUs
            code = UInt32(cause.rawValue)
        case .refusedByPeer(let cause):
            reason = .refusedByPeer
            code = UInt32(cause.rawValue)
        case .timedOut: reason = .securityTimedOut
        case .keyMissingAtPeer: reason = .keyMissingAtPeer
        case .encryptionFailed(let status):
            reason = .encryptionFailed
            code = UInt32(status.rawValue)
        case .wouldReplaceBond: reason = .wouldReplaceBond
        case .keyTooWeak: reason = .keyTooWeak
        case .noKey: reason = .noKey
        case .notAvailable: reason = .securityNotAvailable
        case .alreadyPairing: reason = .alreadyPairing
        case .repeatedAttempts(let pause):
            reason = .repeatedAttempts
            number = UInt64(clamping: pause.rawValue)
        case .passkeyLocked: reason = .passkeyLocked
        case .tooManyBonds: reason = .tooManyBonds
        case .linkLost: reason = .securityLinkLost
        case .cancelled: reason = .securityCancelled
        }
    }
}

extension HostFailure {
    /// - Throws: `WireError.invalidField`.
    init(_ wire: WireFailure) throws(WireError) {
        if let failure = try SecurityFailure(wire) {
            self = wire.isOfGatt ? .gatt(.security(failure)) : .security(failure)
        } else if let failure = try GATTFailure(wire) {
            self = .gatt(failure)
        } else if let error = try GATTPublishError(wire) {
            self = .publishing(error)
        } else if let failure = ChannelFailure(wire) {
            self = .channel(failure)
        } else if let failure = try Self.plain(wire) {
            self = failure
        } else {
            // A reason of a newer daemon, or one for something that this version does not carry.
            self = .invalidRequest(.notAvailableOnSharedController)
        }
    }

    private static func plain(_ wire: WireFailure) throws(WireError) -> HostFailure? {
        switch wire.reason {
        case .cancelled: .cancelled
        case .controllerLost: .controllerLost
        case .controllerUnresponsive: .controllerUnresponsive
        case .controller: .controller(try wire.status, HCIOpcode(rawValue: UInt16(clamping: wire.opcode)))
        case .commandTimeout: .commandTimeout(HCIOpcode(rawValue: UInt16(clamping: wire.opcode)))
        case .linkLost: .linkLost(try DisconnectionReason(wire.disconnection))
        case .notConnected: .notConnected
        case .connectionFailed: .connectionFailed(try wire.status)
        case .procedureTimeout: .procedureTimeout
        case .rejectedByPeer: .rejectedByPeer
        case .limitReached: .limitReached
        case .connectionParameters: .invalidRequest(.connectionParameters)
        case .stopped: .invalidRequest(.stopped)
        case .notAvailable: .invalidRequest(.notAvailableOnSharedController)
        case .notPermitted: .invalidRequest(.notPermitted)
        case .advertisementTooLong: .invalidRequest(.advertisementTooLong)
        case .parametersTooLong: .invalidRequest(.parametersTooLong)
        case .advertisingSet: .invalidRequest(.advertisingSet(try AdvertisingSetRequest.Fault(wire: wire.code)))
        case .train: .invalidRequest(.train)
        case .subevents: .invalidRequest(.subevents)
        case .pathLossZones: .invalidRequest(.pathLossZones)
        case .channelMap: .invalidRequest(.channelMap)
        default: nil
        }
    }
}

extension GATTFailure {
    /// `nil` if it is a failure of another kind.
    fileprivate init?(_ wire: WireFailure) throws(WireError) {
        let handle = try AttributeHandle(wire: wire.handle)
        let opcode = ATTOpcode(rawValue: UInt8(clamping: wire.opcode))
        let number = Int(clamping: wire.number)
        let otherNumber = Int(clamping: wire.otherNumber)
        switch wire.reason {
        case .gattAtt: self = .att(ATTError(rawValue: try wire.octet), handle: handle)
        case .gattTransactionTimeout: self = .transactionTimeout
        case .gattDisconnected: self = .disconnected(try wire.status)
        case .gattBearerClosed: self = .bearerClosed
        case .gattNotConnected: self = .notConnected
        case .gattCancelled: self = .cancelled
        case .gattValueTooLong: self = .valueTooLong(limit: number)
        case .gattInvalidParameters: self = .invalidParameters
        case .gattQueueFull: self = .queueFull
        case .gattReliableWriteMismatch: self = .reliableWriteMismatch(handle)
        case .gattDiscoveryTooLong: self = .discoveryTooLong
        case .gattNotSubscribed: self = .notSubscribed
        case .gattWrongOpcode: self = .invalidResponse(.wrongOpcode(opcode))
        case .gattWrongRequestInError: self = .invalidResponse(.wrongRequestInError(opcode))
        case .gattHandleOutOfRange: self = .invalidResponse(.handleOutOfRange(handle))
        case .gattHandleOutOfOrder: self = .invalidResponse(.handleOutOfOrder(handle))
        case .gattElementLength: self = .invalidResponse(.elementLength(number))
        case .gattTooManyValues: self = .invalidResponse(.tooManyValues)
        case .gattTruncated: self = .invalidResponse(.malformed(.truncated(needed: number, remaining: otherNumber)))
        case .gattTrailingBytes: self = .invalidResponse(.malformed(.trailingBytes(number)))
        case .gattInvalidValue:
            guard DecodingError.Field.ofWire.indices.contains(otherNumber) else { throw .invalidField }
            self = .invalidResponse(
                .malformed(.invalidValue(wire.number, field: DecodingError.Field.ofWire[otherNumber])))
        case .gattLengthMismatch:
            self = .invalidResponse(.malformed(.lengthMismatch(stated: number, actual: otherNumber)))
        default: return nil
        }
    }
}

extension SecurityFailure {
    /// `nil` if it is a failure of another kind.
    fileprivate init?(_ wire: WireFailure) throws(WireError) {
        switch wire.reason {
        case .refusedByUs: self = .refusedByUs(PairingFailedReason(rawValue: try wire.octet))
        case .refusedByPeer: self = .refusedByPeer(PairingFailedReason(rawValue: try wire.octet))
        case .securityTimedOut: self = .timedOut
        case .keyMissingAtPeer: self = .keyMissingAtPeer
        case .encryptionFailed: self = .encryptionFailed(try wire.status)
        case .wouldReplaceBond: self = .wouldReplaceBond
        case .keyTooWeak: self = .keyTooWeak
        case .noKey: self = .noKey
        case .securityNotAvailable: self = .notAvailable
        case .alreadyPairing: self = .alreadyPairing
        case .repeatedAttempts:
            self = .repeatedAttempts(retryAfter: Microseconds(rawValue: Int64(clamping: wire.number)))
        case .passkeyLocked: self = .passkeyLocked
        case .tooManyBonds: self = .tooManyBonds
        case .securityLinkLost: self = .linkLost
        case .securityCancelled: self = .cancelled
        default: return nil
        }
    }
}

extension WireFailure {
    var octet: UInt8 {
        get throws(WireError) {
            guard let octet = UInt8(exactly: code) else { throw .invalidField }
            return octet
        }
    }

    fileprivate var status: HCIStatus { get throws(WireError) { HCIStatus(rawValue: try octet) } }
}

extension WireDisconnection {
    init(_ reason: DisconnectionReason) {
        self.init()
        switch reason {
        case .releasedByClient: kind = .released
        case .controller(let status):
            kind = .controller
            self.status = UInt32(status.rawValue)
        case .controllerLost: kind = .controllerLost
        }
    }
}

extension DisconnectionReason {
    init(_ wire: WireDisconnection) throws(WireError) {
        switch wire.kind {
        case .released: self = .releasedByClient
        case .controller:
            guard let status = UInt8(exactly: wire.status) else { throw .invalidField }
            self = .controller(HCIStatus(rawValue: status))
        case .controllerLost: self = .controllerLost
        case .unspecified, .UNRECOGNIZED: throw .invalidField
        }
    }
}

extension DecodingError.Field {
    /// The number of a field on the wire is its index here, so new ones are appended.
    fileprivate static let ofWire: [DecodingError.Field] = [
        .packetType, .opcode, .eventCode, .subevent, .status, .addressType, .role, .reportType, .boundaryFlag,
        .attOpcode, .elementLength, .handle, .handleRange, .uuidFormat, .identifier, .result, .count,
        .length, .phy, .boolean, .ioCapability, .keypress,
    ]
}
