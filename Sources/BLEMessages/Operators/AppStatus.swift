/// An app that is installed.
public struct AppStatus: Message, Hashable, Sendable {
    /// The state of its process.
    public enum Place: String, Numbered, Sendable {
        case notRunning, foreground, background, woken, suspended, relaunching
    }

    /// The identifier in its manifest.
    public var identifier = ""
    /// The state of its process.
    public var place = Place.notRunning
    /// The process ID; `nil` if it does not run.
    public var process: UInt32?
    /// The user that it runs as.
    public var user: UInt32 = 0
    /// The background modes in its manifest.
    public var backgroundModes: [String] = []
    /// Whether its process is connected to the daemon.
    public var isConnected = false
    /// How often it has exceeded its time in the background, as far as it still counts (SPEC BGX-5).
    public var strikes = 0
    /// The program and its arguments; empty if the daemon does not launch it. This and what follows is only known
    /// from `show`.
    public var command: [String] = []
    /// `central`, `peripheral` or both.
    public var roles: [String] = []
    /// Whether it may ask a person during pairing.
    public var mayPair = false
    /// Whether it sees the services of peripherals that Apple's system hides.
    public var showsSystemServices = false
    /// The folder in which it runs.
    public var directory = ""
    /// Its environment, `NAME=VALUE`.
    public var environment: [String] = []
    /// Restore identifiers of central managers that continue without it.
    public var preservedCentrals: [String] = []
    /// Restore identifiers of peripheral managers that continue without it.
    public var preservedPeripherals: [String] = []
    /// The systemd unit that is the app; `nil` if it is none.
    public var unit: String?
    /// The adapter that its manifest names; `nil` if it names none.
    public var adapter: String?
    /// The memory that it may use, in megabytes of 2²⁰ octets; `nil` if its manifest limits none.
    public var memoryMegabytes: UInt32?
    /// How long it may run when it is woken.
    public var wakeSeconds = 0
    /// `allowed`, `denied` or `restricted`: whether it may use Bluetooth.
    public var authorization = ""
    /// `off`, `on` or a company identifier: whether its advertisements send the overflow area, as its manifest says.
    public var overflow = ""

    public init() {}

    public static var blank: Self { Self() }
    public static var schemaName: String { "InstalledApp" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "identifier", &it.identifier)
        try c.field(2, "place", &it.place)
        try c.field(3, "process", &it.process, nilAs: 0)
        try c.field(4, "user", &it.user)
        try c.field(5, "background_modes", &it.backgroundModes)
        try c.field(6, "is_connected", &it.isConnected)
        try c.field(7, "strikes", &it.strikes)
        try c.field(8, "command", &it.command)
        try c.field(9, "roles", &it.roles)
        try c.field(10, "may_pair", &it.mayPair)
        try c.field(11, "shows_system_services", &it.showsSystemServices)
        try c.field(12, "directory", &it.directory)
        try c.field(13, "environment", &it.environment)
        try c.field(14, "preserved_centrals", &it.preservedCentrals)
        try c.field(15, "preserved_peripherals", &it.preservedPeripherals)
        try c.field(16, "unit", emptyIsNil: &it.unit)
        try c.field(17, "adapter", emptyIsNil: &it.adapter)
        try c.field(18, "memory_megabytes", &it.memoryMegabytes, nilAs: 0)
        try c.field(19, "wake_seconds", &it.wakeSeconds)
        try c.field(20, "authorization", &it.authorization)
        try c.field(21, "overflow", &it.overflow)
    }
}
