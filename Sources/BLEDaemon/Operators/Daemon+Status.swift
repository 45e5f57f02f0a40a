@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLETransport
import FoundationEssentials

/// The state of the daemon, for operators.
extension Daemon {
    var status: DaemonStatus {
        let absent = absentAdapters.map { name, apps in
            DaemonStatus.Adapter(transport: name, trouble: Self.absence(of: name, apps))
        }
        return DaemonStatus(
            adapters: [adapterStatus] + absent,
            clients: connections.filter { $0.tool.hasGreeted }.map { describe($0) },
            apps: installed.all.map { describe($0) })
    }

    private var adapterStatus: DaemonStatus.Adapter {
        var status = DaemonStatus.Adapter(
            transport: "\(runner.address)", trouble: isReady ? nil : trouble,
            information: isReady ? runner.information : nil)
        status.isAdvertising = isAdvertising
        status.bonds = runner.bonds.count
        let names = clientNames
        status.links = links.entries.map { entry in
            var link = DaemonStatus.Link(entry.information)
            link.isEncrypted = entry.security?.isEncrypted ?? false
            link.isAuthenticated = entry.security?.isAuthenticated ?? false
            link.keySize = entry.security?.keySize ?? 0
            link.holders = entry.holders.map { name(of: $0, names) }
            return link
        }
        status.wanted = port.ledger.radio.compactMap { client, command in
            let work: DaemonStatus.Wanted.Work
            switch command {
            case .scan(let request): work = .scan(request)
            case .advertise(let request): work = .advertise(request)
            case .connect(let request): work = .connect(request)
            case .advertiseSet(let request): work = .advertiseSet(request)
            case .followTrain(let request): work = .followTrain(request)
            case .receiveTrains(let link, _): work = .receiveTrains(link)
            case .changeScan, .changeAdvertising, .changeAdvertisingSet, .transferTrain, .classifyChannels,
                .sendSubevents, .respondInTrain:
                return nil
            }
            return DaemonStatus.Wanted(client: name(of: client, names), work: work.shortened)
        }
        status.counters = runner.counters.named
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

    private func describe(_ connection: Connection) -> DaemonStatus.Client {
        var told = DaemonStatus.Client()
        let process = connection.peer.process
        told.process = UInt32(clamping: process)
        told.user = connection.peer.user
        told.waitingOctets = UInt64(connection.stream.waitingByteCount)
        if let app = connection.app {
            told.kind = .app
            told.name = app.app.rawValue
            told.waitingEvents = app.unhandledCount + lifecycle.apps.waitingEvents(for: app.app)
        } else {
            told.kind = connection.operating == nil ? .tool : .operator
            told.name = "\(Self.programName(of: process)) (process \(process))"
            told.requests = connection.tool.requestCount
            told.links = connection.tool.links.count
            told.services = connection.tool.serving.serviceCount
            told.channels = connection.tool.serving.channels.count
            told.lostDiscoveries = Int(connection.tool.lostDiscoveries)
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
    func describeWhole(_ app: InstalledApp) -> AppStatus {
        var told = describe(app)
        told.command = app.command
        told.roles = app.roles.map(\.rawValue).sorted()
        told.mayPair = app.mayPair
        told.showsSystemServices = app.manifest.showsSystemServices
        told.authorization = app.authorizationName
        told.overflow = app.manifest.overflow.rawValue
        told.unit = app.unit
        told.adapter = app.adapter
        told.memoryMegabytes = app.memoryLimit.map { UInt32(clamping: $0 >> 20) }
        let budget = app.manifest.wakeBudget ?? lifecycle.apps.settings.wakeBudget
        told.wakeSeconds = Int(budget.rawValue / 1_000_000)
        told.directory = app.folder
        told.environment = app.environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let preserved = lifecycle.apps.preserved(of: app.id)
        told.preservedCentrals = preserved.centrals
        told.preservedPeripherals = preserved.peripherals
        return told
    }
}
