import BLEPackets

/// The configuration of the engine.
public struct HostConfiguration: Hashable, Sendable {
    /// Who owns the controller.
    public enum Ownership: Hashable, Sendable {
        /// Only this engine uses the controller: it resets it, sets its event masks and writes its lists.
        case exclusive
        /// Shared with the operating system's own stack, as on a raw HCI socket. The engine does not reset the
        /// controller, set its event masks or handle events of the other stack, and it runs no GATT on links: their
        /// channels belong to the other stack.
        case shared
    }

    /// The address that the engine uses in scan requests, connections and advertising.
    public enum OwnAddress: Hashable, Sendable {
        /// The public address if the controller has one, else `fallback`.
        case automatic(fallback: DeviceAddress)
        /// The controller's public address.
        case `public`
        /// A random static or non-resolvable private address.
        case random(DeviceAddress)
        /// Resolvable private addresses that change after `privateAddressLifetime`; only bonded peers can resolve them.
        /// Those peers get as identity address the public address if the controller has one, else `fallback`. Without a
        /// crypto provider or without `SecuritySettings.identityResolvingKey` the engine uses the identity address
        /// itself.
        case resolvable(fallback: DeviceAddress)
    }

    /// How long a private address of this device is used.
    public var privateAddressLifetime: Microseconds = .seconds(900)

    /// Whether the engine uses the controller's resolving list if there is one. The controller then resolves the
    /// private addresses of bonded peers, and generates the private addresses that this device shows them. The host
    /// does what the controller cannot do, and everything if this is `false`.
    public var usesControllerResolution = false

    /// Whether the controller belongs only to this engine.
    public var ownership: Ownership
    /// The address of this device on the air.
    public var ownAddress: OwnAddress
    /// Intervals, windows and other timing of the radio.
    public var timing: Timing
    /// Limits for everything that remote devices can cause to grow.
    public var limits: HostLimits
    /// The device name in the Generic Access service, at most 248 octets of UTF-8.
    public var deviceName: String
    /// How names and services are laid out in advertising.
    public var advertising: AdvertisingPackerSettings
    /// Whether the owner answers `Host.nextCryptoRequest()`. Otherwise there is no pairing, no private address and no
    /// database hash.
    public var hasCryptoProvider: Bool
    var usesCryptoProvider: Bool { Features.pairing && hasCryptoProvider }
    /// The settings of links and the server for enhanced bearers.
    var usedEnhancedBearers: EnhancedBearerSettings? { Features.enhancedBearers ? enhancedBearers : nil }
    /// How links are made secure.
    public var security: SecuritySettings
    /// How several pending connections are handed to the controller.
    public var pendingConnections: PendingConnectionPolicy

    /// The controller's identity on USB; `nil` if it is not known.
    public var controller: ControllerIdentity?
    /// What earlier engines learned about this controller (`HostEvent.controllerLearned`).
    public var experience = ControllerExperience()
    /// Whether the engine asks more of the controller than it did before 0.3: it says that the host supports LE, and
    /// recovers a controller that reports nothing any more. Recordings of earlier engines replay without it.
    public var adaptsToController = true

    /// Enhanced attribute bearers; `nil`: none are offered, accepted or opened.
    ///
    /// They are off by default, as in most stacks: the attribute table has one more characteristic with them, so that
    /// the handles of apps are others, and some devices that claim to support them do not work with them.
    public var enhancedBearers: EnhancedBearerSettings?

    /// Whether the Generic Access service says that this device, as a central, resolves private addresses in directed
    /// advertising: Central Address Resolution (Core 5.4, Vol 3, Part C, 12.4). A bonded peripheral may direct its
    /// advertising to a private address of this device only then.
    ///
    /// Off by default, because the attribute table has one more characteristic with it.
    public var reportsAddressResolution = false

    /// Whether one of several advertising sets of the controller is kept for the advertisement that all clients share,
    /// also while no client uses it: clients that do not know each other cannot keep each other from being found.
    public var keepsSharedAdvertisement = false

    /// How several pending connections share the one initiator.
    public enum PendingConnectionPolicy: Hashable, Sendable {
        /// A single one is a directed attempt; several use the filter accept list, in turns if the list is too short.
        case acceptList
        /// Directed attempts in turns of this length, for controllers whose list has no effect.
        case directedTurns(Microseconds)
    }

    public init(
        ownership: Ownership = .exclusive, ownAddress: OwnAddress = .public, timing: Timing = .gateway,
        limits: HostLimits = HostLimits(), deviceName: String = "Jelling",
        advertising: AdvertisingPackerSettings = .init(),
        hasCryptoProvider: Bool = false, security: SecuritySettings = .init(),
        pendingConnections: PendingConnectionPolicy = .acceptList
    ) {
        self.ownership = ownership
        self.ownAddress = ownAddress
        self.timing = timing
        self.limits = limits
        self.deviceName = deviceName
        self.advertising = advertising
        self.hasCryptoProvider = hasCryptoProvider
        self.security = security
        self.pendingConnections = pendingConnections
    }
}

/// Limits of what the engine stores; each is a count unless its comment says otherwise.
public struct HostLimits: Hashable, Sendable {
    /// Devices that the scanner remembers; it forgets the one that has been silent longest first (pain 15).
    public var scannedDevices = 16384
    /// How long a device may be silent before the scanner forgets it.
    public var scannedDeviceAge: Microseconds = .seconds(300)
    /// Packets stored for a connection handle whose Connection Complete has not come yet (pain 11).
    public var parkedPackets = 16
    /// Longest L2CAP frame that is reassembled from fragments, in octets with its header.
    public var reassembledBytes = 2048
    /// Links at one time.
    public var links = 64
    /// Pending connections at one time.
    public var pendingConnections = 1024
    /// Bonds at one time. If all of them were started by this side or are authenticated, no new device can bond until
    /// one is removed; otherwise the oldest other bond is replaced.
    public var bonds = 1000
    /// How many of these bonds may come from unauthenticated pairings that the peer started; a further one replaces the
    /// oldest.
    public var unaskedBonds = 100
    /// Bonds of one user who is no operator, where users are known (`Host.setUser`); a further one replaces the
    /// oldest of the same user.
    public var bondsOfUser = 200
    /// How many of the places for bonds only operators can have, where users are known. Where the users have all other
    /// places, the one who has most of them loses the oldest for a new one.
    public var reservedBonds = 100

    /// Limits for a gateway with a few thousand devices nearby.
    public init() {}
}
