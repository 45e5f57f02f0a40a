import BLEHost
import BLEPackets
import BLETransport

/// Runs an engine on a transport: packets and time go in, packets go out, events are told to its owner.
///
/// It belongs to its event loop: whoever owns it lives there, an actor with that loop as its executor as a rule. The
/// owner gives commands with `submit`, then calls `settle`, by which everything that follows from them is carried out.
/// Events are told one after another, never within one another: what an event's handler submits is carried out after it.
@_spi(HostRunner)
public final class HostRunner {
    /// What the runner tells its owner, on the loop.
    public struct Handlers {
        public var event: (HostEvent) -> Void
        /// The transport is gone, and nothing follows: with the cause, or with `nil` after `close()`.
        public var ended: (TransportError?) -> Void

        public init(event: @escaping (HostEvent) -> Void, ended: @escaping (TransportError?) -> Void) {
            self.event = event
            self.ended = ended
        }
    }

    public let address: TransportAddress
    public let loop: EventLoop
    private let configuration: AdapterConfiguration
    private var host: Host
    private var handlers: Handlers?
    private var transport: (any HCITransport)?
    /// Tells a transport from the one that took its place: the end of the old one may be told late.
    private var transportGeneration = 0
    private var deadline: EventLoop.Deadline?
    private var isSettling = false

    public init(_ address: TransportAddress, configuration: AdapterConfiguration, loop: EventLoop) {
        self.address = address
        self.configuration = configuration
        self.loop = loop
        host = Host(configuration: configuration.host(for: address))
    }

    /// What the controller said of itself.
    public var information: ControllerInformation { host.controllerInformation }
    /// What the engine met and survived.
    public var counters: HostCounters { host.counters }
    /// Whether a transport is open.
    public var isOpen: Bool { transport != nil }
    /// The engine's clock.
    public var now: Instant { Instant(microseconds: Int64(loop.nowMicroseconds)) }

    // MARK: Life

    /// Opens the transport and starts the controller behind it; `HostEvent.ready` follows.
    /// - Throws: why the transport could not be opened; it may be tried again.
    public func open(_ handlers: Handlers) throws(TransportError) {
        if self.handlers == nil { configuration.recorder?.began(configuration.host(for: address)) }
        self.handlers = handlers
        try openTransport()
    }

    private func openTransport() throws(TransportError) {
        let opened = try configuration.open(address)
        if deadline == nil { deadline = loop.makeDeadline { self.input(.advance) } }
        transportGeneration += 1
        let generation = transportGeneration
        try opened.start(
            on: loop, receive: { packet in self.receive(packet) },
            closed: { error in self.transportClosed(error, generation: generation) })
        transport = opened
        input(.transportOpened)
    }

    /// Closes the transport at once: `ended` follows. An engine that is to hand the controller back in order gets
    /// `HostCommand.stop` before.
    public func close() { transport?.close() }

    /// Lets go of the loop's timer, after the end.
    public func shutDown() {
        deadline?.cancel()
        deadline = nil
        handlers = nil
    }

    private func reopenTransport() {
        let old = transport
        transport = nil
        input(.transportClosed)
        old?.close()
        loop.runLater {
            do throws(TransportError) { try self.openTransport() } catch { self.handlers?.ended(error) }
        }
    }

    private func transportClosed(_ error: TransportError?, generation: Int) {
        guard transport != nil, generation == transportGeneration else { return }
        transport = nil
        input(.transportClosed)
        handlers?.ended(error)
    }

    // MARK: The engine

    /// Gives a command to the engine; `settle` is to follow.
    public func submit(_ command: HostCommand, from client: ClientID = .local) -> OperationID {
        let now = now
        configuration.recorder?.observe(.command(command, client), at: now)
        return host.submit(command, from: client, at: now)
    }

    private func input(_ input: HostInput) {
        let now = now
        configuration.recorder?.observe(input, at: now)
        host.apply(input, at: now)
        settle()
    }

    private func receive(_ packet: RawSpan) {
        let now = now
        configuration.tap?.observe(
            packet, direction: .controllerToHost, unixMicroseconds: EventLoop.unixMicroseconds)
        configuration.recorder?.observe(.packet(packet.copied()), at: now)
        host.receive(packet, at: now)
        settle()
    }

    /// Carries out what the engine wants after an input.
    public func settle() {
        guard !isSettling else { return }
        isSettling = true
        flush()
        while let event = host.nextEvent() {
            if event == .reopenTransport { reopenTransport() }
            handlers?.event(event)
            flush()
        }
        isSettling = false
        if let next = host.nextDeadline {
            deadline?.set(atMicroseconds: UInt64(max(0, next.microseconds)))
        } else {
            deadline?.clear()
        }
    }

    private func flush() {
        let transport = transport
        let configuration = configuration
        let now = now
        answerToolboxQuestions()
        host.drainPackets { packet in
            configuration.tap?.observe(
                packet, direction: .hostToController, unixMicroseconds: EventLoop.unixMicroseconds)
            configuration.recorder?.observeSent(packet, at: now)
            transport?.send(packet)
        }
    }

    private func answerToolboxQuestions() {
        while let question = host.nextToolboxQuestion() {
            let result = configuration.toolbox?.answer(question.request) ?? .failure(.unavailable)
            let now = now
            configuration.recorder?.observe(.toolbox(question.id, result), at: now)
            host.answer(question.id, with: result, at: now)
        }
    }
}
