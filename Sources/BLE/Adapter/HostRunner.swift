import BLEHost
import BLEPackets
import BLETransport

/// Runs an engine on a transport: packets and time go in; packets go out and events go to its owner.
///
/// It belongs to its event loop. Its owner lives there too, usually as an actor with that loop as its executor.
/// `settle` runs after each input, also after those of the owner, and handles everything that follows from it. Commands
/// that the owner submits while it handles an event run after that event, never within it.
@_spi(HostRunner)
public final class HostRunner {
    /// The functions of the owner that the runner calls, on the loop.
    public struct Handlers {
        /// Handles one event of the engine; returns `false` if there is none.
        public var step: () -> Bool
        /// The transport has ended, and no event follows. Gets the error, or `nil` after `close()`.
        public var ended: (TransportError?) -> Void

        public init(step: @escaping () -> Bool, ended: @escaping (TransportError?) -> Void) {
            self.step = step
            self.ended = ended
        }
    }

    /// The transport to open, now and after each end.
    public var address: TransportAddress
    /// The event loop on which everything runs.
    public let loop: EventLoop
    private let configuration: AdapterConfiguration
    /// Of the configuration, what is asked for each packet.
    private let tap: (any PacketObserver)?
    private let recorder: (any HostInputObserver)?
    /// How a transport ended; `error` is `nil` when it ended without one.
    private struct TransportEnd { let error: TransportError? }

    private let hostConfiguration: HostConfiguration
    private var host: Host
    private let bondKeeper: BondKeeper
    /// Whether `settle` follows when the store has saved a bond.
    private var awaitsStore = false
    private var handlers: Handlers?
    private var transport: (any HCITransport)?
    /// Distinguishes a transport from its replacement: the end of the old one may be reported late.
    private var transportGeneration = 0
    private var deadline: EventLoop.Deadline?
    private var isSettling = false
    /// How many packets of this turn of the loop have been received and not settled; `nil` before the first one.
    private var gathered: Int?
    /// Few enough that the engine need not drop events.
    private static let gatheredAtOnce = 64
    /// Whether the transport is about to be opened again.
    private var isReopening = false
    /// The end of the transport, until the events before it have been delivered.
    private var pendingEnd: TransportEnd?

    /// Reads the bonds from their store.
    /// - Throws: `BondStoreError` if they cannot be read.
    public init(
        _ address: TransportAddress, configuration: AdapterConfiguration, loop: EventLoop
    ) throws(BondStoreError) {
        var hostConfiguration = configuration.host(for: address)
        bondKeeper = try BondKeeper(configuration.bondStore, into: &hostConfiguration, on: loop)
        self.hostConfiguration = hostConfiguration
        host = Host(configuration: hostConfiguration)
        self.address = address
        self.configuration = configuration
        tap = configuration.tap
        recorder = configuration.recorder
        self.loop = loop
    }

    /// What the controller reported about itself.
    public var information: ControllerInformation { host.controllerInformation }
    /// Counters of errors and recoveries.
    public var counters: HostCounters { host.counters }
    /// Whether a transport is open.
    public var hasTransport: Bool { transport != nil }
    /// Whether a transport is open or about to be opened again, or its end has not been reported yet.
    public var isOpen: Bool { transport != nil || isReopening || pendingEnd != nil }
    /// The engine's clock.
    public var now: Instant { Instant(microseconds: Int64(loop.nowMicroseconds)) }

    /// Whether an advertising packet that several clients want is one event (`Host.joinsDiscoveries`).
    public var joinsDiscoveries: Bool {
        get { host.joinsDiscoveries }
        set { host.joinsDiscoveries = newValue }
    }

    /// Whether the owner handles the events of an input before the packets that answer it are sent. An indication then
    /// is on its way to a client in another process before its confirmation is to the peer, which may go by it.
    public var handlesEventsFirst = false

    // MARK: Bonds

    /// The bonded devices, one entry for each identity.
    public var bonds: [Bond] { bondKeeper.bonds.all }
    /// The key with which bonded devices resolve this device's private addresses; `nil` without a bond store.
    public var identityResolvingKey: Key128? { hostConfiguration.security.identityResolvingKey }
    /// Whether a change of a bond is being saved; meanwhile the engine's events wait.
    public var isKeepingBond: Bool { bondKeeper.isKeeping }
    /// Why the last change of a bond could not be saved; reported once.
    public func takeStoreError() -> BondStoreError? { bondKeeper.takeStoreError() }

