import BLEHost
import BLEPackets
import BLETransport

/// Why an operation of the library failed.
///
/// Operations throw this type, or `CancellationError` if their task was cancelled. Sequences throw it as well, with its
/// type; they end when their task is cancelled. `code` is the kind of an error in one word, `cause` and `remedy` are
/// its text in two parts.
public enum BLEError: Error, Equatable, Sendable {
    // MARK: The adapter

    /// The transport could not be opened, or failed.
    case transport(TransportError)
    /// The controller did not become ready in time.
    case startupTimeout
    /// The adapter was closed.
    case closed
    /// The controller was lost while the operation ran, or is not ready.
    case controllerLost
    /// The controller responds neither to resets nor to reopening the transport.
    case controllerUnresponsive
    /// The controller cannot be used, for this reason.
    case controllerFault(ControllerFault)
    /// The controller refused a command.
    case controllerRefused(HCIStatus, HCIOpcode)
    /// The controller did not answer the command in time.
    case commandTimeout(HCIOpcode)
    /// The controller accepted the command and did not report its completion.
    case procedureTimeout
    /// Bonds could not be read or saved.
    case bondStore(BondStoreError)

    // MARK: The operation

    /// The operation ended without a result, and not because its task was cancelled: that throws `CancellationError`.
    case cancelled
    /// The operation took longer than the limit that was given.
    case timedOut(Duration)
    /// No device with this name advertised within the limit that was given. `heard` has names of others that did, at most
    /// eight, those most like it first. They are foreign text, which the error's own text shows safely.
    case nameNotHeard(String, within: Duration, heard: [String])
    /// The request contradicts the specification or the engine's limits.
    case invalidRequest(HostFailure.InvalidRequest)
    /// The parameters of a request are invalid: a list that is too short or too long, a range without a handle,
    /// channels of several links.
    case invalidParameters
    /// The value is longer than the limit, in octets: 512, or MTU − 3 for a write without a response.
    case valueTooLong(limit: Int)
    /// Too many operations wait.
    case queueFull
    /// There are too many links or operations at the same time.
    case limitReached
    /// The service could not be published or removed.
    case publishing(GATTPublishError)
    /// The engine ended an operation with the result of another: a defect of this library.
    case unexpectedResult(HostResult)

    // MARK: The link

    /// An anonymous advertisement: a device without an address cannot be connected to.
    case noAddress
    /// The connection could not be established, for this reason.
    case connectionFailed(HCIStatus)
    /// There is no such link, or it is about to end.
    case notConnected
    /// The link ended while the operation ran.
    case linkLost(DisconnectionReason)
    /// The bearer of requests on the link failed earlier.
    case bearerClosed
    /// The peer refused the connection parameters.
    case parametersRejected
    /// The link could not be made as secure as is required.
    case security(SecurityFailure)
    /// An L2CAP channel was not opened, or ended.
    case channel(ChannelFailure)

    // MARK: Services and values

    /// The device has no such attribute: a service, characteristic or descriptor with this UUID.
    case notFound(BluetoothUUID)
    /// The characteristic neither notifies nor indicates (SPEC CEN-16).
    case notSubscribable(BluetoothUUID)
    /// There is no subscription, or the device's services have changed and it no longer exists.
    case notSubscribed
    /// The device answered with an error; the handle is the one in its response.
    case att(ATTError, handle: AttributeHandle)
    /// The device's response does not match the request.
    case invalidResponse(ATTInvalidResponse)
    /// The device did not answer for 30 s; the link ends (Core 5.4, Vol 3, Part F, 3.3.3).
    case transactionTimeout
    /// The device received another value than was sent; nothing was written.
    case reliableWriteMismatch(AttributeHandle)
    /// The device reports more attributes than any real device has, or too slowly.
    case discoveryTooLong
    /// The octets of a value do not have the format of their characteristic.
    case malformedValue(BluetoothUUID, [UInt8])
    /// The device reports that it does not know the value, or that it is out of its range.
    case unknownValue(BluetoothUUID)
}

/// The name of `BLEError` in version 0.1.
public typealias AdapterError = BLEError

extension BLEError {
    /// An error of the engine, as version 0.1 wrote it.
    public static func host(_ failure: HostFailure) -> BLEError { BLEError(failure) }

    /// An error of the engine.
    public init(_ failure: HostFailure) {
        self =
            switch failure {
            case .cancelled: .cancelled
            case .controllerLost: .controllerLost
            case .controllerUnresponsive: .controllerUnresponsive
            case .controllerFault(let fault): .controllerFault(fault)
            case .controller(let status, let opcode): .controllerRefused(status, opcode)
            case .commandTimeout(let opcode): .commandTimeout(opcode)
            case .linkLost(let reason): .linkLost(reason)
            case .notConnected: .notConnected
            case .connectionFailed(let status): .connectionFailed(status)
            case .gatt(let failure): BLEError(failure)
            case .channel(let failure): .channel(failure)
            case .security(let failure): .security(failure)
            case .publishing(let error): .publishing(error)
            case .invalidRequest(let reason): .invalidRequest(reason)
            case .procedureTimeout: .procedureTimeout
            case .rejectedByPeer: .parametersRejected
            case .limitReached: .limitReached
            }
    }

    /// An error of a GATT operation.
    public init(_ failure: GATTFailure) {
        self =
            switch failure {
            case .att(let error, let handle): .att(error, handle: handle)
            case .invalidResponse(let detail): .invalidResponse(detail)
            case .transactionTimeout: .transactionTimeout
            case .disconnected(let status): .linkLost(.controller(status))
            case .bearerClosed: .bearerClosed
            case .notConnected: .notConnected
            // Only the owner's end of the link cancels here: where a task was cancelled, that is recognised earlier.
            case .cancelled: .linkLost(.releasedByClient)
            case .valueTooLong(let limit): .valueTooLong(limit: limit)
            case .invalidParameters: .invalidParameters
            case .queueFull: .queueFull
            case .reliableWriteMismatch(let handle): .reliableWriteMismatch(handle)
            case .discoveryTooLong: .discoveryTooLong
            case .notSubscribed: .notSubscribed
            case .security(let failure): .security(failure)
            }
    }
}
