import BLEPackets

/// The known properties of a link's or a bond's key.
struct KeyProperties: Equatable {
    /// Whether it is protected against a man in the middle.
    var isAuthenticated: Bool
    var isSecureConnections: Bool
    /// Size in octets, 7 to 16.
    var size: UInt8
    /// Whether the key belongs to a bond, for later links.
    var isOfBond = false

    /// What a key lacks to meet a demand.
    enum Shortfall {
        /// Protection against a man in the middle, or LE Secure Connections.
        case authentication
        case size
    }

    /// The one check of whether a key is strong enough, used for operations, subscriptions and channels.
    func shortfall(of demand: KeyDemand) -> Shortfall? {
        if demand.requiresAuthentication, !isAuthenticated { return .authentication }
        if demand.requiresSecureConnections, !isSecureConnections { return .authentication }
        return size < demand.leastSize ? .size : nil
    }

    func satisfies(_ options: PairingOptions) -> Bool { shortfall(of: KeyDemand(options)) == nil }

    /// Whether the key meets the authentication requirements of a peripheral.
    func satisfies(_ wanted: AuthenticationRequirements) -> Bool {
        isAuthenticated || !wanted.contains(.mitm)
    }

    /// Whether data that another key protected would be less safe with this one.
    func isWeaker(than other: KeyProperties) -> Bool {
        other.isAuthenticated && !isAuthenticated || size < other.size
    }
}

/// What this side requires of a key.
struct KeyDemand {
    /// Whether the key must be protected against a man in the middle.
    var requiresAuthentication: Bool
    var requiresSecureConnections: Bool
    /// Smallest size in octets, 7 to 16.
    var leastSize: UInt8

    /// The requirements of this side for every key.
    init(_ options: PairingOptions) {
        requiresAuthentication = options.requiresAuthentication
        requiresSecureConnections = options.requiresSecureConnections
        leastSize = options.leastKeySize
    }

    /// The same requirements, raised by those of a listener for channels.
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
