import BLEPackets

/// How this device makes its links secure, and what has come of it: the settings, the bonds, and what the pairings of
/// all links share.
///
/// The machines that pair and encrypt are those of each link (`LinkSecurityMachine`). A link asks here what it may and
/// should do, and leaves here what is to outlive it.
struct Pairings {
    /// Whether the controller is not shared with another stack, which would see to the security of links itself.
    let isExclusive: Bool
    var settings: SecuritySettings
    var bonds: Bonds
    var attempts: PairingAttempts
    /// Who this device is to bonded peers, once the controller has said so.
    var ownIdentity: DeviceAddress?

    init(configuration: HostConfiguration) {
        isExclusive = configuration.ownership == .exclusive
        settings = configuration.security
        bonds = Bonds(configuration: configuration)
        attempts = PairingAttempts(configuration: configuration)
    }

    /// What the peer of a pairing is told of this device; `nil` where its identity is not distributed.
    var localIdentity: LocalIdentity? {
        guard let key = settings.identityResolvingKey, let ownIdentity else { return nil }
        return LocalIdentity(address: ownIdentity, resolvingKey: key)
    }
}
