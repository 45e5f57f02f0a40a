import BLE
import Foundation

// `error.localizedDescription` and alerts show the library's own texts. The product `BLE` contains this module, so a
// program need not import it; firmware takes the product `BLEFirmware`, which has no Foundation.

extension BLEError: LocalizedError {
    /// The cause and the remedy.
    public var errorDescription: String? { description }
    /// The cause.
    public var failureReason: String? { cause }
    /// The remedy, if one is known.
    public var recoverySuggestion: String? { remedy }
}

extension TransportError: LocalizedError {
    /// The cause and the remedy.
    public var errorDescription: String? { description }
}

extension BondStoreError: LocalizedError {
    /// The cause and the remedy.
    public var errorDescription: String? { description }
}

extension SecurityFailure: LocalizedError {
    /// The cause and the remedy.
    public var errorDescription: String? { description }
}
