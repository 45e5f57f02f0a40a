/// Why a USB device could not be used, or can be used no longer. The module of the transport writes the words, so that
/// programs without it do not carry them.
public struct USBFailure: Hashable, Sendable {
    /// What kind of trouble it is.
    public enum Kind: Hashable, Sendable {
        /// libusb is not installed, or too old.
        case libraryMissing
        /// No device that is meant is plugged in.
        case deviceMissing
        /// The user may not open the device.
        case forbidden
        /// Another process uses the device.
        case busy
        /// The device has no interface of a Bluetooth controller.
        case unsuitable
        /// The device was unplugged while it was open.
        case removed
        /// A transfer or a request to the device failed.
        case failed
    }

    /// What kind of trouble it is.
    public let kind: Kind
    /// What went wrong.
    public let cause: String
    /// What to do about it; `nil` if no remedy is known.
    public let remedy: String?

    public init(_ kind: Kind, _ cause: String, remedy: String? = nil) {
        self.kind = kind
        self.cause = cause
        self.remedy = remedy
    }
}
