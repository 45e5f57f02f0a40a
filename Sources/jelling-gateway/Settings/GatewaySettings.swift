import BLE
import BLEGateway

/// Everything that the program is told: by its arguments, its environment and its file.
struct GatewaySettings: Equatable, Sendable {
    var gateway = GatewayConfiguration(name: "jelling")
    var adapters: [AdapterSettings] = []
    /// `nil`: documents go nowhere but to standard output.
    var broker: BrokerSettings?
    var queue = QueueSettings()
    var http: HTTPSettings?
    var watchdog = WatchdogSettings()
    /// Where queue, bonds and addresses are kept; `nil`: the usual place.
    var state: String?
}

/// One adapter.
struct AdapterSettings: Equatable, Sendable {
    /// `user:0`, `unix:PATH` and so on.
    var transport: String
    /// Whether scan responses are not asked for.
    var isPassive = false
}

/// Where messages go.
struct BrokerSettings: Equatable, Sendable {
    /// The version of the protocol.
    enum Version: String, CaseIterable {
        case v311 = "3.1.1"
        case v5 = "5"
    }

    /// Transport Layer Security.
    struct Security: Equatable, Sendable {
        /// The authorities that are trusted; `nil`: those of the system.
        var authorities: String?
        /// The certificate of this client.
        var certificate: String?
        /// The key of the certificate.
        var key: String?
    }

    var host: String
    var port: UInt16
    var version = Version.v311
    var security: Security?
    var username: String?
    var password: String?
    /// Read at every connection, so that a password can be changed.
    var passwordFile: String?
    var clientID: String?
    /// In seconds.
    var keepAlive = 30
    /// Of documents; presence, discovery and status are of 1.
    var qualityOfService = 1
    /// The longest pause between attempts to connect, in seconds.
    var longestBackoff = 60.0
    /// Messages on the way that have not been acknowledged.
    var inFlightLimit = 100

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }
}

/// The queue of what the broker has not acknowledged.
struct QueueSettings: Equatable, Sendable {
    /// What goes first when the queue is full.
    enum Overflow: String, CaseIterable {
        /// The oldest message.
        case oldest
        /// The oldest message whose topic has a newer one: every device keeps its last state.
        case superseded
    }

    /// `nil`: in the folder of state.
    var path: String?
    /// Whether messages are kept in memory only, and lost with the process.
    var isInMemory = false
    var limit = 100_000
    var overflow = Overflow.oldest
}

/// Where health and metrics are told.
struct HTTPSettings: Equatable, Sendable {
    var host = "127.0.0.1"
    var port: UInt16
    /// The file with the token that requests have to carry.
    var tokenFile: String?
}

/// What happens to adapters that hear nothing.
struct WatchdogSettings: Equatable, Sendable {
    /// How many seconds without a report are silence; 0: none are.
    var silence = 120.0
    /// Reopenings in a row after which the program ends, for systemd to start it again; 0: never.
    var attempts = 0
}
