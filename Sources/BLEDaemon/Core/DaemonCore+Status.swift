import BLEAppLifecycle
import BLEHost
import BLEMessages

/// The state of the daemon, for operators.
extension DaemonCore {
    var status: DaemonStatus {
        let absent = absentAdapters.map { name, apps in
            DaemonStatus.Adapter(transport: name, trouble: Self.absence(of: name, apps))
        }
        return DaemonStatus(
            adapters: [adapterStatus] + absent, clients: connections.all.filter(\.hasGreeted).map { describe($0) },
            apps: apps.installed.all.map { describe($0) })
    }

    private var adapterStatus: DaemonStatus.Adapter {
        var status = DaemonStatus.Adapter(
            transport: "\(port.engine.address)", trouble: controller.isReady ? nil : controller.trouble,
            information: controller.isReady ? port.engine.information : nil)
        status.isAdvertising = tools.isAdvertising
        status.device = controller.device
        let falls = controller.warningOfFalls(at: port.engine.address)
        status.notes = [falls, controller.fault].compactMap { $0 } + controller.notes
        // Without a folder of state it is with the engine, as long as that lives.
        status.learned =
            lookups.learned ?? DaemonStatus.Learned(controller: "", experience: controller.experience)
        status.bonds = port.engine.bonds.count
        let names = clientNames
        status.links = tools.links.entries.map { entry in
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
            case .followPeriodicAdvertising(let request): work = .followPeriodicAdvertising(request)
            case .receivePeriodicSyncs(let link, _): work = .receivePeriodicSyncs(link)
            // The others change or use one of these, and are over soon.
            default: return nil
            }
            return DaemonStatus.Wanted(client: name(of: client, names), work: work.shortened)
        }
        status.counters = port.engine.counters.named
        return status
    }

    // MARK: Clients

    private var clientNames: [ClientID: String] {
        var names: [ClientID: String] = [:]
        for connection in connections.all where connection.tool != nil {
            names[connection.id.client] = describe(connection).name
        }
        return names
    }

    /// The name of a client in the log.
    func name(of client: ClientID) -> String { connections[client].map { describe($0).name } ?? name(of: client, [:]) }

    private func name(of client: ClientID, _ tools: [ClientID: String]) -> String {
        tools[client] ?? apps.lifecycle.apps.manager(client)?.app.rawValue ?? "bled"
    }

    private func describe(_ connection: Connection) -> DaemonStatus.Client {
        var told = DaemonStatus.Client()
        let process = connection.peer.process
        told.process = UInt32(clamping: process)
        told.user = connection.peer.user
        told.waitingOctets = UInt64(connection.outbox.waiting)
        if let app = connection.app?.session {
            told.kind = .app
            told.name = app.app.rawValue
            told.waitingEvents = app.unhandledCount + apps.lifecycle.apps.waitingEvents(for: app.app)
        } else {
            told.kind = connection.person == nil ? .tool : .operator
            told.name = "\(lookups.programName(of: process)) (process \(process))"
            guard let tool = connection.tool?.session else { return told }
            told.requests = tool.requestCount
            told.links = tool.links.count
            told.services = tool.serving.serviceCount
            told.channels = tool.serving.channels.count
            told.lostDiscoveries = Int(tool.lostDiscoveries)
        }
        return told
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
        let budget = app.manifest.wakeBudget ?? apps.lifecycle.apps.settings.wakeBudget
        told.wakeSeconds = Int(budget.rawValue / 1_000_000)
        told.directory = app.folder
        told.environment = app.environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let preserved = apps.lifecycle.apps.preserved(of: app.id)
        told.preservedCentrals = preserved.centrals
        told.preservedPeripherals = preserved.peripherals
        return told
    }
}