    // MARK: Life

    /// Opens the transport and starts the engine on it.
    /// - Throws: the error of the transport; you can try again.
    public func open(_ handlers: Handlers) throws(TransportError) {
        let isFirst = self.handlers == nil
        self.handlers = handlers
        if isFirst {
            recorder?.began(hostConfiguration)
            if !bonds.isEmpty { _ = submit(.security(.restoreBonds(bonds))) }
        }
        try openTransport()
    }

    private func openTransport() throws(TransportError) {
        let opened = try configuration.open(address)
        recognizeController()
        if deadline == nil {
            deadline = loop.makeDeadline { [unowned self] in
                input(.advance) { $0.advance(to: $1) }
            }
        }
        transportGeneration += 1
        let generation = transportGeneration
        opened.prepared = { [unowned self] in
            guard generation == transportGeneration, transport != nil else { return }
            input(.transportOpened) { $0.transportOpened(at: $1) }
        }
        opened.packetsLost = { [unowned self] in
            guard generation == transportGeneration else { return }
            input(.packetsLost) { $0.packetsLost(at: $1) }
        }
        try opened.start(
            on: loop, receive: { packet in self.receive(packet) },
            closed: { error in self.transportClosed(error, generation: generation) })
        transport = opened
        if !opened.isPreparing { input(.transportOpened) { $0.transportOpened(at: $1) } }
    }

    /// What is known of a controller before it is opened.
    public struct Recognition {
        /// Distinguishes it from others.
        public var name: String
        /// How it names itself on USB.
        public var identity: ControllerIdentity?
        /// What was learned about it.
        public var experience: ControllerExperience

        public init(name: String, identity: ControllerIdentity?, experience: ControllerExperience) {
            (self.name, self.identity, self.experience) = (name, identity, experience)
        }
    }

    /// Says what is known of the controller at an address, where one may be replaced by another; `nil`: the configuration
    /// has it.
    public var recognize: ((TransportAddress) -> Recognition)?
    /// The controller of which the engine has what is known; set it to `nil` so that it is asked again.
    public var recognized: String?

    /// The engine keeps what it has learned of the same controller.
    private func recognizeController() {
        guard let recognition = recognize?(address), recognition.name != recognized else { return }
        recognized = recognition.name
        let (identity, experience) = (recognition.identity, recognition.experience)
        input(.expectController(identity, experience)) { host, _ in host.expectController(identity, experience) }
    }

    /// Closes the transport at once; `ended` follows. To leave the controller in order, submit `HostCommand.stop`
    /// first.
    public func close() {
        guard isReopening else {
            transport?.close()
            return
        }
        endSuspension(nil)
    }

    /// Releases the timer of the loop and the owner, after the end.
    public func shutDown() {
        deadline?.cancel()
        deadline = nil
        handlers = nil
    }

    /// Closes the transport and opens it again, as `HostEvent.reopenTransport` asks for.
    /// - Parameter resetsDevice: whether `AdapterConfiguration.resetDevice` is called in between.
    public func reopenTransport(resetsDevice: Bool = false) {
        suspendTransport()
        loop.runLater {
            // It may have been closed meanwhile.
            guard self.isReopening else { return }
            if resetsDevice { self.configuration.resetDevice?(self.address) }
            do throws(TransportError) { try self.resumeTransport() } catch { self.endSuspension(error) }
        }
    }

    /// Closes the transport until `resumeTransport` opens it again, such as after the device has been reset, without a
    /// call of `ended`. `close` or `endSuspension` ends it for good.
    public func suspendTransport() {
        let old = transport
        transport = nil
        if old != nil { input(.expectReset) { $0.expectReset(at: $1) } }
        input(.transportClosed) { $0.transportClosed(at: $1) }
        old?.close()
        isReopening = true
    }

    /// Opens the transport after `suspendTransport`, at the address that `address` has now.
    /// - Throws: the error of the transport; you can try again.
    public func resumeTransport() throws(TransportError) {
        guard isReopening else { return }
        isReopening = false
        do throws(TransportError) { try openTransport() } catch {
            isReopening = true
            throw error
        }
    }

