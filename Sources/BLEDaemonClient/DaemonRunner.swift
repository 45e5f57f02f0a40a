@_spi(HostRunner) import BLE
import BLEHost
import BLEMessages
import BLEPackets
import BLETransport

/// The engine of a daemon as a client uses it: commands go through the socket, and events come back.
///
/// A command that this version of the protocol does not carry fails with
/// `HostFailure.InvalidRequest.notAvailableOnSharedController`.
final class DaemonRunner: EngineRunner {
    private let address: TransportAddress
    private let configuration: AdapterConfiguration
    private let loop: EventLoop
    private var stream: ByteStream?
    private var handlers: HostRunner.Handlers?
    private var frames = FrameReader(limit: BledProtocol.eventLimit)
    private var events = Queue<HostEvent>()
    private var lastOperation: UInt64 = 0
    private var isSettling = false
    private var hasBegun = false
    /// Whether this client is an operator of the daemon.
    private var isOperator = false
    /// Which additions to the protocol the daemon knows.
    private var revision: UInt32 = 0
    /// The request for packets; the engine is ready when it has been granted.
    private var capturing: OperationID?
    /// Whether the daemon knows this client's name as a server, and how it pairs.
    private var hasToldPairing = false
    private var hasToldOptions = false
    /// From this revision on, a client says how it pairs at its beginning, whether it serves or not.
    private static let pairingRevision: UInt32 = 4
    /// From this revision on, the daemon accepts that a connection names its user.
    private static let userRevision: UInt32 = 7
    /// Requests of this object itself, whose ends are not reported to its owner.
    private var ownRequests: Set<OperationID> = []
    /// The request to leave, and how long it may take.
    private var leaving: OperationID?
    private var leavingDeadline: EventLoop.Deadline?
    private static let leavingMicroseconds: UInt64 = 5_000_000
    /// The end of the connection, while earlier events still wait.
    private var end: TransportError??
    /// The reason that the daemon gave if it ended the connection.
    private var reason: TransportError?

    private(set) var information = ControllerInformation()
    private(set) var counters = HostCounters()
    /// The daemon's bonds, without keys: for an operator all, for others those of their user. An older daemon
    /// sends them to operators only.
    private(set) var bonds: [Bond] = []
    let identityResolvingKey: Key128? = nil

    /// - Parameter configuration: its pairing options, agent, enhanced bearers, device name and packet observer are
    ///   used.
    init(_ address: TransportAddress, _ configuration: AdapterConfiguration, loop: EventLoop) {
        self.address = address
        self.configuration = configuration
        self.loop = loop
    }

    var isOpen: Bool { stream != nil || end != nil }

    // MARK: Life

    func open(_ handlers: HostRunner.Handlers) throws(TransportError) {
        self.handlers = handlers
        let stream = try DaemonClient.connect(to: DaemonClient.socketPath(of: address))
        try stream.start(
            on: loop, receive: { [unowned self] in receive($0) }, closed: { [unowned self] in streamEnded($0) })
        self.stream = stream
        send(.hello(Greeting(.tool)))
    }

    func close() { stream?.close() }

    func shutDown() {
        leavingDeadline?.cancel()
        leavingDeadline = nil
        handlers = nil
    }

    /// Does nothing: the daemon reopens its own transport.
    func reopenTransport(resetsDevice: Bool) {}

    func takeStoreError() -> BondStoreError? { nil }

    private func streamEnded(_ error: TransportError?) {
        stream = nil
        giveUpLeaving()
        end = .some(reason ?? error)
        settle()
    }

    // MARK: Commands

    func submit(_ command: HostCommand, from client: ClientID) -> OperationID {
        if case .radio(.advertise) = command { sendPairing() }
        if case .radio(.advertiseSet) = command { sendPairing() }
        if case .server(.publish) = command { sendPairing() }
        let operation = nextOperation()
        if command == .stop {
            leave(operation)
        } else if hasBegun, case .security(.setSecurity(let settings)) = command, settings.changesPairingOnly {
            hasToldOptions = true
            send(.request(ToolRequest(operation, .servePairing(settings.pairing))))
        } else if !hasBegun || !send(withOptions(command), operation) {
            let failure: HostFailure =
                hasBegun ? .invalidRequest(.notAvailableOnSharedController) : .controllerLost
            events.append(.completed(operation, .failure(failure)))
        }
        return operation
    }

