import BLEPackets

/// What is known of a key that encrypts a link, or of a bond's.
struct KeyProperties: Equatable {
    /// Whether it is protected against a man in the middle.
    var isAuthenticated: Bool
    var isSecureConnections: Bool
    /// Octets, 7 to 16.
    var size: UInt8
    /// Whether it is kept for later links.
    var isOfBond = false

    /// The one measure of whether a key is strong enough: for operations, subscriptions and channels alike.
    func satisfies(_ options: PairingOptions) -> Bool { shortfall(of: options) == nil }

    /// What the key lacks of what is demanded, as an attribute server says it.
    func shortfall(of options: PairingOptions) -> ATTError? {
        if options.requiresAuthentication, !isAuthenticated { return .insufficientAuthentication }
        if options.requiresSecureConnections, !isSecureConnections { return .insufficientAuthentication }
        return size < options.leastKeySize ? .insufficientEncryptionKeySize : nil
    }

    /// Whether the key is what a peripheral asks for.
    func satisfies(_ wanted: AuthenticationRequirements) -> Bool {
        isAuthenticated || !wanted.contains(.mitm)
    }

    /// Whether what another key protected is less safe with this one.
    func isWeaker(than other: KeyProperties) -> Bool {
        other.isAuthenticated && !isAuthenticated || size < other.size
    }
}

extension Bond {
    var keyProperties: KeyProperties {
        KeyProperties(
            isAuthenticated: isAuthenticated, isSecureConnections: isSecureConnections, size: keySize, isOfBond: true)
    }
}
