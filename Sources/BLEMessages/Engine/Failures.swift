import BLEHost
import BLEPackets

/// A failure is flat in the schema: a reason with its number, and fields of which each reason has its own.
extension HostFailure: Message {
    public static var blank: Self { .cancelled }
    public static var schemaName: String { "Failure" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        var flat = FlatFailure()
        if !C.reads { try reasons(&it, &flat) }
        try c.field(1, "reason", &flat.reason)
        try c.field(2, "code", &flat.code)
        try c.field(3, "opcode", &flat.opcode)
        try c.field(4, "handle", &flat.handle)
        try c.field(5, "number", &flat.number)
        try c.field(6, "other_number", &flat.otherNumber)
        try c.field(7, "disconnection", &flat.disconnection)
        try c.field(8, "is_of_gatt", &flat.isOfGATT)
        try c.field(9, "uuid", &flat.uuid)
        guard C.reads else { return }
        // A reason of a newer daemon, or one for something that this version does not carry.
        it = .invalidRequest(.notAvailableOnSharedController)
        flat.isReading = true
        try reasons(&it, &flat)
    }

    private static func reasons(_ it: inout Self, _ flat: inout FlatFailure) throws(MessageError) {
        try flat.reason(1, &it, .cancelled)
        try flat.reason(2, &it, .controllerLost)
        try flat.reason(3, &it, .controllerUnresponsive)
        try flat.reason(
            4, &it, Self.controller, .code, .opcode, { if case .controller(let a, let b) = $0 { (a, b) } else { nil } })
        try flat.reason(5, &it, Self.commandTimeout, .opcode) { if case .commandTimeout(let a) = $0 { a } else { nil } }
        if case .linkLost(let cause) = it { (flat.reason, flat.disconnection) = (6, cause) }
        if flat.reads(6) {
            guard let cause = flat.disconnection else { throw .invalidField }
            it = .linkLost(cause)
        }
        try flat.reason(7, &it, .notConnected)
        try flat.reason(
            8, &it, Self.connectionFailed, .code, { if case .connectionFailed(let a) = $0 { a } else { nil } })
        try flat.reason(9, &it, .procedureTimeout)
        try flat.reason(10, &it, .rejectedByPeer)
        try flat.reason(11, &it, .limitReached)
        try flat.reason(12, &it, .invalidRequest(.connectionParameters))
        try flat.reason(13, &it, .invalidRequest(.stopped))
        try flat.reason(14, &it, .invalidRequest(.notAvailableOnSharedController))
        try flat.reason(15, &it, .invalidRequest(.notPermitted))
        try flat.reason(16, &it, .invalidRequest(.advertisementTooLong))
        try flat.reason(
            17, &it, { .invalidRequest(.advertisingSet($0)) }, .code,
            { if case .invalidRequest(.advertisingSet(let fault)) = $0 { fault } else { nil } })
        try flat.reason(18, &it, .invalidRequest(.train))
        try flat.reason(19, &it, .invalidRequest(.pathLossZones))
        try flat.reason(50, &it, .invalidRequest(.channelMap))
        try flat.reason(51, &it, .invalidRequest(.parametersTooLong))
        try flat.reason(55, &it, .invalidRequest(.subevents))
        try flat.part(&it, .noReports, Self.controllerFault, ControllerFault.reasons) {
            if case .controllerFault(let fault) = $0 { fault } else { nil }
        }
        try flat.part(&it, .timedOut, Self.security, SecurityFailure.reasons, where: !flat.isOfGATT) {
            if case .security(let failure) = $0 { failure } else { nil }
        }
        try flat.part(&it, .cancelled, Self.gatt, GATTFailure.reasons) { if case .gatt(let a) = $0 { a } else { nil } }
        try flat.part(&it, .outOfHandles, Self.publishing, GATTPublishError.reasons) {
            if case .publishing(let error) = $0 { error } else { nil }
        }
        try flat.part(
            &it, .notOpen, Self.channel, ChannelFailure.reasons, { if case .channel(let a) = $0 { a } else { nil } })
    }
}

