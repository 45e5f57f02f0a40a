import BLEPackets

/// The security of a link, as far as an attribute server needs to know it (Core 5.4, Vol 3, Part C, 10.2).
public struct GATTLinkSecurity: Equatable, Sendable {
    /// The keys that both sides have from pairing, whether they are in use or not.
    public enum Keys: Equatable, Sendable {
        /// Never paired, or the keys were lost.
        case none
        /// Paired, but without protection against a man in the middle.
        case unauthenticated
        /// Paired with protection against a man in the middle.
        case authenticated
    }

    /// The keys from pairing.
    public var keys: Keys
    /// Whether the link is encrypted now.
    public var isEncrypted: Bool
    /// Octets of the key in use, 7 to 16.
    public var keySize: UInt8
    /// Whether the user allows this client to use values that need authorization.
    public var isAuthorized: Bool
    /// The error for every access that needs encryption, because the key in use is weaker than this device requires for
    /// all of them; `nil` if the key is sufficient.
    public var shortfall: ATTError?

    public init(
        keys: Keys = .none, isEncrypted: Bool = false, keySize: UInt8 = 16, isAuthorized: Bool = false,
        shortfall: ATTError? = nil
    ) {
        self.keys = keys
        self.isEncrypted = isEncrypted
        self.keySize = keySize
        self.isAuthorized = isAuthorized
        self.shortfall = shortfall
    }

    /// An unpaired client on an unencrypted link.
    public static let none = GATTLinkSecurity()
}
