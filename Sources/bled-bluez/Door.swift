import BLE
import BLEBlueZ
import BLEDaemonClient
import BLEHost
import BLEMessages
import BLEPackets
import BLETransport
import Glibc

/// Carries out what `BlueZService` wants done: on the bus, at the daemon, on sockets.
final class Door: @unchecked Sendable {
    // @unchecked Sendable is correct because only the loop's thread uses the state, or the main thread before it runs.
    private let loop: EventLoop
    private let bus: BusConnection
    private let folder: StateFolder
    private let socketPath: String
    private var service: BlueZService
    private var finder: DaemonFinder?
    private var deadline: EventLoop.Deadline?
    private var adapters: [DaemonAdapter] = []
    /// Only for lookup.
    private var sockets: [SocketID: AcquiredSocket] = [:]
    /// What the daemon is asked about its adapters, by their sockets. Only for lookup.
    private var questions: [String: StatusQuestion] = [:]
    /// Whether the log says that `bled` is away.
    private var isWaiting = false
    /// Why the daemon could not be used; it is tried again and again.
    private var lastError: String?
    private var isDraining = false
    private var isStopping = false

    init(_ loop: EventLoop, _ bus: BusConnection, _ folder: StateFolder, socket: String, isExperimental: Bool) {
        self.loop = loop
        self.bus = bus
        self.folder = folder
        socketPath = socket
        var settings = BlueZSettings(hostName: Self.hostName)
        settings.isExperimental = isExperimental
        settings.trustedUsers.insert(geteuid())
        service = BlueZService(settings)
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "jelling" }
        let octets = name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return octets.isEmpty ? "jelling" : String(decoding: octets, as: UTF8.self)
    }

    // MARK: Life

    func start() throws(TransportError) {
        deadline = loop.makeDeadline { [unowned self] in
            service.advance(to: now)
            drain()
        }
        bus.makeSocket = { [unowned self] in makeSocket($0) }
        try bus.start(
            on: loop, receive: { [unowned self] in handle($0) },
            ended: { reason in
                // Nobody can call any more; the service manager starts another one.
                Notes.write("error: " + reason)
                exit(Failure.Status.noBus.rawValue)
            })
        let finder = DaemonFinder(socketPath, on: loop) { [unowned self] in attempt($0) }
        self.finder = finder
        finder.start()
    }

    func stop() {
        service.stop()
        drain()
        isStopping = true
        finder?.stop()
        bus.close()
        for adapter in adapters { adapter.close() }
        deadline?.cancel()
        loop.stop()
    }

    private var now: Instant { Instant(microseconds: Int64(loop.nowMicroseconds)) }

    // MARK: Inputs and effects

    private func handle(_ input: BlueZInput) {
        service.handle(input, at: now)
        drain()
    }

    /// Carries out effects until there are none. Inputs that come meanwhile add theirs.
    private func drain() {
        guard !isDraining, !isStopping else { return }
        isDraining = true
        repeat {
            while let effect = service.nextEffect() { perform(effect) }
        } while adapters.reduce(false, { $1.settle() || $0 })
        isDraining = false
        bus.settle()
        if let next = service.nextDeadline {
            deadline?.set(atMicroseconds: UInt64(max(0, next.microseconds)))
        } else {
            deadline?.clear()
        }
    }

    private func perform(_ effect: BlueZEffect) {
        switch effect {
        case .reply, .refuse, .signal, .ask, .dropQuestion, .tell, .watch, .unwatch: bus.perform(effect)
        case .submit(let number, let ticket, let command): adapter(number)?.submit(command, ticket)
        case .cancel(let number, let ticket): adapter(number)?.cancel(ticket)
        case .changeScan(let number, let ticket, let request): adapter(number)?.changeScan(ticket, request)
        case .changeSet(let number, let ticket, let request): adapter(number)?.changeSet(ticket, request)
        case .send(let socket, let value): sockets[socket]?.send(value)
        case .setReading(let socket, let isReading): sockets[socket]?.setReading(isReading)
        case .closeSocket(let socket): sockets.removeValue(forKey: socket)?.close()
        case .save(let address, let octets): folder.save(octets, for: address)
        case .note(let note): Notes.write(note.text)
        }
    }

    private func adapter(_ number: Int) -> DaemonAdapter? { adapters.first { $0.number == number } }

    // MARK: Sockets

    private func makeSocket(_ id: SocketID) -> Int32? {
        let made = AcquiredSocket.make(
            on: loop, receive: { [unowned self] in handle(.socketReceived(id, $0)) },
            closed: { [unowned self] in
                sockets.removeValue(forKey: id)?.close()
                handle(.socketClosed(id))
            })
        guard let made else { return nil }
        sockets[id] = made.socket
        return made.clientEnd
    }

    // MARK: The daemon

    /// Connects to the sockets that have no connection yet.
    /// - Returns: whether the daemon is away.
    private func attempt(_ paths: [String]) -> Bool {
        for path in paths where !adapters.contains(where: { $0.path == path }) { connect(to: path) }
        let isAway = !adapters.contains { $0.path == socketPath }
        if isAway, !isWaiting { Notes.write("waiting for bled at \(socketPath)") }
        isWaiting = isAway
        return isAway
    }

    private func connect(to path: String) {
        guard let adapter = DaemonAdapter(path, on: loop) else { return }
        do throws(TransportError) {
            try adapter.open(
                receive: { [unowned self, unowned adapter] in receive($0, from: adapter) },
                advertising: { [unowned self] in handle(.advertisingSet($0, $1)) },
                completed: { [unowned self, unowned adapter] ticket, result in
                    if let number = adapter.number { handle(.completed(number, ticket, result)) }
                }, ended: { [unowned self, unowned adapter] error in ended(adapter, error) })
            adapters.append(adapter)
        } catch {
            // It is away, as it may be; what else keeps this program out is worth a word.
            switch error {
            case .noDaemon: break
            default:
                let text = "\(error)"
                if text != lastError { Notes.write(text) }
                lastError = text
            }
        }
    }

    private func receive(_ event: HostEvent, from adapter: DaemonAdapter) {
        if let number = adapter.number { return handle(.event(number, event)) }
        guard case .ready = event else { return }
        askForStatus(adapter)
    }

    /// Which adapter it is, and which devices have links: only operators are told.
    private func askForStatus(_ adapter: DaemonAdapter) {
        let path = adapter.path
        questions[path] = StatusQuestion(path, on: loop) { [unowned self] answer in
            questions[path] = nil
            show(path, answer)
        }
    }

    private func show(_ path: String, _ answer: OperatorAnswer?) {
        guard let adapter = adapters.first(where: { $0.path == path }), adapter.number == nil, !isStopping else {
            return
        }
        let taken = adapters.compactMap(\.number)
        let transport = answer?.adapter ?? ""
        let own = transport.hasPrefix("user:") ? Int(transport.dropFirst(5)) : nil
        let free = (0...9).first { !taken.contains($0) }
        guard let number = own.flatMap({ (0...9).contains($0) && !taken.contains($0) ? $0 : nil }) ?? free else {
            return Notes.write("more than ten adapters: \(path) is not shown")
        }
        adapter.number = number
        lastError = nil
        Notes.write(
            "hci\(number) is there: \(adapter.information.bluezAddress.addressText), "
                + "\(transport.isEmpty ? "" : transport + " ")of bled at \(path)")
        let peers = answer?.status?.adapters.first?.links ?? []
        handle(
            .adapterReady(
                AdapterDescription(
                    number: number, information: adapter.information, isOperator: answer != nil,
                    bonds: adapter.bonds,
                    connectedPeers: peers.map(\.information).filter { $0.role == .central }.map(\.peer),
                    stored: folder.content(for: adapter.information.bluezAddress))))
    }

    private func ended(_ adapter: DaemonAdapter, _ error: TransportError?) {
        guard adapters.contains(where: { $0 === adapter }) else { return }
        let number = adapter.number
        adapter.number = nil
        if let number { Notes.write("hci\(number) has gone: bled at \(adapter.path) has ended the connection") }
        // The adapter is in the middle of reporting its end.
        loop.runLater { [self] in
            adapters.removeAll { $0 === adapter }
            adapter.close()
            if let number { handle(.adapterLost(number)) }
            finder?.lookSoon()
        }
    }
}
