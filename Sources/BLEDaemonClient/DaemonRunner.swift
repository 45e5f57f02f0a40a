@_spi(HostRunner) import BLE
import BLEDaemonProtocol
import BLEHost
import BLEPackets
import BLETransport

/// The engine of a daemon as a client uses it: commands go through the socket, and events come back.
///
/// A command that this version of the protocol does not carry fails with
/// `HostFailure.InvalidRequest.notAvailableOnSharedController`.
final class DaemonRunner: EngineRunner {
    private let address: TransportAddress
    private let pairing: PairingOptions
    private let loop: EventLoop
    private var stream: ByteStream?
    private var handlers: HostRunner.Handlers?
    private var frames = FrameReader(limit: BledProtocol.eventLimit)
    private var events = Queue<HostEvent>()
    private var lastOperation: UInt64 = 0
    private var isSettling = false
    private var hasBegun = false
    /// The end of the connection, while earlier events still wait.
    private var end: TransportError??
    /// The reason that the daemon gave if it ended the connection.
    private var reason: TransportError?

    private(set) var information = ControllerInformation()
    private(set) var counters = HostCounters()
    /// Always empty: the daemon keeps the bonds.
    let bonds: [Bond] = []
    let identityResolvingKey: Key128? = nil

    /// - Parameter pairing: the options for commands without their own.
    init(_ address: TransportAddress, pairing: PairingOptions, loop: EventLoop) {
        self.address = address
        self.pairing = pairing
        self.loop = loop
    }

    var isOpen: Bool { stream != nil || end != nil }

    // MARK: Life

    func open(_ handlers: HostRunner.Handlers) throws(TransportError) {
        self.handlers = handlers
        let stream: ByteStream
        do throws(TransportError) {
            stream = try ByteStream.connect(unixPath: DaemonClient.socketPath(of: address))
        } catch {
            switch error {
            case .connectionRefused, .pathNotFound: throw .noDaemon(path: DaemonClient.socketPath(of: address))
            default: throw error
            }
        }
        try stream.start(
            on: loop, receive: { [unowned self] in receive($0) }, closed: { [unowned self] in streamEnded($0) })
        self.stream = stream
        var greeting = WireFromClient()
        greeting.hello.version = BledProtocol.version
        greeting.hello.session = .tool
        send(greeting)
    }

    func close() { stream?.close() }

    func shutDown() { handlers = nil }

    /// Does nothing: the daemon reopens its own transport.
    func reopenTransport() {}

    func takeStoreError() -> BondStoreError? { nil }

    private func streamEnded(_ error: TransportError?) {
        stream = nil
        end = .some(reason ?? error)
        settle()
    }

    // MARK: Commands

    func submit(_ command: HostCommand, from client: ClientID) -> OperationID {
        lastOperation += 1
        let operation = OperationID(rawValue: lastOperation)
        if command == .stop {
            // The daemon continues; this client's operations end with its connection.
            events.append(.completed(operation, .success(.done)))
        } else if hasBegun, let request = WireRequest(withOptions(command), operation: operation) {
            var message = WireFromClient()
            message.request = request
            send(message)
        } else {
            let failure: HostFailure =
                hasBegun ? .invalidRequest(.notAvailableOnSharedController) : .controllerLost
            events.append(.completed(operation, .failure(failure)))
        }
        return operation
    }

    private func withOptions(_ command: HostCommand) -> HostCommand {
        if case .security(.pair(let link, nil)) = command { .security(.pair(link, pairing)) } else { command }
    }

    private func send(_ message: WireFromClient) { stream?.send(message.framed().span.bytes) }

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
        do throws(WireError) {
            while let octets = try frames.next() { try take(try WireFromDaemon(octets: octets)) }
        } catch {
            reason = .daemonEnded(reason: "it speaks another protocol: \(error)")
            close()
        }
        settle()
    }

    private func take(_ message: WireFromDaemon) throws(WireError) {
        // A newer daemon may send messages that this version does not know.
        guard let content = message.message else { return }
        switch content {
        case .welcome(let welcome):
            information = try ControllerInformation(welcome.controller)
            hasBegun = true
            events.append(.ready(information))
        case .refusal(let refusal): reason = .daemonEnded(reason: refusal.text)
        case .lost(let lost): reason = .daemonEnded(reason: "its controller is lost: \(lost.text)")
        case .discovered(let discovery):
            counters.advertisingReports += 1 + UInt64(discovery.lost)
            try append(content)
        case .ready(let controller):
            information = try ControllerInformation(controller)
            try append(content)
        case .completed, .connected, .disconnected, .notification, .mtuChanged, .subscriptionsForgotten, .writeRoom,
            .recovering, .pairing, .encryptionChanged:
            try append(content)
        // Messages for apps and operators.
        case .appWelcome, .appEvent, .appTaken, .appNotice, .appPairing, .operatorAnswer: break
        }
    }

    private func append(_ content: WireFromDaemon.OneOf_Message) throws(WireError) {
        if let event = try HostEvent(content, for: .local) { events.append(event) }
    }
}