extension ControllerFault {
    static func reasons(_ it: inout Self, _ flat: inout FlatFailure) throws(MessageError) {
        try flat.reason(90, &it, Self.unanswered, .opcode) { if case .unanswered(let a) = $0 { a } else { nil } }
        try flat.reason(
            91, &it, Self.refused, .code, .opcode, { if case .refused(let a, let b) = $0 { (a, b) } else { nil } })
        try flat.reason(92, &it, .noReports)
        try flat.reason(93, &it, .noLowEnergy)
        try flat.reason(94, &it, .reportsItself)
        try flat.reason(95, &it, .stalledLinks)
        try flat.reason(96, &it, Self.hardwareError, .code) { if case .hardwareError(let a) = $0 { a } else { nil } }
        try flat.reason(97, &it, .connectsToNobody)
        try flat.reason(98, &it, .forgetsState)
        try flat.reason(99, &it, .packetsLost)
    }
}

extension SecurityFailure {
    static func reasons(_ it: inout Self, _ flat: inout FlatFailure) throws(MessageError) {
        try flat.reason(60, &it, Self.refusedByUs, .code) { if case .refusedByUs(let why) = $0 { why } else { nil } }
        try flat.reason(61, &it, Self.refusedByPeer, .code) { if case .refusedByPeer(let a) = $0 { a } else { nil } }
        try flat.reason(62, &it, .timedOut)
        try flat.reason(63, &it, .keyMissingAtPeer)
        try flat.reason(
            64, &it, Self.encryptionFailed, .code, { if case .encryptionFailed(let a) = $0 { a } else { nil } })
        try flat.reason(65, &it, .wouldReplaceBond)
        try flat.reason(66, &it, .keyTooWeak)
        try flat.reason(67, &it, .noKey)
        try flat.reason(68, &it, .notAvailable)
        try flat.reason(69, &it, .alreadyPairing)
        try flat.reason(
            70, &it, Self.repeatedAttempts, .number, { if case .repeatedAttempts(let a) = $0 { a } else { nil } })
        try flat.reason(71, &it, .passkeyLocked)
        try flat.reason(72, &it, .tooManyBonds)
        try flat.reason(73, &it, .linkLost)
        try flat.reason(74, &it, .cancelled)
    }
}

extension GATTFailure {
    static func reasons(_ it: inout Self, _ flat: inout FlatFailure) throws(MessageError) {
        try flat.reason(
            20, &it, { .att($0, handle: $1) }, .code, .handle,
            { if case .att(let error, let handle) = $0 { (error, handle) } else { nil } })
        try flat.reason(21, &it, .transactionTimeout)
        try flat.reason(22, &it, Self.disconnected, .code) { if case .disconnected(let a) = $0 { a } else { nil } }
        try flat.reason(23, &it, .bearerClosed)
        try flat.reason(24, &it, .notConnected)
        try flat.reason(25, &it, .cancelled)
        try flat.reason(26, &it, Self.valueTooLong, .number) { if case .valueTooLong(let a) = $0 { a } else { nil } }
        try flat.reason(27, &it, .invalidParameters)
        try flat.reason(28, &it, .queueFull)
        try flat.reason(29, &it, Self.reliableWriteMismatch, .handle) {
            if case .reliableWriteMismatch(let handle) = $0 { handle } else { nil }
        }
        try flat.reason(30, &it, .discoveryTooLong)
        try flat.reason(31, &it, .notSubscribed)
        try flat.part(&it, .tooManyValues, Self.invalidResponse, ATTInvalidResponse.reasons) {
            if case .invalidResponse(let detail) = $0 { detail } else { nil }
        }
        if !flat.isReading, case .security = it { flat.isOfGATT = true }
        try flat.part(&it, .timedOut, Self.security, SecurityFailure.reasons, where: flat.isOfGATT) {
            if case .security(let failure) = $0 { failure } else { nil }
        }
    }
}

