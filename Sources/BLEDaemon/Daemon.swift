@_spi(HostRunner) import BLE
import BLEDaemonProtocol
import BLEHost
import BLEPackets
import BLETransport
import Glibc

/// One controller and the programs that share it through a Unix socket. Lives on its loop's thread.
public final class Daemon {
    /// How a daemon is made.
    public struct Configuration {
        /// The way to the controller.
        public var transport: TransportAddress
        /// How the engine behaves.
        public var adapter: AdapterConfiguration
        /// Where programs connect.
        public var socketPath: String
        /// Of the socket file.
        public var socketMode: UInt32 = 0o600
        /// Who may connect, besides root.
        public var users: Set<UInt32>
        /// What each client may have.
        public var limits = ClientLimits()
        /// Gets lines for people.
        public var log: (String) -> Void = { _ in }

        public init(
            transport: TransportAddress, adapter: AdapterConfiguration, socketPath: String, users: Set<UInt32>
        ) {
            self.transport = transport
            self.adapter = adapter
            self.socketPath = socketPath
            self.users = users
        }
    }

    /// A program that has connected.
    private final class Client {
        let stream: ByteStream
        let peer: PeerCredentials
        var session: ToolSession
        /// By when it has to greet.
        let greetingDeadline: UInt64

        init(_ stream: ByteStream, _ peer: PeerCredentials, _ session: ToolSession, greetingDeadline: UInt64) {
            self.stream = stream
            self.peer = peer
            self.session = session
            self.greetingDeadline = greetingDeadline
        }
    }

    private let configuration: Configuration
    private let loop: EventLoop
    private let listener: UnixListener
    private var registration: EventLoop.Registration?
    private let runner: HostRunner
    /// In the order in which they came.
    private var clients: [Client] = []
    private var lastClient: UInt32 = 0
    private var isReady = false
    private var isStopping = false
    private var deadline: EventLoop.Deadline?
    private var reopening: EventLoop.Deadline?
    private var accepting: EventLoop.Deadline?
    /// Called once, when the controller has been handed back.
    public var onStopped: () -> Void = {}

    /// How long it takes until a controller that is gone is looked for again.
    private static let reopenMicroseconds: UInt64 = 5_000_000
    /// How long it takes until clients are accepted again after descriptors ran out.
    private static let acceptPauseMicroseconds: UInt64 = 1_000_000

    /// Listens and opens the controller. To be called on the loop, or before it starts.
    /// - Throws: what keeps it from listening, or from reading bonds; a controller that cannot be opened is tried again.
    public init(_ configuration: Configuration, on loop: EventLoop) throws {
        self.configuration = configuration
        self.loop = loop
        runner = try HostRunner(configuration.transport, configuration: configuration.adapter, loop: loop)
        listener = try UnixListener(path: configuration.socketPath, mode: configuration.socketMode)
        registration = try loop.register(listener.descriptor, for: .readable) { [unowned self] _ in accept() }
        deadline = loop.makeDeadline { [unowned self] in endSilentClients() }
        reopening = loop.makeDeadline { [unowned self] in openController() }
        accepting = loop.makeDeadline { [unowned self] in registration?.setInterest(.readable) }
        openController()
    }

    // MARK: The controller

    private func openController() {
        do throws(TransportError) {
            try runner.open(
                .init(step: { [unowned self] in step() }, ended: { [unowned self] in controllerEnded($0) }))
        } catch {
            controllerIsLost("\(error)")
        }
    }

    private func controllerEnded(_ error: TransportError?) {
        guard !isStopping else { return finish() }
        controllerIsLost(error.map { "\($0)" } ?? "the controller was closed")
    }

    private func controllerIsLost(_ reason: String) {
        isReady = false
        configuration.log("no controller: \(reason)")
        for client in clients {
            client.session.controllerIsLost(reason)
            carryOut(client)
        }
        reopening?.set(atMicroseconds: loop.nowMicroseconds + Self.reopenMicroseconds)
    }

    /// Hands the controller back and ends all connections; `onStopped` follows.
    public func stop() {
        guard !isStopping else { return }
        isStopping = true
        registration?.cancel()
        listener.close()
        for client in clients { client.stream.close() }
        guard runner.isOpen else { return finish() }
        _ = runner.submit(.stop)
        runner.settle()
    }

    private func finish() {
        deadline?.cancel()
        reopening?.cancel()
        accepting?.cancel()
        runner.shutDown()
        onStopped()
    }

