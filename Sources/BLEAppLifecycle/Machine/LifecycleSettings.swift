import BLEHost
import BLEPackets

/// The time limits and other limits of the life cycle of apps (SPEC section 4, 5.5).
public struct LifecycleSettings: Hashable, Sendable {
    /// How long an app continues to run after it entered the background (SPEC FGO-1).
    public var backgroundSpan = Microseconds.seconds(10)
    /// How long an app may run after it was woken for an event (SPEC BGX-4).
    public var wakeBudget = Microseconds.seconds(10)
    /// How long an app that was woken may run after it has handled everything: it may still be at work in ways that the
    /// system does not see. `nil`: as long as its budget lasts. Needs an owner that reports what apps handle
    /// (`AppLifecycle.returned`).
    public var idleSpan: Microseconds?
    /// How long an app that was launched for an event may run at least, unless it says that it is done: it first creates
    /// its managers.
    public var launchSpan = Microseconds.seconds(2)
    /// How long after the end of its budget an app is suspended by force.
    public var freezeGrace = Microseconds.seconds(2)
    /// The number of overruns within `strikeWindow` after which an app is terminated (SPEC BGX-5).
    public var strikeLimit = 3
    /// How long an overrun counts.
    public var strikeWindow = Microseconds.seconds(3600)
    /// The longest time for which an app that overran is not woken; 2ⁿ s after n overruns.
    public var longestWakeDelay = Microseconds.seconds(300)
    /// How long a launched app may take to report that it runs.
    public var relaunchTimeout = Microseconds.seconds(20)
    /// The maximum number of events that wait for one manager. What they take is what matters, so there is no such limit
    /// unless an owner sets one.
    public var queuedEventLimit = Int.max
    /// The maximum size of the events that wait for all managers of one app, in octets
    /// (`ClientEvent.approximateOctets`; SPEC 5.5 rule 2).
    public var queuedOctetLimit = 8 << 20
    /// The same for all apps of one user (`AppManifest.user`).
    public var queuedOctetLimitOfUser = 32 << 20
    /// The limit of unhandled events that one manager's app has received, and of the octets of values in them; further
    /// events wait within the limits above. An owner that lowers it must report handled events with
    /// `AppLifecycle.returned`.
    public var unhandledEventLimit = Int.max
    public var unhandledOctetLimit = Int.max
    /// What the managers of one app may have at a time: published services, attributes in them, and channels, open,
    /// being opened or published.
    public var servicesOfApp = Int.max
    public var attributesOfApp = Int.max
    public var channelsOfApp = Int.max
    /// The maximum number of octets in the requests of one app to peripherals and channels that have not ended: values
    /// that are written, octets that channels send, and services and characteristics that are looked for.
    public var waitingOctetsOfApp = Int.max
    /// The maximum number of services in the registrations of one app for connection events, and in those of all apps
    /// together: each link is searched for all of them. Beyond `watchedServices`, an app may still have an eighth of
    /// `watchedServicesOfApp`.
    public var watchedServicesOfApp = Int.max
    public var watchedServices = Int.max
    /// How many managers with restore identifiers one app may have, those included that an earlier process left and the
    /// present one has not created again: an app could otherwise leave more with each process, and they would never
    /// end.
    public var preservedOfApp = 32
    /// The error that centrals receive for services whose app may not run (SPEC FGO-3, 2.4).
    public var disabledServiceError = ATTError.unlikelyError
    /// Services of peripherals that are hidden from apps, as on Apple's system: Generic Access, Generic Attribute,
    /// Human Interface Device, and the Apple Notification Center Service.
    public var hiddenServices = [
        BluetoothUUID(UInt16(0x1800)), BluetoothUUID(UInt16(0x1801)), BluetoothUUID(UInt16(0x1812)),
        BluetoothUUID(high: 0x7905_F431_B5CE_4E99, low: 0xA40F_4B1E_122D_00D0),
    ]
    /// Whether apps send the overflow area, and whether the system or each app names the company (SPEC 3.6).
    public var overflow = OverflowSetting.on
    /// Whether the system reads the device's name on each new link and subscribes to Service Changed.
    public var learnsPeers = true
    /// The maximum number of remembered devices of each kind: those that apps have only discovered, and those that some
    /// app has used. There may be four times as many identifiers, because each app has its own. Beyond either limit,
    /// the least recently used device is forgotten, but never one that is bonded, connected or connecting.
    public var rememberedDevices = 16384

    public init() {}
}
