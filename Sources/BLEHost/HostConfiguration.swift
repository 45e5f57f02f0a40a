import BLEPackets

/// The configuration of the engine.
public struct HostConfiguration: Hashable, Sendable {
    /// Who owns the controller.
    public enum Ownership: Hashable, Sendable {
        /// This engine only: it resets the controller, sets its event masks and writes its lists.
        case exclusive
        /// Shared with an operating system's own stack, as on a raw HCI socket: nothing is reset or masked, events of
        /// the others are ignored, and links carry no GATT of ours: their channels belong to the other stack.
        case shared
    }

    /// The address that the engine uses in scan requests, connections and advertising.
    public enum OwnAddress: Hashable, Sendable {
        /// Public where the controller has one, else `fallback`.
        case automatic(fallback: DeviceAddress)
        /// The address that the controller was made with.
        case `public`
        /// A random static or non-resolvable private address.
        case random(DeviceAddress)
        /// Resolvable private addresses, changed again and again: only bonded peers can resolve them. The identity that
        /// they are told is the public address where the controller has one, else `fallback`. Without a toolbox and
        /// `SecuritySettings.identityResolvingKey` there are none, and the identity is used itself.
        case resolvable(fallback: DeviceAddress)
    }

    /// How long a private address of ours is used.
    public var privateAddressLifetime: Microseconds = .seconds(900)

    /// Whether the controller's resolving list is used where it has one: bonded peers with private addresses are then
    /// found by the controller, and shown private addresses of ours that it makes. What it cannot do the host does, as
    /// it does everything without this.
    public var usesControllerResolution = false

    /// Whether the controller belongs to this engine alone.
    public var ownership: Ownership
    /// What this device calls itself on the air.
    public var ownAddress: OwnAddress
    /// How often and how hard the radio is used.
    public var timing: Timing
    /// Limits for everything that remote devices can make grow.
    public var limits: HostLimits
    /// What the Generic Access service calls this device, at most 248 octets of UTF-8.
    public var deviceName: String
    /// How names and services are laid out in advertising.
    public var advertising: AdvertisingPackerSettings
    /// Whether the owner answers `Host.nextToolboxQuestion()`: without it there is no pairing, no private address and no
    /// database hash.
    public var hasToolbox: Bool
    /// How links are made secure.
    public var security: SecuritySettings
    /// How several pending connections are handed to the controller.
    public var pendingConnections: PendingConnectionPolicy

    /// How several connections that wait share the one initiator.
    public enum PendingConnectionPolicy: Hashable, Sendable {
        /// One directed, several through the filter accept list, in turns when the list is too short.
        case acceptList
        /// One after the other by directed attempts of this length each: for controllers whose list has no effect.
        case directedTurns(Microseconds)
    }

    public init(
        ownership: Ownership = .exclusive, ownAddress: OwnAddress = .public, timing: Timing = .gateway,
        limits: HostLimits = HostLimits(), deviceName: String = "Jelling",
        advertising: AdvertisingPackerSettings = .init(),
        hasToolbox: Bool = false, security: SecuritySettings = .init(),
        pendingConnections: PendingConnectionPolicy = .acceptList
    ) {
        self.ownership = ownership
        self.ownAddress = ownAddress
        self.timing = timing
        self.limits = limits
        self.deviceName = deviceName
        self.advertising = advertising
        self.hasToolbox = hasToolbox
        self.security = security
        self.pendingConnections = pendingConnections
    }
}

/// Bounds of what the engine holds; each is a count unless its name says otherwise.
public struct HostLimits: Hashable, Sendable {
    /// Devices that the scanner remembers; the one that was silent longest is forgotten first (pain 15).
    public var scannedDevices = 16384
    /// How long a device may be silent before the scanner forgets it.
    public var scannedDeviceAge: Microseconds = .seconds(300)
    /// Packets kept for a connection handle whose Connection Complete has not come yet (pain 11).
    public var parkedPackets = 16
    /// Longest L2CAP payload that is put together from fragments, in octets.
    public var reassembledBytes = 2048
    /// Links at one time.
    public var links = 64
    /// Pending connections at one time.
    public var pendingConnections = 1024
    /// Bonds at one time. If all of them were started by this side or are authenticated, no new device can bond until
    /// one is removed; otherwise the oldest other bond is replaced.
    public var bonds = 1000
    /// Bonds among them that peers began without authentication: the oldest makes room for the next one.
    public var unaskedBonds = 100

    /// Limits for a gateway with a few thousand devices nearby.
    public init() {}
}

#if !hasFeature(Embedded)
extension HostConfiguration: Codable {
    private enum CodingKeys: String, CodingKey {
        case ownership, ownAddress, timing, limits, deviceName, advertising, hasToolbox, security, pendingConnections
        case privateAddressLifetime, usesControllerResolution
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        try container.update(&ownership, .ownership)
        try container.update(&ownAddress, .ownAddress)
        try container.update(&timing, .timing)
        try container.update(&limits, .limits)
        try container.update(&deviceName, .deviceName)
        try container.update(&advertising, .advertising)
        try container.update(&hasToolbox, .hasToolbox)
        try container.update(&security, .security)
        try container.update(&pendingConnections, .pendingConnections)
        try container.update(&privateAddressLifetime, .privateAddressLifetime)
        try container.update(&usesControllerResolution, .usesControllerResolution)
    }
}

extension HostLimits: Codable {
    private enum CodingKeys: String, CodingKey {
        case scannedDevices, scannedDeviceAge, parkedPackets, reassembledBytes, links, pendingConnections
        case bonds, unaskedBonds
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        try container.update(&scannedDevices, .scannedDevices)
        try container.update(&scannedDeviceAge, .scannedDeviceAge)
        try container.update(&parkedPackets, .parkedPackets)
        try container.update(&reassembledBytes, .reassembledBytes)
        try container.update(&links, .links)
        try container.update(&pendingConnections, .pendingConnections)
        try container.update(&bonds, .bonds)
        try container.update(&unaskedBonds, .unaskedBonds)
    }
}

extension HostConfiguration.Ownership: Codable {}
extension HostConfiguration.OwnAddress: Codable {}
extension HostConfiguration.PendingConnectionPolicy: Codable {}
#endif
