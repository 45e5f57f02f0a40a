import BLEHost
import BLEPackets

extension AdapterError {
    /// The kind of an error as one word that stays the same across versions, for programs, logs and counters.
    public enum Code: String, Sendable, CaseIterable {
        /// The task was cancelled.
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
        case .host(let failure): failure.code
        case .startupTimeout: .controllerFailed
        case .closed: .closed
        case .notFound: .notFound
        case .notSubscribable: .notSubscribable
        case .noAddress: .invalidRequest
        case .timedOut: .timedOut
        case .bondStore: .bondStore
        case .unexpectedResult: .defect
        }
    }

    /// What went wrong, without the remedy.
    public var cause: String { Self.parts(of: description).cause }

    /// What to do about it; `nil` if no remedy is known.
    public var remedy: String? { Self.parts(of: description).remedy }

    /// The ATT error with which the device answered; `nil` for other failures.
    public var attError: ATTError? {
        if case .host(.gatt(.att(let error, _))) = self { error } else { nil }
    }

    /// Whether the operation ended because its task was cancelled.
    public var isCancellation: Bool { code == .cancelled }

    /// Whether the same operation may succeed later without any change.
    var allowsRetry: Bool {
        switch code {
        case .cancelled, .closed, .transport, .bondStore, .invalidRequest, .defect: false
        case .controllerFailed, .controllerRefused, .timedOut, .notConnected, .linkLost, .connectionFailed, .notFound,
            .notSubscribable, .refusedByDevice, .protocolViolation, .limitReached, .security, .channel:
            true
        }
    }

    /// Descriptions give the cause, then the remedy after a semicolon.
    private static func parts(of text: String) -> (cause: String, remedy: String?) {
        let octets = Array(text.utf8)
        for index in octets.indices.dropLast() {
            guard octets[index] == UInt8(ascii: ";"), octets[index + 1] == UInt8(ascii: " ") else { continue }
            return (
                String(decoding: octets[..<index], as: UTF8.self),
                String(decoding: octets[(index + 2)...], as: UTF8.self)
            )
        }
        return (text, nil)
    }
}

extension HostFailure {
    fileprivate var code: AdapterError.Code {
        switch self {
        case .cancelled: .cancelled
        case .controllerLost, .controllerUnresponsive, .commandTimeout, .procedureTimeout: .controllerFailed
        case .controller: .controllerRefused
        case .linkLost: .linkLost
        case .notConnected: .notConnected
        case .connectionFailed: .connectionFailed
        case .gatt(let failure): failure.code
        case .channel: .channel
        case .security: .security
        case .publishing: .invalidRequest
        case .invalidRequest: .invalidRequest
        case .rejectedByPeer: .refusedByDevice
        case .limitReached: .limitReached
        }
    }
}

extension GATTFailure {
    fileprivate var code: AdapterError.Code {
        switch self {
        case .att: .refusedByDevice
        case .invalidResponse, .transactionTimeout, .reliableWriteMismatch, .discoveryTooLong: .protocolViolation
        case .disconnected, .bearerClosed: .linkLost
        case .notConnected: .notConnected
        case .cancelled: .cancelled
        case .valueTooLong, .invalidParameters: .invalidRequest
        case .queueFull: .limitReached
        case .notSubscribed: .notSubscribable
        case .security: .security
        }
    }
}
