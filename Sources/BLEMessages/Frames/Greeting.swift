import BLEAppLifecycle
import BLEHost

/// What a client wants to be.
public enum SessionKind: String, Numbered, Sendable {
    /// A kind that this version does not know.
    case unspecified
    /// It uses the engine's own operations, always in the foreground.
    case tool
    /// The managers of one app, with the life of apps.
    case app
    /// It manages the daemon and the apps that are installed.
    case `operator`
}

/// The first message of a client.
public struct Greeting: Message, Hashable, Sendable {
    /// The newest version that the client speaks.
    public var version: UInt32
    public var session: SessionKind
    /// Of an app.
    public var app: AppGreeting?

    public init(_ session: SessionKind, app: AppGreeting? = nil, version: UInt32 = BledProtocol.version) {
        self.version = version
        self.session = session
        self.app = app
    }

    public static var blank: Self { Self(.unspecified, version: 0) }
    public static var schemaName: String { "Hello" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "version", &it.version)
        try c.field(2, "session", &it.session)
        try c.field(3, "app", &it.app)
    }
}

/// Who an app is.
public struct AppGreeting: Message, Hashable, Sendable {
    /// What the app calls itself; each user's apps are apart.
    public var identifier: String
    /// As UIBackgroundModes names them.
    public var backgroundModes: [String] = []
    public var startsInBackground = false
    /// Anything but restricted and denied is allowed.
    public var authorization = ManagerAuthorization.notDetermined
    /// Whether it sees the services of peripherals that Apple's system hides; the manifest of an installed app decides this.
    public var showsSystemServices = false

    public init(_ identifier: String) { self.identifier = identifier }

    public static var blank: Self { Self("") }
    public static var schemaName: String { "AppHello" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "identifier", &it.identifier)
        try c.field(2, "background_modes", &it.backgroundModes)
        try c.field(3, "starts_in_background", &it.startsInBackground)
        var authorization = it.authorization.rawValue
        try c.field(4, "authorization", &authorization)
        if C.reads { it.authorization = ManagerAuthorization(rawValue: authorization) ?? .allowedAlways }
        try c.field(5, "shows_system_services", &it.showsSystemServices)
    }
}

/// The daemon's answer to a greeting.
public struct Welcome: Message, Equatable, Sendable {
    /// What is spoken from now on.
    public var version = BledProtocol.version
    /// Of a tool.
    public var controller: ControllerInformation?
    /// What one client may have; more is refused, or ends the connection.
    public var limits: Limits?
    /// Whether the client may do what only operators may: root, the daemon's own user, and a group.
    public var isOperator = false
    /// For operators all, for others those of their user.
    public var bonds: [Bond] = []
    /// Which additions to the version the daemon knows.
    public var revision: UInt32 = 0
    /// Whether centrals may open enhanced attribute bearers.
    public var acceptsEnhancedBearers = false
    /// Whether the Generic Access service has Central Address Resolution.
    public var reportsAddressResolution = false

    public init() {}

    public static var blank: Self { Self() }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "version", &it.version)
        try c.field(2, "controller", &it.controller)
        try c.field(3, "limits", &it.limits)
        try c.field(4, "is_operator", &it.isOperator)
        try c.field(5, "bonds", &it.bonds)
        try c.field(6, "revision", &it.revision)
        try c.field(7, "accepts_enhanced_bearers", &it.acceptsEnhancedBearers)
        try c.field(8, "tells_address_resolution", &it.reportsAddressResolution)
    }

    /// What one client may have.
    public struct Limits: Message, Hashable, Sendable {
        public var messageOctets = 0, requests = 0, advertisements = 0, services = 0
        public var attributes = 0, channels = 0, sets = 0, trains = 0

        public init() {}

        public static var blank: Self { Self() }
        public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
            try c.field(1, "message_octets", &it.messageOctets)
            try c.field(2, "requests", &it.requests)
            try c.field(3, "advertisements", &it.advertisements)
            try c.field(4, "services", &it.services)
            try c.field(5, "attributes", &it.attributes)
            try c.field(6, "channels", &it.channels)
            try c.field(7, "sets", &it.sets)
            try c.field(8, "trains", &it.trains)
        }
    }
}

/// Why the daemon refuses a client.
public struct RefusalReason: RawRepresentable, Scalar, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The client's version is not spoken here.
    public static let version = Self(rawValue: 1)
    /// A frame or a message that is not of this schema, or not in its place.
    public static let `protocol` = Self(rawValue: 2)
    /// A frame is longer than `Limits.messageOctets`.
    public static let messageTooLong = Self(rawValue: 3)
    /// The user may not.
    public static let notAllowed = Self(rawValue: 4)
    /// This user has as many connections as one may have, or the daemon as many as it accepts.
    public static let tooManyClients = Self(rawValue: 5)
    /// The client did not read what it was sent.
    public static let stuck = Self(rawValue: 6)
    /// Nothing was said in time.
    public static let silent = Self(rawValue: 7)
    /// No controller can be used now.
    public static let noController = Self(rawValue: 8)
    /// Another process of this app is connected.
    public static let appRuns = Self(rawValue: 9)
    /// An app has as many managers as it may have, or the user as many apps.
    public static let tooManyManagers = Self(rawValue: 10)
    /// The daemon has ended the app.
    public static let terminated = Self(rawValue: 11)
}