extension ATTInvalidResponse {
    static func reasons(_ it: inout Self, _ flat: inout FlatFailure) throws(MessageError) {
        try flat.reason(32, &it, Self.wrongOpcode, .opcode) { if case .wrongOpcode(let a) = $0 { a } else { nil } }
        try flat.reason(
            33, &it, Self.wrongRequestInError, .opcode, { if case .wrongRequestInError(let a) = $0 { a } else { nil } })
        try flat.reason(
            34, &it, Self.handleOutOfRange, .handle, { if case .handleOutOfRange(let a) = $0 { a } else { nil } })
        try flat.reason(
            35, &it, Self.handleOutOfOrder, .handle, { if case .handleOutOfOrder(let a) = $0 { a } else { nil } })
        try flat.reason(36, &it, Self.elementLength, .number) { if case .elementLength(let a) = $0 { a } else { nil } }
        try flat.reason(37, &it, .tooManyValues)
        try flat.reason(
            38, &it, { .malformed(.truncated(needed: $0, remaining: $1)) }, .number, .otherNumber,
            { if case .malformed(.truncated(let needed, let left)) = $0 { (needed, left) } else { nil } })
        try flat.reason(
            39, &it, { .malformed(.trailingBytes($0)) }, .number,
            { if case .malformed(.trailingBytes(let count)) = $0 { count } else { nil } })
        try flat.reason(
            40, &it, { .malformed(.invalidValue($0, field: $1)) }, .number, .otherNumber,
            { if case .malformed(.invalidValue(let value, let field)) = $0 { (value, field) } else { nil } })
        try flat.reason(
            41, &it, { .malformed(.lengthMismatch(stated: $0, actual: $1)) }, .number, .otherNumber,
            { if case .malformed(.lengthMismatch(let stated, let actual)) = $0 { (stated, actual) } else { nil } })
    }
}

extension GATTPublishError {
    static func reasons(_ it: inout Self, _ flat: inout FlatFailure) throws(MessageError) {
        try flat.type(80, &it, Self.uuidNotAllowed) { if case .uuidNotAllowed(let uuid) = $0 { uuid } else { nil } }
        try flat.type(81, &it, Self.propertyNotAllowed) { if case .propertyNotAllowed(let a) = $0 { a } else { nil } }
        try flat.type(
            82, &it, Self.descriptorNotAllowed, { if case .descriptorNotAllowed(let uuid) = $0 { uuid } else { nil } })
        try flat.type(
            83, &it, Self.cachedValueNotReadOnly, { if case .cachedValueNotReadOnly(let a) = $0 { a } else { nil } })
        try flat.type(84, &it, Self.valueTooLong) { if case .valueTooLong(let uuid) = $0 { uuid } else { nil } }
        try flat.reason(85, &it, Self.includedServiceUnknown, .handle) {
            if case .includedServiceUnknown(let handle) = $0 { handle } else { nil }
        }
        try flat.reason(86, &it, .outOfHandles)
        try flat.reason(
            87, &it, Self.unknownService, .handle, { if case .unknownService(let handle) = $0 { handle } else { nil } })
        try flat.reason(
            88, &it, { .isIncluded($0, by: $1) }, .handle, .number,
            { if case .isIncluded(let handle, let other) = $0 { (handle, other) } else { nil } })
        try flat.reason(
            89, &it, Self.handlesOutOfOrder, .handle, { if case .handlesOutOfOrder(let a) = $0 { a } else { nil } })
    }
}

extension ChannelFailure {
    static func reasons(_ it: inout Self, _ flat: inout FlatFailure) throws(MessageError) {
        try flat.reason(100, &it, Self.refused, .code) { if case .refused(let result) = $0 { result } else { nil } }
        try flat.reason(101, &it, .invalidAnswer)
        try flat.reason(102, &it, .notOpen)
        try flat.reason(103, &it, .noResources)
        try flat.reason(104, &it, .unitTooLong)
        try flat.reason(105, &it, .invalidSPSM)
        try flat.reason(
            106, &it, Self.notReconfigurable, .code, { if case .notReconfigurable(let a) = $0 { a } else { nil } })
    }
}
