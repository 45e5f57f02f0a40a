@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEDaemonProtocol
import BLEHost
import BLETransport
import FoundationEssentials

/// The state of the daemon, for operators.
extension Daemon {
    var status: WireStatus {
        var status = WireStatus()
        status.adapters =
            [adapterStatus]
            + absentAdapters.map { name, apps in
                WireAdapterStatus.with {
                    $0.transport = name
                    $0.trouble = Self.absence(of: name, apps)
                }
            }
        status.clients = connections.filter { $0.tool.hasGreeted }.map { describe($0) }
        status.apps = installed.all.map { describe($0) }
        return status
    }

    private var adapterStatus: WireAdapterStatus {
        var status = WireAdapterStatus()
        status.transport = "\(runner.address)"
        status.isReady = isReady
        if isReady { status.controller = WireController(runner.information) } else { status.trouble = trouble }
        status.isAdvertising = isAdvertising
        status.bonds = UInt32(clamping: runner.bonds.count)
        let names = clientNames
        status.links = links.entries.map { entry in
            var link = WireLinkStatus()
            link.link = WireLink(entry.information)
            link.isEncrypted = entry.security?.isEncrypted ?? false
            link.isAuthenticated = entry.security?.isAuthenticated ?? false
            link.keySize = UInt32(entry.security?.keySize ?? 0)
            link.holders = entry.holders.map { name(of: $0, names) }
            return link
        }
        status.wanted = port.ledger.radio.compactMap { client, command in
            var wanted = WireWantedOfRadio()
            wanted.client = name(of: client, names)
            switch command {
            case .scan(let request): wanted.scan = WireScan(request)
            case .advertise(let request): wanted.advertise = WireAdvertise(request)
            case .connect(let request): wanted.connect = WireConnect(request)
            case .advertiseSet(let request): wanted.set = WireAdvertisingSet(request)
            case .followTrain(let request): wanted.train = WireFollowTrain(request)
            case .receiveTrains(let link, _): wanted.trainsOf = link.wire
            case .changeScan, .changeAdvertising, .changeAdvertisingSet, .transferTrain, .classifyChannels,
                .sendSubevents, .respondInTrain:
                return nil
            }
            wanted.shorten()
            return wanted
        }
        status.counters = runner.counters.named.map { name, value in
            WireCounter.with {
                $0.name = name
                $0.value = value
            }
        }
        return status
    }

    // MARK: Clients

    private var clientNames: [ClientID: String] {
        var names: [ClientID: String] = [:]
        for connection in connections where connection.isTool {
            names[connection.tool.client] = describe(connection).name
        }
        return names
    }

    /// The name of a client in the log.
    func name(of client: ClientID) -> String {
        tools[client].map { describe($0).name } ?? name(of: client, [:])
    }

    private func name(of client: ClientID, _ tools: [ClientID: String]) -> String {
        tools[client] ?? lifecycle.apps.manager(client)?.app.rawValue ?? "bled"
    }

    private func describe(_ connection: Connection) -> WireClientStatus {
        var told = WireClientStatus()
        let process = connection.peer.process
        told.process = UInt32(clamping: process)
        told.user = connection.peer.user
        told.waitingOctets = UInt64(connection.stream.waitingByteCount)
        if let app = connection.app {
            told.session = .app
            told.name = app.app.rawValue
            told.waitingEvents = UInt32(clamping: app.unhandledCount + lifecycle.apps.waitingEvents(for: app.app))
        } else {
            told.session = connection.operating == nil ? .tool : .operator
            told.name = "\(Self.programName(of: process)) (process \(process))"
            told.requests = UInt32(clamping: connection.tool.requestCount)
            told.links = UInt32(clamping: connection.tool.links.count)
            told.services = UInt32(clamping: connection.tool.serving.serviceCount)
            told.channels = UInt32(clamping: connection.tool.serving.channels.count)
            told.lostDiscoveries = connection.tool.lostDiscoveries
        }
        return told
    }

    /// The name of a program as the kernel keeps it; it may contain anything.
    private static func programName(of process: Int32) -> String {
        guard let name = FileManager.default.contents(atPath: "/proc/\(process)/comm") else { return "a program" }
        return String(decoding: name.filter { $0 != 0x0A }, as: UTF8.self)
    }

    // MARK: Apps

    /// An installed app with everything that its manifest says.
    func describeWhole(_ app: InstalledApp) -> WireInstalledApp {
        var told = describe(app)
        told.command = app.command
        told.roles = app.roles.map(\.rawValue).sorted()
        told.mayPair = app.mayPair
        told.showsSystemServices = app.manifest.showsSystemServices
        told.authorization = app.authorizationName
        told.overflow = app.manifest.overflow.rawValue
        told.unit = app.unit ?? ""
        told.adapter = app.adapter ?? ""
        told.memoryMegabytes = UInt32(clamping: (app.memoryLimit ?? 0) >> 20)
        let budget = app.manifest.wakeBudget ?? lifecycle.apps.settings.wakeBudget
        told.wakeSeconds = UInt32(clamping: budget.rawValue / 1_000_000)
        told.directory = app.folder
        told.environment = app.environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let preserved = lifecycle.apps.preserved(of: app.id)
        told.preservedCentrals = preserved.centrals
        told.preservedPeripherals = preserved.peripherals
        return told
    }
}