    /// The daemon continues; everything of this client has ended when the operation does.
    private func leave(_ operation: OperationID) {
        guard hasBegun, stream != nil, leaving == nil else {
            return events.append(.completed(operation, .success(.done)))
        }
        leaving = operation
        send(.request(ToolRequest(operation, .leave)))
        // A daemon that is stuck must not delay this program's end.
        leavingDeadline = loop.makeDeadline { [weak self] in self?.giveUpLeaving() }
        leavingDeadline?.set(atMicroseconds: loop.nowMicroseconds + Self.leavingMicroseconds)
    }

    private func giveUpLeaving() {
        guard let operation = leaving.take() else { return }
        events.append(.completed(operation, .success(.done)))
        settle()
    }

    private func nextOperation() -> OperationID {
        lastOperation += 1
        return OperationID(rawValue: lastOperation)
    }

    /// Sends a request of this object itself.
    private func request(_ command: ToolCommand) -> OperationID {
        let operation = nextOperation()
        send(.request(ToolRequest(operation, command)))
        ownRequests.insert(operation)
        return operation
    }

    private func sendOptions() {
        guard configuration.pairingAgent != nil, !hasToldOptions else { return }
        hasToldOptions = true
        _ = request(.servePairing(configuration.security.pairing))
    }

    /// Before this client serves, the daemon learns how it pairs with centrals, and its name.
    private func sendPairing() {
        guard hasBegun, !hasToldPairing else { return }
        hasToldPairing = true
        sendOptions()
        if revision >= Self.pairingRevision, !isOperator, configuration.pairingAgent != nil,
            !configuration.security.pairing.isPlain
        {
            reason = .daemonEnded(reason: Self.refusal("to require this of pairings"))
            return close()
        }
        if isOperator, configuration.deviceName != AdapterConfiguration().deviceName {
            _ = request(.host(.server(.setDeviceName(configuration.deviceName))))
        }
    }

    private func withOptions(_ command: HostCommand) -> HostCommand {
        switch command {
        case .security(.pair(let link, nil)): return .security(.pair(link, configuration.security.pairing))
        case .radio(.connect(var request)):
            // The bearers that this program would open on its links.
            if let bearers = configuration.enhancedBearers, bearers.opened > 0, request.enhancedBearers == nil {
                request.enhancedBearers = UInt8(clamping: bearers.opened)
            }
            if revision < Self.userRevision { request.user = nil }
            return .radio(.connect(request))
        default: return command
        }
    }

    private func send(_ message: FromClient) { stream?.send(message.framed().span.bytes) }

    /// - Returns: whether the protocol has the command, and the daemon knows it.
    private func send(_ command: HostCommand, _ operation: OperationID) -> Bool {
        let request = FromClient.request(ToolRequest(operation, .host(command)))
        let frame = request.framed()
        guard !frame.isEmpty, request.revision <= revision else { return false }
        stream?.send(frame.span.bytes)
        return true
    }

    // MARK: Events

    func nextEvent() -> HostEvent? { events.popFirst() }

    func settle() {
        guard !isSettling else { return }
        isSettling = true
        while handlers?.step() ?? false {}
        isSettling = false
        if let error = end.take() { handlers?.ended(error) }
    }

    private func receive(_ bytes: RawSpan) {
        frames.append(bytes)
        do throws(MessageError) {
            while let octets = try frames.next() { receive(try FromDaemon(octets: octets)) }
        } catch {
            reason = .daemonEnded(reason: "it speaks another protocol: \(error)")
            close()
        }
        settle()
    }