    /// The transport cannot be opened after `suspendTransport`: `ended` follows.
    public func endSuspension(_ error: TransportError?) {
        guard isReopening else { return }
        isReopening = false
        pendingEnd = TransportEnd(error: error)
        settle()
    }

    /// Whether the transport waits for `resumeTransport`.
    public var isSuspended: Bool { isReopening }

    private func transportClosed(_ error: TransportError?, generation: Int) {
        guard transport != nil, generation == transportGeneration else { return }
        transport = nil
        pendingEnd = TransportEnd(error: error)
        input(.transportClosed) { $0.transportClosed(at: $1) }
    }

    // MARK: The engine

    /// Submits a command to the engine; call `settle` afterwards.
    public func submit(_ command: HostCommand, from client: ClientID = .local) -> OperationID {
        let now = now
        recorder?.observe(.command(command, client), at: now)
        return host.submit(command, from: client, at: now)
    }

    /// Names the user for whom a client works (`Host.setUser`).
    public func setUser(_ user: ClientUser?, of client: ClientID) {
        let now = now
        recorder?.observe(.user(user, client), at: now)
        host.setUser(user, of: client, at: now)
    }

    /// The engine's next event; `nil` if there is none. Changes of bonds were saved before; while a bond is being
    /// saved, there is no event.
    public func nextEvent() -> HostEvent? {
        let event = bondKeeper.nextEvent { host.nextEvent() }
        if bondKeeper.isKeeping, !awaitsStore { awaitStore() }
        return event
    }

    /// The store keeps this object meanwhile: a weak reference would make every other use of the object slower.
    private func awaitStore() {
        awaitsStore = true
        bondKeeper.onKept = {
            self.bondKeeper.onKept = {}
            self.awaitsStore = false
            self.settle()
        }
    }

    private func input(_ input: HostInput, _ apply: (inout Host, Instant) -> Void) {
        let now = now
        recorder?.observe(input, at: now)
        apply(&host, now)
        settle()
    }

    private func receive(_ packet: RawSpan) {
        let now = now
        tap?.observe(
            packet, direction: .controllerToHost, unixMicroseconds: EventLoop.unixMicroseconds)
        recorder?.observe(.packet(packet.copied()), at: now)
        host.receive(packet, at: now)
        // What the engine sends leaves at once, and what only the owner waits for can wait for the rest of a batch.
        if let count = gathered, count < Self.gatheredAtOnce, !host.asksOwner {
            gathered = count + 1
            return
        }
        gather()
        settle()
    }

    /// The first packet that the loop hands over is settled at once; those that follow it in the same turn together.
    private func gather() {
        defer { gathered = 0 }
        guard gathered == nil else { return }
        loop.runLater {
            let count = self.gathered.take() ?? 0
            if count > 0 { self.settle() }
        }
    }

    /// Carries out what the engine requests after an input.
    public func settle() {
        guard !isSettling else { return }
        isSettling = true
        if handlesEventsFirst { while handlers?.step() ?? false {} }
        flush()
        while handlers?.step() ?? false { flush() }
        isSettling = false
        if let next = host.nextDeadline {
            deadline?.set(atMicroseconds: UInt64(max(0, next.microseconds)))
        } else {
            deadline?.clear()
        }
        if !bondKeeper.isKeeping, let end = pendingEnd.take() { handlers?.ended(end.error) }
    }

    private func flush() {
        guard host.asksOwner else { return }
        let (transport, now) = (transport, now)
        answerCryptoRequests()
        host.drainPackets { packet in
            tap?.observe(packet, direction: .hostToController, unixMicroseconds: EventLoop.unixMicroseconds)
            recorder?.observeSent(packet, at: now)
            transport?.send(packet)
        }
    }

    private func answerCryptoRequests() {
        while let question = host.nextCryptoRequest() {
            let result = configuration.cryptoProvider?.answer(question.request) ?? .failure(.unavailable)
            let now = now
            recorder?.observe(.cryptoProvider(question.id, result), at: now)
            host.answer(question.id, with: result, at: now)
        }
    }
}
