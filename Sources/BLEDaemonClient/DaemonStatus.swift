import BLEDaemonProtocol
import BLEHost
import BLEPackets

/// What a daemon, its controllers and its clients are at.
public struct DaemonStatus: Sendable {
    /// A controller of the daemon.
    public struct Adapter: Sendable {
        /// How the daemon reaches it.
        public var transport: String
        /// Why it cannot be used, for people; `nil` if it can.
        public var trouble: String?
        /// What the controller reported about itself; `nil` while it cannot be used.
        public var information: ControllerInformation?
        /// Whether the controller advertises now.
        public var isAdvertising: Bool
        /// The links in both roles, oldest first.
        public var links: [Link]
        /// What is wanted of the radio, oldest first.
        public var wanted: [Wanted]
        /// Counters of errors and recoveries (`HostCounters`), by name.
        public var counters: [(name: String, value: UInt64)]
        /// How many devices are bonded.
        public var bonds: Int
    }

    /// A link.
    public struct Link: Sendable {
        /// The link, its role and its parameters.
        public var information: LinkInformation
        /// Whether it is encrypted.
        public var isEncrypted: Bool
        /// Whether its key is protected against a man in the middle.
        public var isAuthenticated: Bool
        /// The clients that hold it; empty for a central's link that nobody uses as a client.
        public var holders: [String]
    }

    /// A scan, an advertisement or a connection that a client wants.
    public struct Wanted: Sendable {
        /// What it is.
        public enum Work: Equatable, Sendable {
            case scan(ScanRequest)
            case advertise(AdvertiseRequest)
            case connect(DeviceAddress)
            case advertiseSet(AdvertisingSetRequest)
            case followTrain(TrainRequest)
            /// The trains that the peer of a link transfers.
            case receiveTrains(LinkID)
        }

        /// The name of the client.
        public var client: String
        /// What it wants.
        public var work: Work
    }

    /// A connected program.
    public struct Client: Sendable {
        /// The kind of its session.
        public enum Kind: String, Sendable { case tool, app, `operator` }

        /// An app's identifier, or the program and its process.
        public var name: String
        public var kind: Kind
        /// The process ID.
        public var process: UInt32
        /// The numeric ID of its user.
        public var user: UInt32
        /// Requests that have not completed.
        public var requests: Int
        /// Links that it holds as a tool.
        public var links: Int
        /// Services that it has published as a tool.
        public var services: Int
        /// Channels that it has open as a tool.
        public var channels: Int
        /// Octets that it has not read.
        public var waitingOctets: UInt64
        /// Events that it has not handled as an app.
        public var waitingEvents: Int
        /// Discoveries that were dropped because it read too slowly, and that it does not know of yet.
        public var lostDiscoveries: Int
    }

    public var adapters: [Adapter]
    public var clients: [Client]
    /// The installed apps.
    public var apps: [DaemonOperator.App]
}

extension DaemonStatus {
    init(_ wire: WireStatus) throws(WireError) {
        adapters = []
        for adapter in wire.adapters { adapters.append(try Adapter(adapter)) }
        clients = wire.clients.map { Client($0) }
        apps = wire.apps.map { DaemonOperator.App($0) }
    }
}

extension DaemonStatus.Adapter {
    fileprivate init(_ wire: WireAdapterStatus) throws(WireError) {
        transport = wire.transport
        trouble = wire.isReady ? nil : wire.trouble
        information = wire.isReady ? try ControllerInformation(wire.controller) : nil
        isAdvertising = wire.isAdvertising
        links = []
        for link in wire.links {
            links.append(
                DaemonStatus.Link(
                    information: try LinkInformation(link.link), isEncrypted: link.isEncrypted,
                    isAuthenticated: link.isAuthenticated, holders: link.holders))
        }
        wanted = []
        for entry in wire.wanted {
            let work: DaemonStatus.Wanted.Work
            switch entry.wanted {
            case .scan(let scan): work = .scan(try ScanRequest(scan))
            case .advertise(let advertise): work = .advertise(try AdvertiseRequest(advertise))
            case .connect(let connect): work = .connect(try DeviceAddress(connect.peer))
            case .set(let set): work = .advertiseSet(try AdvertisingSetRequest(set))
            case .train(let train): work = .followTrain(try TrainRequest(train))
            case .trainsOf(let link): work = .receiveTrains(LinkID(wire: link))
            // A newer daemon may name other work.
            case nil: continue
            }
            wanted.append(DaemonStatus.Wanted(client: entry.client, work: work))
        }
        counters = wire.counters.map { ($0.name, $0.value) }
        bonds = Int(wire.bonds)
    }
}

extension DaemonStatus.Client {
    fileprivate init(_ wire: WireClientStatus) {
        name = wire.name
        kind =
            switch wire.session {
            case .app: .app
            case .operator: .operator
            case .tool, .unspecified, .UNRECOGNIZED: .tool
            }
        process = wire.process
        user = wire.user
        requests = Int(wire.requests)
        links = Int(wire.links)
        services = Int(wire.services)
        channels = Int(wire.channels)
        waitingOctets = wire.waitingOctets
        waitingEvents = Int(wire.waitingEvents)
        lostDiscoveries = Int(wire.lostDiscoveries)
    }
}
