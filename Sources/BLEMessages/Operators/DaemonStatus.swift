import BLEHost
import BLEPackets

/// What a daemon, its controllers and its clients are at.
public struct DaemonStatus: Message, Equatable, Sendable {
    public var adapters: [Adapter]
    public var clients: [Client]
    /// The installed apps.
    public var apps: [AppStatus]

    public init(adapters: [Adapter], clients: [Client], apps: [AppStatus]) {
        self.adapters = adapters
        self.clients = clients
        self.apps = apps
    }

    public static var blank: Self { Self(adapters: [], clients: [], apps: []) }
    public static var schemaName: String { "Status" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "adapters", &it.adapters)
        try c.field(2, "clients", &it.clients)
        try c.field(3, "apps", &it.apps)
    }

    /// A controller of the daemon.
    public struct Adapter: Message, Equatable, Sendable {
        /// How the daemon reaches it.
        public var transport: String
        /// Why it cannot be used, for people; `nil` if it can.
        public var trouble: String?
        /// What the controller reported about itself; `nil` while it cannot be used.
        public var information: ControllerInformation?
        /// Whether the controller advertises now.
        public var isAdvertising = false
        /// The links in both roles, oldest first.
        public var links: [Link] = []
        /// What is wanted of the radio, oldest first.
        public var wanted: [Wanted] = []
        /// Counters of errors and recoveries (`HostCounters`).
        public var counters: [Counter] = []
        /// How many devices are bonded.
        public var bonds = 0
        /// What the adapter is, for people, such as its USB identifiers and its place; empty if it is no device of the
        /// machine.
        public var device = ""
        /// What people should know of it: each is a sentence with what to do.
        public var notes: [String] = []
        /// What was learned of the controller, also while it is away; `nil` if the daemon is older than this library.
        public var learned: Learned?

        public init(transport: String, trouble: String? = nil, information: ControllerInformation? = nil) {
            self.transport = transport
            self.trouble = trouble
            self.information = information
        }

        public static var blank: Self { Self(transport: "") }
        public static var schemaName: String { "AdapterStatus" }
        public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
            var isReady = it.information != nil
            try c.field(1, "transport", &it.transport)
            try c.field(2, "is_ready", &isReady)
            try c.field(3, "trouble", emptyIsNil: &it.trouble)
            try c.field(4, "controller", &it.information)
            try c.field(5, "is_advertising", &it.isAdvertising)
            try c.field(6, "links", &it.links)
            try c.field(7, "wanted", &it.wanted)
            try c.field(8, "counters", &it.counters)
            try c.field(9, "bonds", &it.bonds)
            try c.field(10, "device", &it.device)
            try c.field(11, "notes", &it.notes)
            try c.since(5) { c throws(MessageError) in try c.field(12, "learned", &it.learned) }
            guard C.reads else { return }
            if isReady { it.trouble = nil } else { it.information = nil }
            // A newer daemon may name other work.
            it.wanted.removeAll { !$0.isKnown }
        }
    }

    /// What was learned of a controller.
    public struct Learned: Message, Hashable, Sendable {
        /// The name under which it is kept, such as `usb:1-2.3:0bda:8771:0200`; empty if nothing is kept on disk.
        public var controller: String
        /// What it showed, and what of its family it has not.
        public var experience: ControllerExperience
        /// Why it cannot be read, for people; empty if it can.
        public var problem: String

        public init(controller: String, experience: ControllerExperience = ControllerExperience(), problem: String = "")
        {
            self.controller = controller
            self.experience = experience
            self.problem = problem
        }

        public static var blank: Self { Self(controller: "") }
        public static var schemaName: String { "LearnedTraits" }
        public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
            try c.field(1, "controller", &it.controller)
            try c.field(2, "found", &it.experience.found)
            try c.field(3, "refuted", &it.experience.refuted)
            try c.field(4, "problem", &it.problem)
        }
    }

    /// A link.
    public struct Link: Message, Equatable, Sendable {
        /// The link, its role and its parameters.
        public var information: LinkInformation
        /// Whether it is encrypted.
        public var isEncrypted = false
        /// Whether its key is protected against a man in the middle.
        public var isAuthenticated = false
        /// The size of its key in octets; 0 if it is not encrypted.
        public var keySize: UInt8 = 0
        /// The clients that have it; empty for a central's link that no client uses.
        public var holders: [String] = []

        public init(_ information: LinkInformation) { self.information = information }

        public static var blank: Self { Self(.blank) }
        public static var schemaName: String { "LinkStatus" }
        public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
            try c.field(1, "link", &it.information)
            try c.field(2, "is_encrypted", &it.isEncrypted)
            try c.field(3, "is_authenticated", &it.isAuthenticated)
            try c.field(4, "key_size", &it.keySize)
            try c.field(5, "holders", &it.holders)
        }
    }

    /// A counter.
    public struct Counter: Message, Hashable, Sendable {
        public var name: String
        public var value: UInt64

        public init(_ name: String, _ value: UInt64) {
            self.name = name
            self.value = value
        }

        public static var blank: Self { Self("", 0) }
        public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
            try c.field(1, "name", &it.name)
            try c.field(2, "value", &it.value)
        }
    }

    /// A connected program.
    public struct Client: Message, Hashable, Sendable {
        /// An app's identifier, or the program and its process.
        public var name = ""
        /// The process ID.
        public var process: UInt32 = 0
        /// The numeric ID of its user.
        public var user: UInt32 = 0
        public var kind = SessionKind.tool
        /// Requests that have not completed.
        public var requests = 0
        /// Links that it has as a tool.
        public var links = 0
        /// Services that it has published as a tool.
        public var services = 0
        /// Channels that it has open as a tool.
        public var channels = 0
        /// Octets that it has not read.
        public var waitingOctets: UInt64 = 0
        /// Events that it has not handled as an app.
        public var waitingEvents = 0
        /// Discoveries that were dropped because it read too slowly, and that it does not know of yet.
        public var lostDiscoveries = 0

        public init() {}

        public static var blank: Self { Self() }
        public static var schemaName: String { "ClientStatus" }
        public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
            try c.field(1, "name", &it.name)
            try c.field(2, "process", &it.process)
            try c.field(3, "user", &it.user)
            try c.field(4, "session", &it.kind)
            try c.field(5, "requests", &it.requests)
            try c.field(6, "links", &it.links)
            try c.field(7, "services", &it.services)
            try c.field(8, "channels", &it.channels)
            try c.field(9, "waiting_octets", &it.waitingOctets)
            try c.field(10, "waiting_events", &it.waitingEvents)
            try c.field(11, "lost_discoveries", &it.lostDiscoveries)
        }
    }
}
