import BLEPackets

extension BLEError {
    /// The kind of an error as one word that stays the same across versions, for programs, logs and counters.
    public enum Code: String, Sendable, CaseIterable {
        /// The operation was cancelled; a cancelled task throws `CancellationError` instead.
        case cancelled
        /// The adapter was closed.
        case closed
        /// The transport could not be opened, or failed.
        case transport
        /// The controller did not start, was lost, or does not respond.
        case controllerFailed
        /// The controller refused a command.
        case controllerRefused
        /// An operation took longer than its limit.
        case timedOut
        /// There is no link to the device, or it has ended.
        case notConnected
        /// The link ended while the operation ran.
        case linkLost
        /// The link could not be established.
        case connectionFailed
        /// The device has no such service, characteristic or descriptor.
        case notFound
        /// The characteristic neither notifies nor indicates, or the subscription has ended.
        case notSubscribable
        /// The device answered with an ATT error; see `attError`.
        case refusedByDevice
        /// The device broke the protocol, or did not answer.
        case protocolViolation
        /// A value of the device has not the format of its characteristic, or the device does not know it.
        case invalidValue
        /// The request is invalid, or a value is too long.
        case invalidRequest
        /// There are too many operations, links, channels or bonds.
        case limitReached
        /// The link could not be made as secure as is required.
        case security
        /// An L2CAP channel could not be opened or used.
        case channel
        /// Bonds could not be read or saved.
        case bondStore
        /// A defect of this library.
        case defect
    }

    /// The kind of error.
    public var code: Code {
        switch self {
        case .transport: .transport
        case .startupTimeout, .controllerLost, .controllerUnresponsive, .controllerFault, .commandTimeout,
            .procedureTimeout:
            .controllerFailed
        case .closed: .closed
        case .controllerRefused: .controllerRefused
        case .bondStore: .bondStore
        case .cancelled: .cancelled
        case .timedOut, .nameNotHeard: .timedOut
        case .invalidRequest, .invalidParameters, .valueTooLong, .publishing, .noAddress: .invalidRequest
        case .queueFull, .limitReached: .limitReached
        case .unexpectedResult: .defect
        case .connectionFailed: .connectionFailed
        case .notConnected: .notConnected
        case .linkLost, .bearerClosed: .linkLost
        case .att, .parametersRejected: .refusedByDevice
        case .security: .security
        case .channel: .channel
        case .notFound: .notFound
        case .notSubscribable, .notSubscribed: .notSubscribable
        case .invalidResponse, .transactionTimeout, .reliableWriteMismatch, .discoveryTooLong: .protocolViolation
        case .malformedValue, .unknownValue: .invalidValue
        }
    }

    /// The ATT error with which the device answered; `nil` for other failures.
    public var attError: ATTError? {
        if case .att(let error, _) = self { error } else { nil }
    }

    /// Whether the operation was ended by this side: by its task, or by the release of its link.
    var isCancellation: Bool {
        switch self {
        case .cancelled, .linkLost(.releasedByClient), .security(.cancelled): true
        default: false
        }
    }

    /// Whether the same operation may succeed later without any change.
    var allowsRetry: Bool {
        switch code {
        case .cancelled, .closed, .transport, .bondStore, .invalidRequest, .defect: false
        case .controllerFailed, .controllerRefused, .timedOut, .notConnected, .linkLost, .connectionFailed, .notFound,
            .notSubscribable, .refusedByDevice, .protocolViolation, .invalidValue, .limitReached, .security, .channel:
            true
        }
    }
}
