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

    /// What a key lacks.
    enum Shortfall {
        /// Protection against a man in the middle, or LE Secure Connections.
        case authentication
        case size
    }

    /// The one measure of whether a key is strong enough: for operations, subscriptions and channels alike.
    func shortfall(of demand: KeyDemand) -> Shortfall? {
        if demand.requiresAuthentication, !isAuthenticated { return .authentication }
        if demand.requiresSecureConnections, !isSecureConnections { return .authentication }
        return size < demand.leastSize ? .size : nil
    }

    func satisfies(_ options: PairingOptions) -> Bool { shortfall(of: KeyDemand(options)) == nil }

    /// Whether the key is what a peripheral asks for.
    func satisfies(_ wanted: AuthenticationRequirements) -> Bool {
        isAuthenticated || !wanted.contains(.mitm)
    }

    /// Whether what another key protected is less safe with this one.
    func isWeaker(than other: KeyProperties) -> Bool {
        other.isAuthenticated && !isAuthenticated || size < other.size
    }
}

/// What is demanded of a key.
struct KeyDemand {
    /// Whether it has to be protected against a man in the middle.
    var requiresAuthentication: Bool
    var requiresSecureConnections: Bool
    /// Octets, 7 to 16.
    var leastSize: UInt8

    /// What this side demands of every key.
    init(_ options: PairingOptions) {
        requiresAuthentication = options.requiresAuthentication
        requiresSecureConnections = options.requiresSecureConnections
        leastSize = options.leastKeySize
    }

    /// With what a listener for channels demands beyond it.
    func raised(by channel: ChannelSecurity) -> KeyDemand {
        var demand = self
        demand.requiresAuthentication = requiresAuthentication || channel.requiresAuthentication
        demand.leastSize = max(leastSize, channel.minimumKeySize)
        return demand
    }
}

extension Bond {
    var keyProperties: KeyProperties {
        KeyProperties(
            isAuthenticated: isAuthenticated, isSecureConnections: isSecureConnections, size: keySize, isOfBond: true)
    }
}
