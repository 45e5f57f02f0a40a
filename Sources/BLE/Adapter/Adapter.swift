import BLEHost
import BLEPackets
import BLETransport
import Synchronization

/// A Bluetooth LE controller and the stack on top of it.
///
///     let adapter = try await Adapter.open("unix:/run/hci0")
///     for try await discovery in adapter.scan() {
///         print(discovery.advertisingData.localName ?? "?", discovery.rssi)
///         break
///     }
///     let peripheral = try await adapter.connect(to: address)
///     for service in try await peripheral.discoverServices() { print(service.uuid) }
///     await adapter.close()
///
/// The actor runs on a separate thread, where packets arrive, so there is no thread switch between the socket and the
/// engine. Every operation ends exactly once: by its result, an error, the end of the link, or the cancellation of its
/// task.
public actor Adapter {
    /// The engine's client; this process has one.
    static let client = ClientID.local

    nonisolated let loop: EventLoop
    /// Whether the loop ends with the adapter.
    private let ownsLoop: Bool
    /// The adapter's own thread, where its packets arrive.
    nonisolated public var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    nonisolated let loopTaskExecutor: LoopTaskExecutor

    /// The transport of this adapter.
    nonisolated public let address: TransportAddress

    private let configuration: AdapterConfiguration
    private let runner: any EngineRunner
    private var securityState = AdapterSecurity()
    /// The last error of the bond store.
    private var storeError: BondStoreError?

    private var isReady = false
    private(set) var ending: BLEError?
    private var startWaiters: [CheckedContinuation<Void, Never>] = []
    private var closeWaiters: [CheckedContinuation<Void, Never>] = []

    private var waiting: [OperationID: CheckedContinuation<Result<HostResult, BLEError>, Never>] = [:]
    private var operationOfToken: [UInt64: OperationID] = [:]
    var sequences = AdapterSequences()
    private var links: [LinkID: PeripheralState] = [:]
    /// The characteristics whose values wait for each other until the loop has handled what is ready.
    private var bursts: [(link: LinkID, handle: AttributeHandle)] = []
    /// How the latest links ended, for those who ask afterwards; the oldest first.
    private var ends: [(link: LinkID, reason: DisconnectionReason)] = []
    private static let endLimit = 64
    var channels = AdapterChannels()
    private var serverObservers = Observers<ServerEvents.Source>()
    private var observers = Observers<AdapterEvents.Source>()
    /// The operations that observers are shown the end of, with their beginning in microseconds.
    private var began: [OperationID: (kind: AdapterOperation, start: UInt64)] = [:]
    private var hasShownEnd = false
    var sleepers: [UInt64: (continuation: CheckedContinuation<Bool, Never>, deadline: EventLoop.Deadline)] = [:]

    static let nextToken = Atomic<UInt64>(1)

    // MARK: Opening and closing

    /// Opens a transport, starts its controller and waits until it is ready.
    ///
    /// - Parameter address: `user:0`, `unix:PATH`, `sim` and so on (`TransportAddress.forms`).
    /// - Throws: `BLEError.transport` with the cause and the remedy; `host` or `startupTimeout` when the controller
    ///   does not start.
    public static func open(
        _ address: String, configuration: AdapterConfiguration = AdapterConfiguration()
    ) async throws -> Adapter {
        let parsed: TransportAddress
        do throws(TransportError) { parsed = try TransportAddress(address) } catch { throw BLEError.transport(error) }
        return try await open(parsed, configuration: configuration)
    }

    /// Opens a transport, starts its controller and waits until it is ready.
    /// - Throws: the errors of `open(_:configuration:)` with a string.
    public static func open(
        _ address: TransportAddress, configuration: AdapterConfiguration = AdapterConfiguration()
    ) async throws -> Adapter {
        let adapter = try Adapter(address, configuration: configuration)
        do {
            try await adapter.start()
        } catch {
            await adapter.close()
            throw error
        }
        return adapter
    }

    private init(_ address: TransportAddress, configuration: AdapterConfiguration) throws {
        self.address = address
        self.configuration = configuration
        ownsLoop = configuration.loop == nil
        do throws(TransportError) {
            if let given = configuration.loop {
                loop = given
            } else {
                loop = try EventLoop()
                try loop.start()
            }
        } catch {
            throw BLEError.transport(error)
        }
        loopTaskExecutor = LoopTaskExecutor(loop)
        if case .daemon = address {
            guard let makeDaemonRunner = configuration.makeDaemonRunner else {
                if ownsLoop { loop.stop() }
                throw BLEError.transport(.notOffered(address))
            }
            runner = makeDaemonRunner(address, configuration, loop)
            return
        }
        do throws(BondStoreError) {
            runner = try HostRunner(address, configuration: configuration, loop: loop)
        } catch {
            if ownsLoop { loop.stop() }
            throw BLEError.bondStore(error)
        }
    }

    private func start() async throws {
        let limit = Task { [configuration] in
            try await sleep(for: configuration.startupTimeout)
            failStart(with: .startupTimeout)
        }
        defer { limit.cancel() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if ending != nil { return continuation.resume() }
                startWaiters.append(continuation)
                openTransport()
            }
        } onCancel: {
            Task { await self.failStart(with: .cancelled) }
        }
        if ending == .cancelled, Task.isCancelled { throw CancellationError() }
        if let ending { throw ending }
    }

    /// An adapter that became ready in the meantime stays open.
    private func failStart(with error: BLEError) {
        if !isReady, ending == nil { fail(with: error) }
    }

    private func openTransport() {
        do throws(TransportError) {
            try runner.open(.init(step: { self.step() }, ended: { error in self.transportEnded(error) }))
        } catch {
            fail(with: .transport(error))
        }
    }

    /// Stops all activity, closes the links and releases the controller. Calling it again has no effect.
    public func close() async {
        if runner.isOpen, ending == nil { _ = await perform(.stop) }
        fail(with: .closed)
        guard runner.isOpen else { return shutDown() }
        await withCheckedContinuation { continuation in
            closeWaiters.append(continuation)
            runner.close()
        }
        shutDown()
    }

    private func shutDown() {
        runner.shutDown()
        if ownsLoop { loop.stop() }
    }

    // MARK: What the adapter is

    /// What the controller reported about itself.
    public var information: ControllerInformation { runner.information }

    /// Counters of errors and recoveries.
    public var counters: HostCounters { runner.counters }

    // MARK: Operations

    /// Submits a command to the engine and waits for its completion. Cancelling the task cancels the operation.
    func perform(_ command: HostCommand) async -> Result<HostResult, BLEError> {
        if let ending, command != .stop { return .failure(ending) }
        guard !Task.isCancelled || command == .stop else { return .failure(.cancelled) }
        let token = Self.nextToken.add(1, ordering: .relaxed).oldValue
        defer { operationOfToken[token] = nil }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let operation = submit(command)
                waiting[operation] = continuation
                operationOfToken[token] = operation
                settle()
            }
        } onCancel: {
            guard command != .stop else { return }
            Task { await self.cancel(token) }
        }
    }

    private func cancel(_ token: UInt64) {
        guard let operation = operationOfToken.removeValue(forKey: token), waiting[operation] != nil else { return }
        _ = submit(.cancel(operation))
        settle()
    }

    /// Sends any HCI command; the engine does not interpret it.
    /// - Parameter parameters: at most 255 octets.
    /// - Returns: the return parameters of Command Complete, or the status octet of Command Status.
    /// - Throws: `BLEError.commandTimeout` when the controller does not answer within 2 s.
    public func sendHCICommand(_ opcode: HCIOpcode, parameters: [UInt8] = []) async throws -> [UInt8] {
        try await answer(to: .sendHCICommand(opcode, parameters))
    }

    /// Waits for a command's completion and unwraps its result.
    func result(of command: HostCommand) async throws -> HostResult {
        do throws(BLEError) {
            return try await perform(command).get()
        } catch {
            // A task that is cancelled while its operation ends by another cause is given that cause.
            if Task.isCancelled, error.isCancellation { throw CancellationError() }
            throw error
        }
    }

    /// Waits for the end of an operation.
    func answer<Answer>(to operation: HostOperation<Answer>) async throws -> Answer {
        let result = try await result(of: operation.command)
        guard let answer = operation.answer(in: result) else { throw BLEError.unexpectedResult(result) }
        return answer
    }

    // MARK: Scanning

    /// Scans for devices until the loop over the sequence ends or its task is cancelled (SPEC CEN-4, CEN-7).
    ///
    /// Discoveries that are not consumed in time are dropped, oldest first, and counted.
    nonisolated public func scan(_ request: ScanRequest = ScanRequest()) -> Scan {
        Scan(adapter: self, request: request)
    }

    // MARK: Connecting

    /// Connects to a device; waits without limit until it is in range (SPEC CEN-9).
    ///
    /// Cancelling the task cancels the connection.
    /// - Throws: `BLEError.connectionFailed` when the link could not be established.
    public func connect(to peer: DeviceAddress) async throws -> Peripheral {
        try await connect(ConnectRequest(peer: peer))
    }

    /// Connects with the given parameters.
    /// - Throws: the errors of `connect(to:)`.
    public func connect(_ request: ConnectRequest) async throws -> Peripheral {
        let link = try await answer(to: .connect(request))
        // The link may already have ended.
        guard let state = links[link] else { throw BLEError.notConnected }
        return Peripheral(adapter: self, information: state.information)
    }

    // MARK: Links

    func linkState<Value>(_ link: LinkID, _ body: (inout PeripheralState) -> Value) -> Value? {
        guard var state = links[link] else { return nil }
        defer { links[link] = state }
        return body(&state)
    }

    /// The values that follow are passed on together.
    private func noteBurst(of handle: AttributeHandle, on link: LinkID) {
        bursts.append((link, handle))
        if bursts.count == 1 { loop.runLater { self.assumeIsolated { $0.endBursts() } } }
    }

    private func endBursts() {
        for (link, handle) in bursts {
            if let place = links.index(forKey: link) { links.values[place].endBurst(of: handle) }
        }
        bursts.removeAll(keepingCapacity: true)
    }

    /// How a link ended; `controllerLost` for one that is too long ago to be known.
    func end(of link: LinkID) -> DisconnectionReason {
        ends.last { $0.link == link }?.reason ?? .controllerLost
    }

    // MARK: Observers

    func addObserver(_ observer: AdapterEvents.Source) -> UInt64 {
        let token = Self.nextToken.add(1, ordering: .relaxed).oldValue
        if let ending { observer.end(with: ending) } else { observers.add(observer, token: token) }
        return token
    }

    func removeObserver(_ token: UInt64) { observers.remove(token) }

    private func deliver(_ event: AdapterEvent) { _ = observers.deliver(event) }

    func addServerObserver(_ observer: ServerEvents.Source) -> UInt64 {
        let token = Self.nextToken.add(1, ordering: .relaxed).oldValue
        if let ending { observer.end(with: ending) } else { serverObservers.add(observer, token: token) }
        return token
    }

    func removeServerObserver(_ token: UInt64) { serverObservers.remove(token) }

    private func deliver(_ event: ServerEvent) {
        guard !serverObservers.deliver(event), let question = event.question else { return }
        // The app does not consume its events; answer now instead of after 30 s.
        _ = submit(.server(.respond(question, .failure(.insufficientResources))))
    }

    // MARK: The engine

    func submit(_ command: HostCommand) -> OperationID {
        let operation = runner.submit(command, from: Self.client)
        if isObserved { began[operation] = (AdapterOperation(command), loop.nowMicroseconds) }
        return operation
    }

    private var isObserved: Bool { !configuration.observers.isEmpty }

    private func show(_ activity: AdapterActivity) {
        for observer in configuration.observers { observer.observe(activity, of: address) }
    }

    /// Shows the end of an operation.
    private func show(_ operation: OperationID, endedWith error: BLEError?) {
        guard let (kind, start) = began.removeValue(forKey: operation) else { return }
        show(.ended(kind, after: .microseconds(Int64(loop.nowMicroseconds &- start)), error: error))
    }

    func settle() { runner.settle() }

    private func step() -> Bool {
        guard let event = runner.nextEvent() else { return false }
        handle(event)
        return true
    }

    private func handle(_ event: HostEvent) {
        if isObserved { show(.event(event)) }
        switch event {
        case .ready(let information):
            isReady = true
            resumeStarters()
            deliver(.ready(information))
        case .recovering(let step):
            deliver(.recovering(step))
        case .completed(let operation, let result):
            complete(operation, result)
        case .discovered(let discovery):
            sequences.scans[discovery.scan]?.yield(discovery)
        case .advertisingRoom(_, _, let room): deliver(.advertisingRoom(room))
        case .advertisingSet(let operation, _, let event): handle(event, of: operation)
        case .train(let operation, _, let event): handle(event, of: operation)
        case .connected(let information, _):
            links[information.id] = PeripheralState(information: information)
            securityState.connected(information)
        case .disconnected(let link, _, let reason):
            if var state = links.removeValue(forKey: link) { state.end(reason) }
            if ends.count == Self.endLimit { ends.removeFirst() }
            ends.append((link, reason))
            securityState.disconnected(link)
        case .gatt(let link, let event):
            if let place = links.index(forKey: link),
                let handle = links.values[place].handle(
                    event, at: { Instant(microseconds: Int64(loop.nowMicroseconds)) })
            {
                noteBurst(of: handle, on: link)
            }
            if case .mtuChanged(let mtu) = event { deliver(.mtuChanged(link, mtu: Int(mtu))) }
        case .centralConnected(let information):
            securityState.connected(information)
            deliver(.connected(information))
        case .centralDisconnected(let link, let reason):
            securityState.disconnected(link)
            deliver(.disconnected(link, reason))
        case .server(let event):
            deliver(.gatt(event))
        case .advertisingChanged(let isAdvertising):
            deliver(isAdvertising ? .advertisingStarted : .advertisingStopped)
        case .connectionParametersChanged(let link, let parameters):
            links[link]?.information.parameters = parameters
            deliver(.connectionParametersChanged(link, parameters))
        case .phyChanged(let link, let transmit, let receive):
            deliver(.phyChanged(link, transmit: transmit, receive: receive))
        case .subrateChanged(let link, let subrate): deliver(.subrateChanged(link, subrate))
        case .linkReport(let link, let report):
            links[link]?.handle(report)
            deliver(.linkReport(link, report))
        case .dataLengthChanged(let link, let length):
            deliver(.dataLengthChanged(link, length))
        case .failed(let failure):
            fail(with: BLEError(failure))
        case .controllerLearned(let experience): configuration.onExperience?(experience)
        case .reopenTransport(let resetsDevice):
            runner.reopenTransport(resetsDevice: resetsDevice)
        case .pairing(let link, let event):
            handle(event, on: link)
            deliver(.pairing(link, event))
        case .encryptionChanged(let link, let security):
            securityState.changed(link, to: security)
            deliver(.securityChanged(link, security))
        case .cleartextRefused(let link, let peer): deliver(.cleartextRefused(link, peer))
        case .bondChanged, .bondRemoved:
            guard let error = runner.takeStoreError() else { break }
            storeError = error
            deliver(.bondNotKept(error))
        case .channel(let event): channels.handle(event, of: self)
        default:
            break
        }
    }

    private func complete(_ operation: OperationID, _ result: Result<HostResult, HostFailure>) {
        if isObserved {
            let failure: HostFailure? = if case .failure(let failure) = result { failure } else { nil }
            show(operation, endedWith: failure.map { BLEError($0) })
        }
        let mapped = result.mapError { ending ?? BLEError($0) }
        let error: BLEError? = if case .failure(let error) = mapped { error } else { nil }
        if sequences.end(operation, with: error) { return }
        if case .success(let result) = result { channels.completed(result) }
        waiting.removeValue(forKey: operation)?.resume(returning: mapped)
    }

    // MARK: Pairing and bonds

    /// The bonded devices, one entry for each identity. Through `bled` they are without keys, and those of the user's
    /// own programs only, unless the user is an operator.
    public var bonds: [Bond] { runner.bonds }

    /// The key with which bonded devices resolve this device's private addresses; `nil` without a bond store.
    var identityResolvingKey: Key128? { runner.identityResolvingKey }

    func security(of link: LinkID) -> LinkSecurity? { securityState.links[link] }

    func clearStoreError() { storeError = nil }

    func takeStoreError() -> BondStoreError? {
        defer { storeError = nil }
        return storeError
    }

    private func handle(_ event: PairingEvent, on link: LinkID) {
        let refused = securityState.handle(
            event, with: securityState.peer(of: link), agent: configuration.pairingAgent
        ) { question, reply in await self.answer(question, with: reply) }
        if let refused { answer(refused, with: .cancel) }
    }

    private func answer(_ question: PairingQuestionID, with answer: PairingAnswer) {
        guard ending == nil else { return }
        _ = submit(.security(.answerPairing(question, answer)))
        runner.settle()
    }

    // MARK: The transport

    private func transportEnded(_ error: TransportError?) {
        if let error, ending == nil { ending = .transport(error) }
        fail(with: ending ?? .closed)
        for waiter in closeWaiters { waiter.resume() }
        closeWaiters.removeAll()
    }

    /// Why the adapter ended; `nil` while it works.
    package var end: BLEError? { ending }

    /// The adapter has failed: every pending operation ends with this error, unless it has ended already.
    private func fail(with error: BLEError) {
        if ending == nil { ending = error }
        if isObserved, !hasShownEnd {
            hasShownEnd = true
            show(.closed(ending ?? error))
            began.removeAll()
        }
        resumeStarters()
        for (_, continuation) in waiting { continuation.resume(returning: .failure(ending ?? error)) }
        waiting.removeAll()
        operationOfToken.removeAll()
        sequences.end(with: ending ?? error)
        serverObservers.end(with: ending ?? error)
        observers.end(with: ending ?? error)
        for place in links.indices { links.values[place].end(.controllerLost) }
        links.removeAll()
        channels.end(with: ending ?? error)
        for token in Array(sleepers.keys) { wake(token, isOver: false) }
    }

    private func resumeStarters() {
        for waiter in startWaiters { waiter.resume() }
        startWaiters.removeAll()
    }
}
