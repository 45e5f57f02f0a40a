import BLE
import BLEGateway
import BLEMatter

/// All settings of the program: from its arguments, its environment and its file.
struct GatewaySettings: Equatable, Sendable {
    var gateway = GatewayConfiguration(name: "jelling")
    var adapters: [AdapterSettings] = []
    /// `nil`: documents only go to standard output.
    var broker: BrokerSettings?
    var queue = QueueSettings()
    var http: HTTPSettings?
    /// `nil`: there is no Bluetooth proxy.
    var esphome: ESPHomeSettings?
    /// `nil`: the gateway is no client of a matter-server.
    var matter: MatterSettings?
    /// `nil`: no requests for GATT are taken.
    var gatt: GATTSettings?
    var watchdog = WatchdogSettings()
    /// The folder of the bonds whose devices are recognised; `nil`: `security` in the state folder, as for bletool.
    var bonds: String?
    /// The folder for the queue and the bonds; `nil`: the default.
    var state: String?
}

extension GatewaySettings {
    /// Keeps what cannot change while the program runs.
    mutating func keepUntilRestart(of started: GatewaySettings) {
        esphome = started.esphome
        matter = started.matter
        gatt = started.gatt
        gateway.takesGATTRequests = started.gateway.takesGATTRequests
        queue.path = started.queue.path
        queue.isInMemory = started.queue.isInMemory
        state = started.state
    }

    /// Whether anything is done with what the radio hears.
    var isUsed: Bool { broker != nil || esphome != nil || http != nil || matter != nil }

    /// The bounds of links; `nil`: the gateway only listens.
    var linkLimits: LinkLimits? {
        // The optimizer of Swift 6.3 fails where this is inlined.
        @inline(never) get {
            (esphome?.slots ?? gatt?.sessions ?? matter.map { _ in LinkLimits().slots }).map { slots in
                var limits = LinkLimits()
                limits.slots = slots
                return limits
            }
        }
    }
}

/// One adapter.
struct AdapterSettings: Equatable, Sendable {
    /// `user:0`, `unix:PATH` and so on.
    var transport: String
    /// Whether the adapter scans passively, without requesting scan responses.
    var isPassive = false
}

/// The broker and the session with it.
struct BrokerSettings: Equatable, Sendable {
    /// The version of MQTT.
    enum Version: String, CaseIterable {
        case v311 = "3.1.1"
        case v5 = "5"
    }

    /// The files for Transport Layer Security.
    struct Security: Equatable, Sendable {
        /// The file of trusted certificate authorities; `nil`: those of the system.
        var authorities: String?
        /// The file of the client certificate.
        var certificate: String?
        /// The file of the certificate's private key.
        var key: String?
    }

    var host: String
    var port: UInt16
    var version = Version.v311
    var security: Security?
    var username: String?
    var password: String?
    /// Read for every connection, so that the password can be changed.
    var passwordFile: String?
    var clientID: String?
    /// The keep-alive interval in seconds.
    var keepAlive = 30
    /// The quality of service of documents; presence, discovery and status use 1.
    var qualityOfService = 1
    /// The longest delay between attempts to connect, in seconds.
    var longestBackoff = 60.0
    /// The maximum number of unacknowledged messages in flight.
    var inFlightLimit = 100

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }
}

extension BrokerSettings: CustomStringConvertible, CustomReflectable {
    /// Does not show the password.
    var description: String { (security == nil ? "mqtt://" : "mqtts://") + "\(host):\(port)" }
    /// Empty, so that code that prints the parts of a value never prints the password.
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// The queue of messages that the broker has not acknowledged.
struct QueueSettings: Equatable, Sendable {
    /// Which message is removed first when the queue is full.
    enum Overflow: String, CaseIterable {
        /// The oldest message.
        case oldest
        /// The oldest message that a newer one on the same topic replaces: every device keeps its last state.
        case superseded
    }

    /// The file; `nil`: in the state folder.
    var path: String?
    /// Whether messages are only in memory, and lost when the process ends.
    var isInMemory = false
    var limit = 100_000
    /// The maximum size on disk, in octets.
    var sizeLimit = 1000 << 20
    var overflow = Overflow.oldest

    /// What can change while the queue is used.
    struct Limits: Equatable {
        var messages: Int
        var octets: Int
        var overflow: Overflow
    }

    var limits: Limits { Limits(messages: limit, octets: sizeLimit, overflow: overflow) }
}

/// The HTTP server for health and metrics.
struct HTTPSettings: Equatable, Sendable {
    /// An IPv4 or IPv6 address.
    var host = "127.0.0.1"
    var port: UInt16
    /// Names under which requests may ask, besides `localhost` and addresses.
    var hosts: [String] = []
    /// The file with the token that requests must have; `nil`: none.
    var tokenFile: String?
    /// `nil`: without Transport Layer Security.
    var security: HTTPSecurity?

    /// The address and the port.
    var place: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

/// The files for Transport Layer Security of the HTTP server.
struct HTTPSecurity: Equatable, Sendable {
    var certificate: String
    var key: String
    /// The file with the authorities that clients' certificates need; `nil`: clients need none.
    var clientAuthorities: String?

    var files: [String] { [certificate, key] + (clientAuthorities.map { [$0] } ?? []) }

    func context() throws(SocketProblem) -> TLSContext {
        try TLSContext(certificate: certificate, key: key, authorities: clientAuthorities)
    }
}

/// The Bluetooth proxy in ESPHome's native API.
struct ESPHomeSettings: Equatable, Sendable {
    /// How clients find the proxy.
    enum Advertising: Equatable, Sendable {
        case off
        /// Through the Avahi daemon that runs.
        case avahi
        /// By a file for the Avahi daemon, in this folder.
        case folder(String)
    }

    var places: [ListenAddress]
    /// The file with the key; `nil`: plain text.
    var keyFile: String?
    /// The maximum number of links at once.
    var slots = 3
    /// `nil`: the gateway's name.
    var name: String?
    /// Whether clients may pair.
    var allowsPairing = true
    var advertising = Advertising.off
}

/// Matter's BLE proxy.
struct MatterSettings: Equatable, Sendable {
    var server: MatterServer
    /// `nil`: there is no Transport Layer Security.
    var security: Security?
    /// The file with the token that the server, or one before it, wants to see; `nil`: none. Read for every connection.
    var tokenFile: String?

    struct Security: Equatable, Sendable {
        /// The file of trusted certificate authorities; `nil`: those of the system.
        var authorities: String?
    }
}

/// Requests for GATT.
struct GATTSettings: Equatable, Sendable {
    /// Whether they are taken over HTTP.
    var usesHTTP = false
    /// The file with the token of requests over HTTP; `nil`: that of the server.
    var tokenFile: String?
    /// The maximum number of devices with which somebody works, or whose link is kept.
    var sessions = 8
}

/// What happens if adapters receive nothing.
struct WatchdogSettings: Equatable, Sendable {
    /// The number of seconds without a report that count as silence; 0: disabled.
    var silence = 120.0
    /// The number of reopenings in a row after which the program ends, so that systemd restarts it; 0: never.
    var attempts = 0
}
