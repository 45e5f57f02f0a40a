import BLE

/// The kind of failure in an error event: a word that stays the same when the text of the message changes.
enum ErrorCode: String, CaseIterable {
    /// Nothing more precise is known.
    case failed
    /// The command line, or a file that it names, is wrong or cannot be read.
    case usage
    /// ^C, SIGTERM or the end of the terminal.
    case interrupted
    /// Fewer values came in time than were asked for.
    case timeout
    /// Standard output could not be written.
    case outputFailed

    case noBluetooth, noAdapter, noPermission, adapterUp, adapterDown, adapterBusy, adapterBlocked
    /// The transport could not be opened, for another reason.
    case transportNotOpened
    /// The transport or its adapter went away.
    case transportLost

    /// The controller refused a command.
    case controllerRefused
    /// The controller stopped answering.
    case controllerSilent

    case deviceNotReached, deviceNotConnectable, ambiguousName, connectionFailed, linkLost
    /// The device answered with an ATT error; `attError` has its number.
    case attError
    /// The device has no such service, characteristic or descriptor.
    case attributeNotFound
    /// The characteristic neither notifies nor indicates.
    case notSubscribable
    /// The device broke a rule of the protocol, or did not answer.
    case protocolError

    case pairingFailed, noBond
    /// The device refused an update or a management request, or does not run the new image.
    case updateRefused
    /// The store of bonds, or another file of the state folder, cannot be used.
    case stateUnusable
    /// A capture or recording is damaged or incomplete.
    case fileDamaged
    /// A file could not be written.
    case fileNotWritten
    /// The engine sends other packets than a recording.
    case mismatch
}

extension ErrorCode {
    init(_ error: TransportError) {
        self =
            switch error {
            case .noBluetoothInKernel: .noBluetooth
            case .noSuchAdapter, .noAdapter, .noLowEnergyAdapter: .noAdapter
            case .permissionDenied, .pathForbidden: .noPermission
            case .adapterUp: .adapterUp
            case .adapterDown: .adapterDown
            case .adapterBusy, .adapterInSetup, .serialPortBusy: .adapterBusy
            case .adapterBlocked: .adapterBlocked
            case .adapterRemoved, .closedByPeer, .framingLost, .noResetAnswer, .noThreeWirePeer, .chipFailed,
                .sendQueueFull:
                .transportLost
            case .usb(let failure): ErrorCode(failure)
            case .invalidAddress, .unusableFile, .unknownPreset: .usage
            default: .transportNotOpened
            }
    }

    private init(_ failure: USBFailure) {
        self =
            switch failure.kind {
            case .deviceMissing, .unsuitable: .noAdapter
            case .forbidden: .noPermission
            case .busy: .adapterBusy
            case .removed: .transportLost
            case .libraryMissing, .failed: .transportNotOpened
            }
    }

    init(_ error: BLEError) {
        self =
            switch error {
            case .transport(let error): ErrorCode(error)
            case .closed, .controllerLost: .transportLost
            case .startupTimeout, .controllerUnresponsive, .controllerFault, .commandTimeout: .controllerSilent
            case .controllerRefused: .controllerRefused
            case .bondStore: .stateUnusable
            case .cancelled, .linkLost(.releasedByClient): .interrupted
            case .linkLost, .notConnected, .bearerClosed: .linkLost
            case .connectionFailed: .connectionFailed
            case .notFound: .attributeNotFound
            case .notSubscribable: .notSubscribable
            case .att: .attError
            case .invalidResponse, .transactionTimeout, .discoveryTooLong, .procedureTimeout, .parametersRejected:
                .protocolError
            case .security: .pairingFailed
            case .invalidRequest, .valueTooLong, .invalidParameters: .usage
            default: .failed
            }
    }
}
