import BLEPackets

/// How this device secures its links, and what has come of it: the settings, the bonds, and the state that the pairings
/// of all links share.
///
/// The state machines for pairing and encryption belong to each link (`LinkSecurityMachine`). A link asks here what it
/// may and should do, and stores here what must outlive it.
struct Pairings {
    /// Whether no other stack shares the controller; such a stack would secure the links itself.
    let isExclusive: Bool
    var settings: SecuritySettings
    var bonds: Bonds
    var attempts: PairingAttempts
    /// For whom the clients work.
    var users = ClientUsers()
    /// This device's identity address for bonded peers, once the controller has reported it.
    var ownIdentity: DeviceAddress?

    init(configuration: HostConfiguration) {
        isExclusive = configuration.ownership == .exclusive
        settings = configuration.security
        bonds = Bonds(configuration: configuration)
        attempts = PairingAttempts(configuration: configuration)
    }

    /// The identity that a peer gets in pairing; `nil` if the identity is not distributed.
    var localIdentity: LocalIdentity? {
        guard let key = settings.identityResolvingKey, let ownIdentity else { return nil }
        return LocalIdentity(address: ownIdentity, resolvingKey: key)
    }
}
