import BLEHost
import BLEPackets
import BLETransport

/// The configuration of an adapter.
public struct AdapterConfiguration: Sendable {
    /// The kind of address that the adapter uses on the air.
    public enum OwnAddress: Hashable, Sendable {
        /// The controller's public address, or the random static address given here if it has none.
        case automatic(fallback: DeviceAddress)
        /// The controller's public address.
        case `public`
        /// A random static or non-resolvable private address.
        case random(DeviceAddress)
        /// Resolvable private addresses that change every 15 minutes, made with the key in the bond store; requires a
        /// bond store and a crypto provider. Bonded devices receive the identity address: the controller's public
        /// address, or the one given here if it has none.
        case resolvable(fallback: DeviceAddress)
    }

    /// The address of this device on the air.
    public var ownAddress: OwnAddress
    /// Intervals, windows and timeouts of the radio.
    public var timing: Timing
    /// Limits for everything that remote devices can cause to grow.
    public var limits: HostLimits
    /// The device name that centrals read, at most 248 octets of UTF-8.
    public var deviceName = "Jelling"
    /// How names and services are packed into advertising data.
    public var advertising = AdvertisingPackerSettings()
    /// Performs the cryptography; without it there is no pairing, no private address and no database hash.
    public var cryptoProvider: (any CryptoProvider)?
    /// How links are made secure. `identityResolvingKey` always comes from the bond store; the value here is ignored.
    public var security = SecuritySettings()
    /// Enhanced attribute bearers (EATT); `nil`: none are offered, accepted or opened. Links need encryption for them.
    public var enhancedBearers: EnhancedBearerSettings?
    /// Whether the Generic Access service has Central Address Resolution (2AA6): bonded peripherals may then direct
    /// their advertising to a private address of this device. Off by default, because the handles of services are
    /// others with it.
    public var reportsAddressResolution = false
    /// Whether one of several advertising sets of the controller is kept for `advertise(_:)`.
    @_spi(HostRunner) public var keepsSharedAdvertisement = false
    /// Whether to use the controller's resolving list, if it has one. Otherwise the host resolves private addresses.
    public var usesControllerResolution = true
    /// Stores bonds on disk; without a store they are lost when the adapter is closed.
    public var bondStore: (any BondStore)?
    /// Asks the user during pairing; without an agent, pairing that needs the user fails.
    public var pairingAgent: (any PairingAgent)?
    /// Observes every packet between host and controller.
    public var tap: (any PacketObserver)?
    /// Observes every input of the engine, so that the run can be replayed.
    public var recorder: (any HostInputObserver)?
    /// The controller's identity on USB, where it is known: what is expected of the controller depends on it.
    public var controller: ControllerIdentity?
    /// What was learned about this controller earlier (`HostEvent.controllerLearned`).
    public var experience = ControllerExperience()
    /// Called when the engine learns something about the controller: store it for the next time.
    public var onExperience: (@Sendable (ControllerExperience) -> Void)?
    /// Resets the device behind a transport on its bus, or switches its power off and on. Called while the transport is
    /// closed, when neither a reset nor reopening it has brought the controller back; it may block for some seconds.
    public var resetDevice: (@Sendable (TransportAddress) -> Void)?
    /// Observe what the adapter does; the modules `BLELogging` and `BLEMetrics` add theirs here.
    public var observers: [any AdapterObserver] = []
    /// How long the controller may take to become ready.
    public var startupTimeout: Duration
    /// Opens the transports whose code is in modules of their own: `sim`, `replay` and `usb`; without it they are not
    /// available.
    public var makeVirtualTransport: VirtualTransportMaker?
    /// Connects to a daemon that shares its controller; without it, `bled` is not available as a transport.
    @_spi(HostRunner) public var makeDaemonRunner:
        (@Sendable (TransportAddress, AdapterConfiguration, EventLoop) -> any EngineRunner)?

    /// The event loop to run on, which has been started and outlives the adapter; `nil` creates one.
    @_spi(HostRunner) public var loop: EventLoop?

    /// Creates a transport for an address that neither the kernel nor a stream leads to.
    public typealias VirtualTransportMaker =
        @Sendable (TransportAddress) throws(TransportError) -> sending any HCITransport

    /// Properties without a parameter have their default and can be set afterwards.
    /// - Parameter ownAddress: by default the controller's public address if it has one, otherwise a random static
    ///   address, different each time.
    public init(
        ownAddress: OwnAddress = .automatic(fallback: .randomStatic()), timing: Timing = .gateway,
        limits: HostLimits = HostLimits(), tap: (any PacketObserver)? = nil,
        recorder: (any HostInputObserver)? = nil, startupTimeout: Duration = .seconds(15),
        makeVirtualTransport: VirtualTransportMaker? = nil
    ) {
        self.ownAddress = ownAddress
        self.timing = timing
        self.limits = limits
        self.tap = tap
        self.recorder = recorder
        self.startupTimeout = startupTimeout
        self.makeVirtualTransport = makeVirtualTransport
    }

    func open(_ address: TransportAddress) throws(TransportError) -> sending any HCITransport {
        guard let makeVirtualTransport else { return try Transports.open(address) }
        return try Transports.open(address, makeVirtual: makeVirtualTransport)
    }

    /// The engine's configuration for a transport: a raw socket shares the controller with the kernel.
    func host(for address: TransportAddress) -> HostConfiguration {
        let own: HostConfiguration.OwnAddress =
            switch ownAddress {
            case .automatic(let fallback): .automatic(fallback: fallback)
            case .public: .public
            case .random(let address): .random(address)
            case .resolvable(let fallback): .resolvable(fallback: fallback)
            }
        var isShared = false
        if case .rawChannel = address { isShared = true }
        var configuration = HostConfiguration(
            ownership: isShared ? .shared : .exclusive, ownAddress: own, timing: timing, limits: limits,
            deviceName: deviceName, advertising: advertising, hasCryptoProvider: cryptoProvider != nil,
            security: security)
        configuration.usesControllerResolution = usesControllerResolution
        configuration.enhancedBearers = enhancedBearers
        configuration.reportsAddressResolution = reportsAddressResolution
        configuration.keepsSharedAdvertisement = keepsSharedAdvertisement
        configuration.controller = controller
        configuration.experience = experience
        return configuration
    }
}

extension DeviceAddress {
    /// A new random static address (Core 5.4, Vol 6, Part B, 1.3.2.1).
    public static func randomStatic() -> DeviceAddress {
        DeviceAddress(value: .random(in: 1..<0x3FFF_FFFF_FFFF) | 0b11 << 46, kind: .random)
    }

    /// A new non-resolvable private address (Core 5.4, Vol 6, Part B, 1.3.2.2).
    public static func randomNonResolvable() -> DeviceAddress {
        DeviceAddress(value: .random(in: 1..<0x3FFF_FFFF_FFFF), kind: .random)
    }
}

/// Observes the packets of a transport, on the adapter's thread; it must not block.
public protocol PacketObserver: AnyObject, Sendable {
    /// - Parameters:
    ///   - packet: the H4 packet, type octet first; valid during the call only.
    ///   - unixMicroseconds: microseconds since 1970.
    func observe(_ packet: RawSpan, direction: PacketDirection, unixMicroseconds: UInt64)
}
