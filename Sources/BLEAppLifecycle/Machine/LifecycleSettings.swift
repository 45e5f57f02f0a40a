import BLEHost
import BLEPackets

/// The numbers of the life of apps; each is a setting (SPEC section 4, 5.5).
public struct LifecycleSettings: Hashable, Codable, Sendable {
    /// How long an app runs on after it entered the background (SPEC FGO-1).
    public var backgroundSpan = Microseconds.seconds(10)
    /// How long an app may run that was woken for an event (SPEC BGX-4).
    public var wakeBudget = Microseconds.seconds(10)
    /// How long after the end of its budget an app is suspended by force.
    public var freezeGrace = Microseconds.seconds(2)
    /// Overruns within `strikeWindow` after which an app is terminated (SPEC BGX-5).
    public var strikeLimit = 3
    /// How long an overrun is held against an app.
    public var strikeWindow = Microseconds.seconds(3600)
    /// The longest time for which an app that overran is not woken; 2ⁿ s after n overruns.
    public var longestWakeDelay = Microseconds.seconds(300)
    /// How long a launched app may take to say so.
    public var relaunchTimeout = Microseconds.seconds(20)
    /// Bounds of what waits for one manager (SPEC 5.5 rule 2).
    public var queuedEventLimit = 4096
    /// Octets of values among them.
    public var queuedOctetLimit = 1 << 20
    /// Events that an app may have been told and not handled, and octets of values among them: what follows waits for one
    /// manager within the bounds above. An owner that lowers them tells what is handled (`AppLifecycle.returned`).
    public var unhandledEventLimit = Int.max
    public var unhandledOctetLimit = Int.max
    /// What a central hears of services whose app may not run for them (SPEC FGO-3, 2.4).
    public var disabledServiceError = ATTError.unlikelyError
    /// Services of peripherals that apps do not see, as on Apple's system: Generic Access, Generic Attribute, Human
    /// Interface Device, and the Apple Notification Center Service.
    public var hiddenServices = [
        BluetoothUUID(UInt16(0x1800)), BluetoothUUID(UInt16(0x1801)), BluetoothUUID(UInt16(0x1812)),
        BluetoothUUID(high: 0x7905_F431_B5CE_4E99, low: 0xA40F_4B1E_122D_00D0),
    ]
    /// Whether each new link is asked for the device's name and for changes of its services.
    public var learnsPeers = true
    /// Devices that are remembered by name, by an identifier that an app has only heard of, and by one that an app asked
    /// for: so many of each. Beyond that the one that was used longest ago is forgotten; never one that is bonded,
    /// connected or waited for.
    public var rememberedDevices = 16384

    public init() {}
}
