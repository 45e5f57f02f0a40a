import BLEHost
import BLEPackets

extension BusError {
    /// Why an operation on an attribute failed.
    /// - Parameter reading: whether it was to be read, not written.
    init(_ failure: HostFailure, reading: Bool) {
        switch failure {
        case .gatt(let failure): self.init(failure, reading: reading)
        case .security: self = .notPermitted("Not paired")
        case .linkLost, .notConnected, .controllerLost, .controllerUnresponsive, .controllerFault, .cancelled:
            self = .notConnected
        case .invalidRequest: self = .notSupported
        case .limitReached: self = .inProgress("In Progress")
        default: self = .failed("Operation failed with ATT error: 0x0e")
        }
    }

    private init(_ failure: GATTFailure, reading: Bool) {
        switch failure {
        case .att(let error, _): self.init(error, reading: reading)
        case .disconnected, .bearerClosed, .notConnected, .cancelled: self = .notConnected
        case .valueTooLong: self = .invalidArguments("Invalid Length")
        case .invalidParameters: self = .invalidArguments
        case .queueFull: self = .inProgress("In Progress")
        case .security: self = .notPermitted("Not paired")
        case .transactionTimeout, .invalidResponse, .reliableWriteMismatch, .discoveryTooLong, .notSubscribed:
            self = .failed("Operation failed with ATT error: 0x0e")
        }
    }

    private init(_ error: ATTError, reading: Bool) {
        switch error {
        case .readNotPermitted: self = .notPermitted("Read not permitted")
        case .writeNotPermitted: self = .notPermitted("Write not permitted")
        case .insufficientAuthentication, .insufficientEncryption, .insufficientEncryptionKeySize:
            self = .notPermitted("Not paired")
        case .invalidOffset: self = .invalidArguments("Invalid offset")
        case .invalidAttributeValueLength: self = .invalidArguments("Invalid Length")
        case .requestNotSupported: self = .notSupported
        case .insufficientAuthorization: self = .notAuthorized
        case .clientCharacteristicConfigurationImproperlyConfigured: self = .improperlyConfigured
        default:
            let digits = String(error.rawValue, radix: 16)
            let padded = digits.count < 2 ? "0" + digits : digits
            self = .failed("Operation failed with ATT error: 0x" + padded)
        }
    }
}