    private func step() -> Bool {
        guard let event = runner.nextEvent() else { return false }
        switch event {
        case .reopenTransport: runner.reopenTransport()
        case .ready: isReady = true
        case .failed(let failure): configuration.log("the controller failed: \(failure)")
        case .connected(let link, let client) where !clients.contains(where: { $0.session.client == client }):
            // It left while the link came up.
            _ = runner.submit(.link(link.id, .disconnect), from: client)
        case .stopped: if isStopping { runner.close() }
        case .bondChanged, .bondRemoved:
            if let error = runner.takeStoreError() { configuration.log("a bond could not be saved: \(error)") }
        case .pairing(let link, .question(let question)) where !clients.contains(where: { $0.session.isPairing(link) }):
            // Nobody has begun it, so there is nobody to ask.
            _ = runner.submit(.security(.answerPairing(question.id, .cancel)))
        case .pairing, .recovering, .discovered, .completed, .connected, .disconnected, .gatt, .advertisingChanged,
            .centralConnected, .centralDisconnected, .server, .encryptionChanged, .cleartextRefused, .channel,
            .connectionParametersChanged, .phyChanged, .dataLengthChanged, .identityFound, .ambiguousIdentity,
            .malformedPacket:
            break
        }
        for client in clients {
            client.session.hear(event, waiting: client.stream.waitingByteCount)
            carryOut(client)
        }
        if case .failed(let failure) = event { fail(failure) }
        return true
    }

    /// The controller could not be brought back: it is closed, and looked for again.
    private func fail(_ failure: HostFailure) {
        guard !isStopping else { return }
        runner.close()
    }

    // MARK: Clients

    private func accept() {
        do throws(TransportError) {
            // A crowd at the door gets its turns among other work.
            for _ in 0..<16 {
                guard let (descriptor, peer) = try listener.accept() else { return }
                begin(ByteStream(descriptor: descriptor), peer)
            }
        } catch {
            // The socket stays readable: to try again at once would be to spin.
            configuration.log("no more clients for now: \(error)")
            registration?.setInterest([])
            accepting?.set(atMicroseconds: loop.nowMicroseconds + Self.acceptPauseMicroseconds)
        }
    }

    private func begin(_ stream: ByteStream, _ peer: PeerCredentials) {
        lastClient &+= 1
        // The engine's own number is 0.
        if lastClient == 0 { lastClient = 1 }
        let limits = configuration.limits
        let client = Client(
            stream, peer,
            ToolSession(
                client: ClientID(rawValue: lastClient), isOperator: peer.user == 0 || peer.user == geteuid(),
                limits: limits),
            greetingDeadline: loop.nowMicroseconds + UInt64(limits.greetingMicroseconds))
        do throws(TransportError) {
            try stream.start(
                on: loop,
                receive: { [weak self, weak client] bytes in
                    guard let self, let client else { return }
                    client.session.receive(bytes)
                    greeted(client)
                },
                closed: { [weak self, weak client] _ in
                    if let self, let client { left(client) }
                })
        } catch {
            return configuration.log("a client could not be served: \(error)")
        }
        let ofUser = clients.count { $0.peer.user == peer.user }
        clients.append(client)
        if peer.user != 0, !configuration.users.contains(peer.user) {
            configuration.log("user \(peer.user) (process \(peer.process)) may not connect")
            client.session.refuse(.notAllowed, "user \(peer.user) may not use this daemon")
        } else if clients.count > limits.clients || ofUser >= limits.clientsOfUser {
            client.session.refuse(.tooManyClients, "too many programs are connected")
        } else {
            armGreetings()
        }
        carryOut(client)
        runner.settle()
    }

    private func greeted(_ client: Client) {
        carryOut(client)
        if isReady {
            client.session.beginIfWaiting(runner.information)
            carryOut(client)
        }
        runner.settle()
    }

    private func left(_ client: Client) {
        guard let place = clients.firstIndex(where: { $0 === client }) else { return }
        clients.remove(at: place)
        for command in client.session.left() { _ = runner.submit(command, from: client.session.client) }
        runner.settle()
    }

    /// Does what a session wants; the engine's answers come later.
    private func carryOut(_ client: Client) {
        while let output = client.session.nextOutput() {
            switch output {
            case .submit(let command, let number):
                let operation = runner.submit(command, from: client.session.client)
                client.session.submitted(number, as: operation)
            case .send(let message): client.stream.send(message.framed().span.bytes)
            case .close: client.stream.close()
            }
        }
    }

    private func armGreetings() {
        if let next = clients.lazy.filter({ !$0.session.hasGreeted && !$0.session.hasEnded }).map(\.greetingDeadline)
            .min()
        {
            deadline?.set(atMicroseconds: next)
        } else {
            deadline?.clear()
        }
    }

    private func endSilentClients() {
        let now = loop.nowMicroseconds
        for client in clients where !client.session.hasGreeted && client.greetingDeadline <= now {
            client.session.refuse(.silent, "nothing was said in time")
            carryOut(client)
        }
        armGreetings()
    }
}