    private func receive(_ message: FromDaemon) {
        switch message {
        case .welcome(let welcome):
            information = welcome.controller ?? ControllerInformation()
            hasBegun = true
            isOperator = welcome.isOperator
            revision = welcome.revision
            if let missing = missing(of: welcome) {
                reason = .daemonEnded(reason: missing)
                return close()
            }
            bonds = welcome.bonds
            if revision >= Self.pairingRevision { sendOptions() }
            if configuration.tap != nil {
                capturing = request(.capture(true))
            } else {
                events.append(.ready(information))
            }
        case .event(let event): receive(event)
        case .completed(let operation, _) where operation == leaving: giveUpLeaving()
        case .completed(let operation, let result) where ownRequests.contains(operation): ended(operation, result)
        case .completed(let operation, let result): events.append(.completed(operation, result))
        case .discovered(let discovery, let lost):
            counters.advertisingReports += 1 + UInt64(lost)
            events.append(.discovered(discovery))
        case .advertisingSet(let operation, let event, _):
            events.append(.advertisingSet(operation, .local, event))
        case .train(let operation, let event, _): events.append(.train(operation, .local, event))
        case .advertisingRoom(let operation, let room): events.append(.advertisingRoom(operation, .local, room))
        case .packet(let octets, let isFromController, let unixMicroseconds, _):
            configuration.tap?.observe(
                octets.span.bytes, direction: isFromController ? .controllerToHost : .hostToController,
                unixMicroseconds: unixMicroseconds)
        case .refusal(_, let text): reason = .daemonEnded(reason: text)
        case .lost(let text): reason = .daemonEnded(reason: "its controller is lost: \(text)")
        // Messages for apps and operators, or of a newer daemon.
        case .appWelcome, .appEvent, .appTaken, .appNotice, .appPairing, .operatorAnswer, .alert, .unknown: break
        }
    }

    private func receive(_ event: HostEvent) {
        switch event {
        case .bondChanged(let bond):
            if let place = bonds.firstIndex(where: { $0.identity == bond.identity }) {
                bonds[place] = bond
            } else {
                bonds.append(bond)
            }
        case .bondRemoved(let identity): bonds.removeAll { $0.identity == identity.withoutIdentityMark }
        case .ready(let controller): information = controller
        default: break
        }
        events.append(event)
    }

    /// What its owner has configured and the daemon decides at its start.
    private func missing(of welcome: Welcome) -> String? {
        if let bearers = configuration.enhancedBearers, bearers.opened == 0, !welcome.acceptsEnhancedBearers {
            return "it does not accept enhanced bearers (EATT): \(Self.remedy("enhancedBearers"))"
        }
        if configuration.reportsAddressResolution, !welcome.reportsAddressResolution {
            return "it does not offer Central Address Resolution: \(Self.remedy("addressResolution"))"
        }
        return nil
    }

    /// Bonded centrals may store the attribute table, so it does not change while the daemon runs.
    private static func remedy(_ key: String) -> String {
        "set \"\(key)\": true in the configuration file of bled (bled --config FILE), then restart bled; "
            + "SIGHUP is not enough"
    }

    /// A request of this object itself has ended: one that is refused ends the connection, because what its owner has
    /// configured does not apply.
    private func ended(_ operation: OperationID, _ result: Result<HostResult, HostFailure>) {
        ownRequests.remove(operation)
        let isCapture = operation == capturing
        if case .failure(let failure) = result {
            let what = isCapture ? "to see its packets" : "to require this of pairings"
            let isRefused = failure == .invalidRequest(.notPermitted)
            reason = .daemonEnded(reason: isRefused ? Self.refusal(what) : "\(failure)")
            close()
        } else if isCapture {
            capturing = nil
            events.append(.ready(information))
        }
    }

    private static func refusal(_ what: String) -> String {
        "it allows only root, its own user and the group of its operators \(what)"
    }
}

extension SecuritySettings {
    /// Of the security of links, a program only says how its own pairings are done; the rest is for all programs.
    fileprivate var changesPairingOnly: Bool {
        var rest = SecuritySettings()
        rest.pairing = pairing
        return self == rest
    }
}
