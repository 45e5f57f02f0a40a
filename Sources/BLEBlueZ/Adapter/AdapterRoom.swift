import BLEHost
import BLEPackets

/// An adapter and what is wanted of it.
struct AdapterRoom {
    let number: Int
    let path: String
    var information: ControllerInformation
    let isOperator: Bool
    var isPowered = true
    var alias: String?
    var isDiscoverable = false
    var isPairable = false
    /// Whether centrals that are not bonded are refused: somebody has set Pairable to false, or its time is over.
    /// Before there was an agent, it is false only by default, and no pairing is refused.
    var refusesPairing = false
    /// Whether there are agents.
    var hasAgents = false
    /// In seconds; 0: without end.
    var discoverableTimeout: UInt32 = 180
    var pairableTimeout: UInt32 = 0
    var discoverableEnd: Instant?
    var pairableEnd: Instant?
    /// Clients that want discovery, in the order in which they began.
    var sessions: [DiscoverySession] = []
    /// Filters that clients have set, also those that do not discover yet. Only for lookup.
    var filters: [String: DiscoveryFilter] = [:]
    /// The scan at the daemon.
    var scan: Ticket?
    /// What that scan asks for.
    var scanRequest: ScanRequest?
    /// The path of each device by its address. Only for lookup.
    var paths: [DeviceAddress: String] = [:]
    /// When connections that are being made have taken too long, by path. Only for lookup.
    var attempts: [String: Instant] = [:]
    /// When to try again to connect, by path. Only for lookup.
    var retries: [String: Instant] = [:]
    /// When to try again to pair, where another pairing was under way, by path. Only for lookup.
    var follows: [String: Instant] = [:]
    /// Connections that are being made for calls, by path.
    var connections: SharedPlaces<String>
    /// Commands for calls that have not ended.
    var requests: SharedPlaces<Ticket>
    /// Values from sockets that have not been sent.
    var socketWrites: SharedPlaces<Ticket>
    /// Sockets whose values wait for a place, in the order in which they began to.
    var waitingSockets: [SocketID] = []
    /// How many values from sockets are on their way on each link. Only for lookup.
    var writesOfLinks: [LinkID: Int] = [:]
    /// How many commands have not ended.
    var openCommands = 0
    /// When to look for devices that have not been seen for long.
    var sweep: Instant?
    /// What the file of state says about devices, by address.
    var records: [DeviceAddress: DeviceRecord] = [:]
    var links: [LinkID: String] = [:]
    /// How operations that need a pairing pair.
    var pairing: PairingOptions?
    /// When the next advertisement has its turn, where they take turns and there are several.
    var turnEnd: Instant?
    /// When what was changed is kept, and since when it was kept last.
    var saveDue: Instant?
    var lastSave: Instant?
    /// Links that the daemon has reported and that no operation has claimed yet.
    var newLinks: [LinkID: LinkInformation] = [:]

    init(_ description: AdapterDescription, _ settings: BlueZSettings) {
        connections = SharedPlaces(settings.connections)
        requests = SharedPlaces(settings.requests)
        socketWrites = SharedPlaces(settings.socketWrites)
        number = description.number
        path = ObjectPaths.adapter(description.number)
        information = description.information
        isOperator = description.isOperator
    }

    var address: DeviceAddress { information.bluezAddress }
}

extension ControllerInformation {
    /// The address of the adapter, as its object shows it.
    public var bluezAddress: DeviceAddress {
        (identityAddress ?? publicAddress ?? ownAddress ?? DeviceAddress(value: 0, kind: .public)).withoutIdentityMark
    }
}

/// A client that discovers.
struct DiscoverySession {
    var client: String
    var filter: DiscoveryFilter?
}
