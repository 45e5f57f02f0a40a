import BLE
import BLECapture
import BLEJSON
import BLERecording
import BLEScripts

/// Why a command failed, and the exit status of the program.
struct Failure: Error, Equatable {
    /// Exit statuses of the contract.
    enum Status: Int32 {
        case operationFailed = 1
        case usage = 2
        case transportNotOpened = 3
    }

    var message: String
    var code: ErrorCode
    var status = Status.operationFailed
    /// The ATT error that the device answered with, and for which handle.
    var attError: ATTError?
    var handle: AttributeHandle?
    /// The line of the script that failed, from 1.
    var line: Int?
    /// Whether the output contains the failure already, so that no object is printed for it.
    var isInOutput = false

    init(_ message: String, status: Status = .operationFailed, code: ErrorCode? = nil) {
        self.message = message
        self.status = status
        self.code =
            code
            ?? {
                switch status {
                case .operationFailed: .failed
                case .usage: .usage
                case .transportNotOpened: .transportNotOpened
                }
            }()
    }

    /// An error of the library, in words for a person at the command line.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as BLEError: self.init(error)
        case let problem as ScriptProblem:
            self.init(problem.description)
            line = problem.line
        case is CancellationError: self = .interrupted
        case let error as BondStoreError: self.init(error.description, code: .stateUnusable)
        case let error as RecordingError: self.init(error)
        default: self.init("\(error)")
        }
    }

    /// A transport that could not be opened; a file that is not there, or is not what it should be, is wrong usage.
    static func notOpened(_ error: TransportError, isFile: Bool = false) -> Failure {
        let isUsage =
            switch error {
            case .unusableFile, .unknownPreset: true
            case .pathNotFound, .pathForbidden: isFile
            default: false
            }
        var message = error.description
        // The library's remedy is that of a socket or a device.
        if isFile, case .pathNotFound(let path) = error { message = "‘\(path)’ does not exist: correct the path" }
        return Failure(
            message, status: isUsage ? .usage : .transportNotOpened, code: isUsage ? .usage : ErrorCode(error))
    }

    init(_ error: RecordingError) {
        switch error {
        case .cannotWrite, .refused: self.init(error.description, code: .fileNotWritten)
        case .cannotRead: self.init(error.description, status: .usage)
        case .packets(_, let error) where error.isUnopened: self.init("\(error)", status: .usage)
        default: self.init(error.description, code: .fileDamaged)
        }
    }

    private init(_ error: BLEError) {
        defer { code = ErrorCode(error) }
        switch error {
        // Nothing but the end of the work cancels what it waits for.
        case .cancelled, .linkLost(.releasedByClient): self = .interrupted
        case .controllerRefused(.unsupportedFeatureOrParameterValue, LESetPeriodicAdvertisingParametersV2.opcode),
            .controllerRefused(.unsupportedFeatureOrParameterValue, LESetPeriodicSyncSubevent.opcode):
            self.init(error.description)
        case .controllerRefused(let status, let opcode):
            self.init("the controller refused \(CommandNames.text(of: opcode)): \(status.text)")
        case .commandTimeout(let opcode):
            self.init("the controller did not answer \(CommandNames.text(of: opcode))")
        case .att(let code, let handle):
            self.init(error.description)
            attError = code
            self.handle = handle
        case .security(let failure):
            self.init(error.description + (failure.commands.map { " (\($0))" } ?? ""))
        case .notFound:
            self.init(error.description + "; ‘discover’ lists what it has")
        default: self.init(error.description)
        }
    }

    /// An operation was interrupted by a signal.
    static let interrupted = Failure("interrupted", code: .interrupted)

    func at(line: Int) -> Failure {
        var failure = self
        failure.line = line
        failure.message = "line \(line): \(message)"
        return failure
    }

    var event: JSONValue {
        var event: JSONValue = [
            "event": "error", "code": .string(code.rawValue), "message": .string(message),
        ]
        if let attError { event = event.adding("attError", .string(Hexadecimal.number(attError.rawValue, digits: 2))) }
        if let handle { event = event.adding("handle", JSONValue(handle.rawValue)) }
        if let line { event = event.adding("line", JSONValue(line)) }
        return event
    }
}

extension CaptureError {
    /// Whether the file could not be opened at all.
    var isUnopened: Bool { if case .cannotOpen = reason { true } else { false } }
}

extension SecurityFailure {
    /// The commands and options that carry out the remedy of the description.
    fileprivate var commands: String? {
        switch self {
        case .keyMissingAtPeer, .wouldReplaceBond, .encryptionFailed:
            "bletool pair PEER --replace, or bletool unpair PEER"
        case .keyTooWeak: "--mitm, --min-key-size, --secure-connections-only"
        case .refusedByUs(.authenticationRequirements), .refusedByPeer(.authenticationRequirements):
            "bletool pair PEER --io keyboard --mitm to enter a passkey, --io display to show one"
        case .refusedByUs(.passkeyEntryFailed):
            "bletool pair PEER --io keyboard --mitm at a terminal, or with --passkey-file FILE"
        case .tooManyBonds: "bletool unpair PEER"
        case .refusedByPeer(.unspecifiedReason):
            "if the device still has a bond with this computer, remove it there; bletool unpair PEER removes the one here"
        default: nil
        }
    }
}
