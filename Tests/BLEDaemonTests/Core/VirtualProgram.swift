import BLEHost
import BLEMessages
import BLEPackets
import BLETransport
import TestSupport

@testable import BLEDaemon

/// A program that is connected to a `VirtualDaemon`, with the two buffers of its socket.
final class VirtualProgram {
    /// What the kernel has room for in each direction, in octets.
    static let buffer = 32_768

    private unowned let daemon: VirtualDaemon
    let id: ConnectionID
    let peer: PeerCredentials
    /// Whether it reads what it is sent, as soon as that comes.
    var reads = true { didSet { if reads { read() } } }
    /// Whether its messages are collected for the test.
    var collectsMessages = true
    /// Called with each message that it reads.
    var react: (FromDaemon) -> Void = { _ in }
    private(set) var messages: [FromDaemon] = []
    /// The ends of its operations.
    private(set) var ends: [UInt64: Result<HostResult, HostFailure>] = [:]
    private(set) var refusal: RefusalReason?
    private(set) var refusalText = ""
    /// Whether the daemon has ended the connection.
    private(set) var isClosed = false
    /// Whether it has closed its end.
    private(set) var hasLeft = false
    private var number: UInt64 = 0
    /// Octets for the daemon that it has not read.
    private var outgoing: ArraySlice<UInt8> = []
    /// Whether the daemon reads.
    var isRead = true
    private var frames = FrameReader(limit: BledProtocol.eventLimit)
    /// Octets for the program that it has not read.
    private var incoming: ArraySlice<UInt8> = []
    /// Octets that the daemon has sent.
    private var sent: UInt64 = 0
    private var wasFull = false

    init(_ daemon: VirtualDaemon, _ id: ConnectionID, _ peer: PeerCredentials) {
        self.daemon = daemon
        self.id = id
        self.peer = peer
    }

    // MARK: To the daemon

    /// Sends octets in one write, however many the kernel has room for.
    func send(octets: [UInt8]) {
        guard !hasLeft, !isClosed else { return }
        outgoing += octets
        daemon.settle()
    }

    /// Sends messages in one write.
    func send(_ messages: [FromClient]) { send(octets: messages.flatMap { $0.framed() }) }
    func send(_ message: FromClient) { send([message]) }

    @discardableResult
    func request(_ command: ToolCommand) -> UInt64 { request(all: [command]).last ?? 0 }

    @discardableResult
    func request(_ command: HostCommand) -> UInt64 { request(.host(command)) }

    /// Begins operations in one write.
    @discardableResult
    func request(all commands: [ToolCommand]) -> [UInt64] {
        let numbers = commands.indices.map { number + 1 + UInt64($0) }
        number += UInt64(commands.count)
        send(zip(numbers, commands).map { .request(ToolRequest(OperationID(rawValue: $0), $1)) })
        return numbers
    }

    /// How many octets that it sent wait in the kernel.
    var waitingOctets: Int { outgoing.count }
    /// Whether it could send no more.
    var isFull: Bool { outgoing.count >= Self.buffer }

    /// Gives the daemon the next octets.
    /// - Returns: whether there were any.
    func deliver() -> Bool {
        guard isRead, !isClosed, !outgoing.isEmpty else { return false }
        let part = Array(outgoing.prefix(65_536))
        outgoing = outgoing.dropFirst(part.count)
        daemon.input(.received(id, part))
        return true
    }

    /// Whether everything that it sent has been read, and it has closed its end.
    var isAtEnd: Bool { hasLeft && (outgoing.isEmpty || isClosed) }

    /// Closes its end.
    func leave() {
        guard !hasLeft else { return }
        hasLeft = true
        // The kernel drops what it has not read.
        if !incoming.isEmpty { consume(incoming.count, drops: true) }
        daemon.settle()
    }

    // MARK: From the daemon

    /// The daemon sends octets.
    func accept(_ octets: [UInt8]) {
        sent += UInt64(octets.count)
        guard !hasLeft else { return report() }
        incoming += octets
        if reads { consume(incoming.count) } else { report() }
    }

    /// It reads so many octets; `nil`: all of them.
    func read(_ count: Int? = nil) {
        consume(min(count ?? .max, incoming.count))
        daemon.settle()
    }

    private func consume(_ count: Int, drops: Bool = false) {
        let part = Array(incoming.prefix(count))
        incoming = incoming.dropFirst(count)
        report()
        if wasFull, refused == 0 || count > 0 {
            wasFull = refused > 0
            daemon.input(.flushed(id))
        }
        guard !drops else { return }
        frames.append(part.span.bytes)
        while let octets = try? frames.next() {
            guard let message = try? FromDaemon(octets: octets) else {
                refusalText = "a message that cannot be decoded"
                refusal = .protocol
                return
            }
            note(message)
        }
    }

    private var refused: Int { max(0, incoming.count - Self.buffer) }
    /// What the daemon has sent and the program has not read.
    var unread: Int { incoming.count }

    private func report() {
        if refused > 0 { wasFull = true }
        daemon.report(.wrote(id, taken: sent - UInt64(refused), refused: refused, waiting: refused))
    }

    private func note(_ message: FromDaemon) {
        switch message {
        case .completed(let operation, let result): ends[operation.rawValue] = result
        case .refusal(let reason, let text): (refusal, refusalText) = (reason, text)
        default: break
        }
        if collectsMessages { messages.append(message) }
        react(message)
    }

    func close() { isClosed = true }
    func forget() { messages = [] }

    // MARK: What it was sent

    /// The end of an operation, for which time passes.
    func end(of number: UInt64, within span: Microseconds = .seconds(60)) -> Result<HostResult, HostFailure>? {
        daemon.world.run(for: span) { ends[number] != nil || isClosed }
        return ends[number]
    }

    func end(of command: HostCommand) -> Result<HostResult, HostFailure>? { end(of: request(command)) }

    /// The reason for which a request is refused; `nil` if it is not.
    func failure(of command: HostCommand) -> HostFailure? {
        if case .failure(let failure)? = end(of: command) { failure } else { nil }
    }

    func publish(_ uuid: UInt16 = 0x180F, characteristics count: Int = 1) -> GATTPublishedService? {
        guard case .success(.published(let service))? = end(of: .server(.publish(.example(uuid, count)))) else {
            return nil
        }
        return service
    }

    func connect(_ peer: DeviceAddress) -> LinkID? {
        guard case .success(.connected(let link))? = end(of: .radio(.connect(ConnectRequest(peer: peer)))) else {
            return nil
        }
        return link
    }

    var isWelcome: Bool { messages.contains { if case .welcome = $0 { true } else { false } } }
    var events: [HostEvent] { messages.compactMap { if case .event(let event) = $0 { event } else { nil } } }
    var discoveries: [Discovery] {
        messages.compactMap { if case .discovered(let discovery, _) = $0 { discovery } else { nil } }
    }
    var answers: [OperatorAnswer] {
        messages.compactMap { if case .operatorAnswer(let answer) = $0 { answer } else { nil } }
    }
}

extension GATTServiceDefinition {
    /// A service with characteristics that can be read, written and subscribed to.
    static func example(_ uuid: UInt16 = 0x180F, _ count: Int = 1) -> GATTServiceDefinition {
        let characteristic = GATTCharacteristicDefinition(
            uuid: BluetoothUUID(0x2A19 as UInt16), properties: [.read, .write, .notify],
            permissions: [.readable, .writeable], value: nil)
        return GATTServiceDefinition(
            uuid: BluetoothUUID(uuid), characteristics: Array(repeating: characteristic, count: count))
    }
}
