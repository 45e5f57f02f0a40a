import BLEPackets

/// What protects a link, as far as an attribute server asks for it (Core 5.4, Vol 3, Part C, 10.2).
public struct GATTLinkSecurity: Equatable, Sendable {
    /// The keys that pairing left with both sides, whether they are in use or not.
    public enum Keys: Equatable, Sendable {
        /// Never paired, or the keys are lost.
        case none
        /// Paired, but not protected against a man in the middle.
        case unauthenticated
        /// Protected against a man in the middle.
        case authenticated
    }

    /// What pairing left.
    public var keys: Keys
    /// Whether the link is encrypted now.
    public var isEncrypted: Bool
    /// Octets of the key in use, 7 to 16.
    public var keySize: UInt8
    /// Whether the user lets this client use what needs authorization.
    public var isAuthorized: Bool
    /// With what the client is refused whatever needs encryption, because the key in use is weaker than this device
    /// demands of all of them; `nil` where it is not.
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
