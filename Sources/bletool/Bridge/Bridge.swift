import BLE
import BLEJSON
import Glibc
import Synchronization

/// Gives a controller to one client at a time, as H4 over a stream. Used on its loop only, but for `run` and `stop`.
final class Bridge: @unchecked Sendable {
    // @unchecked Sendable is safe because everything that changes is used on the loop's thread, or by `run` before that
    // thread starts; `end` has a lock.

    typealias Open = @Sendable (TransportAddress) throws(TransportError) -> sending any HCITransport

    /// A client that does not read loses reports of advertising first, and at 1 MiB (`ByteStream`) it is ended.
    private static let reportLimit = 128 * 1024
    /// The pause between two lines on refused clients, in microseconds: every user of the machine may try without end.
    private static let refusalPause: UInt64 = 1_000_000
    /// So many are accepted before other work of the loop gets its turn.
    private static let acceptLimit = 64

    /// A line of the log. A task of its own writes it: a slow reader of the log must not delay clients.
    private enum Word: Sendable {
        case event(JSONValue, text: String)
        case note(String)
    }

    private let console: Console
    private let transportAddress: TransportAddress
    private let open: Open
    private let door: Door
    private let address: ListenAddress
    private let capture: CaptureTap?
    private let loop: EventLoop
    private var transport: (any HCITransport)?
    private var registration: EventLoop.Registration?
    private var deadline: EventLoop.Deadline?
    private var state = BridgeState()
    private var client: Client?
    private var isStopping = false
    private var lastRefusal: UInt64?
    private var untoldRefusals = 0
    private let words: AsyncStream<Word>
    private let say: AsyncStream<Word>.Continuation
    private var hasEnded = false
    private let end = Mutex<(continuation: CheckedContinuation<Void, Never>?, isOver: Bool)>((nil, false))

    private enum Door {
        case network(TCPListener)
        case unix(UnixListener)

        var descriptor: Int32 {
            switch self {
            case .network(let listener): listener.descriptor
            case .unix(let listener): listener.descriptor
            }
        }
    }

    private final class Client {
        let stream: ByteStream
        let name: String
        var framer = LineFramer(line: .exact)
        var isServed = false
        var toController = 0
        var toHost = 0
        var droppedReports = 0

        init(_ stream: ByteStream, name: String) {
            self.stream = stream
            self.name = name
        }
    }

    /// - Throws: `Failure` if the controller cannot be opened, or the address not be used.
    init(
        _ transportAddress: TransportAddress, on address: ListenAddress, console: Console, capture: CaptureTap?,
        open: @escaping Open
    ) throws {
        self.console = console
        self.transportAddress = transportAddress
        self.open = open
        self.capture = capture
        (words, say) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
        do throws(TransportError) {
            switch address.place {
            case .network(let host, let port):
                let listener = try TCPListener(host: host, port: port)
                // Many who try at once must not keep the one away who is let in.
                _ = Glibc.listen(listener.descriptor, 128)
                door = .network(listener)
                self.address = ListenAddress(.network(host: host, port: listener.port))
            case .unix(let path):
                door = .unix(try UnixListener(path: path))
                self.address = address
            }
        } catch { throw Failure.notListening(on: address, error) }
        do throws(TransportError) {
            loop = try EventLoop(name: "bridge")
            transport = try open(transportAddress)
        } catch { throw Failure.notOpened(error) }
    }

    /// Works until `stop`.
    func run() async throws {
        do throws(TransportError) {
            deadline = loop.makeDeadline { [unowned self] in
                state.advance(to: loop.nowMicroseconds)
                settle()
            }
            registration = try loop.register(door.descriptor, for: .readable) { [unowned self] _ in accept() }
            try startTransport()
            settle()
            try loop.start()
        } catch { throw Failure.notOpened(error) }
        console.print(
            [
                "event": "bridgeReady", "listen": .string(address.description),
                "transport": .string(transportAddress.description),
            ], text: "\(transportAddress) is at \(address)")
        let (console, words) = (console, words)
        let speaker = Task {
            for await word in words {
                switch word {
                case .event(let object, let text): console.print(object, text: text)
                case .note(let text): console.note(text)
                }
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = end.withLock { end in
                    end.continuation = continuation
                    return end.isOver
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            loop.run { self.stop() }
        }
        loop.stop()
        await loop.waitUntilStopped()
        say.finish()
        await speaker.value
    }

    // MARK: The controller

    private func startTransport() throws(TransportError) {
        guard let transport else { return }
        transport.prepared = { [unowned self] in begin() }
        transport.packetsLost = { [unowned self] in
            state.lost("packets of the controller were lost")
            begin()
        }
        let started = ObjectIdentifier(transport)
        try transport.start(
            on: loop,
            receive: { [unowned self] packet in receiveFromController(packet) },
            closed: { [unowned self] error in
                guard let current = self.transport, ObjectIdentifier(current) == started else { return }
                self.transport = nil
                let reason = error.map(\.description) ?? "the controller was closed"
                if !isStopping { say.yield(.note("\(transportAddress): \(reason)")) }
                state.lost(reason)
                settle()
            })
        if !transport.isPreparing { begin() }
    }

    private func begin() {
        state.opened(at: loop.nowMicroseconds)
        settle()
    }

    private func send(_ packet: RawSpan) {
        capture?.observe(packet, direction: .hostToController, unixMicroseconds: UInt64(clamping: Timestamp.now))
        transport?.send(packet)
    }

    private func receiveFromController(_ packet: RawSpan) {
        capture?.observe(packet, direction: .controllerToHost, unixMicroseconds: UInt64(clamping: Timestamp.now))
        if state.receiveFromController(packet, at: loop.nowMicroseconds), let client, client.isServed {
            if client.stream.waitingByteCount > Self.reportLimit, BridgeState.isReport(packet) {
                client.droppedReports += 1
            } else {
                client.toHost += 1
                client.stream.send(packet)
            }
        }
        settle()
    }

    /// Opens the controller again, for the client that waits.
    private func reopen() {
        do throws(TransportError) {
            transport = try open(transportAddress)
            try startTransport()
        } catch {
            transport = nil
            state.lost("the controller cannot be opened: \(error)")
        }
    }

    // MARK: Clients

    private func accept() {
        for _ in 0..<Self.acceptLimit {
            let descriptor: Int32?
            switch door {
            case .network(let listener): descriptor = listener.accept()
            case .unix(let listener): descriptor = try? listener.accept()?.descriptor
            }
            guard let descriptor else { return }
            accept(descriptor)
        }
    }

    private func refuse(_ descriptor: Int32) {
        let now = loop.nowMicroseconds
        if let lastRefusal, now < lastRefusal + Self.refusalPause {
            untoldRefusals += 1
        } else {
            let reason = client.map { "\($0.name) uses the controller" } ?? "the bridge ends"
            report("refused", Self.name(of: descriptor), reason: reason, others: untoldRefusals)
            (lastRefusal, untoldRefusals) = (now, 0)
        }
        Glibc.close(descriptor)
    }

    private func accept(_ descriptor: Int32) {
        guard !isStopping, state.clientArrived(at: loop.nowMicroseconds) else { return refuse(descriptor) }
        let name = Self.name(of: descriptor)
        let client = Client(ByteStream(descriptor: descriptor), name: name)
        self.client = client
        do throws(TransportError) {
            try client.stream.start(
                on: loop, receive: { [unowned self] octets in receive(octets, from: client) },
                closed: { [unowned self] error in
                    let isGone = error == nil || error == .closedByPeer
                    left(client, isGone ? "it closed the connection" : error?.description ?? "")
                })
            client.stream.isReading = false
        } catch {
            self.client = nil
            state.clientLeft(at: loop.nowMicroseconds)
            return
        }
        if state.phase == .failed { reopen() }
        settle()
    }

    private func receive(_ octets: RawSpan, from client: Client) {
        guard client === self.client, client.isServed else { return }
        do throws(TransportError) {
            _ = try client.framer.receive(
                octets, at: loop.nowMicroseconds,
                deliver: { packet in
                    guard client === self.client, state.receiveFromClient(packet, at: loop.nowMicroseconds) else {
                        return
                    }
                    client.toController += 1
                    send(packet)
                }, reply: { _ in })
        } catch {
            end("what it sends is not H4: \(error)")
        }
        settle()
    }

    /// Ends the client.
    private func end(_ reason: String) {
        guard let client else { return }
        left(client, reason)
        client.stream.close()
    }

    private func left(_ client: Client, _ reason: String) {
        guard client === self.client else { return }
        self.client = nil
        let counts: JSONValue = [
            "toController": JSONValue(client.toController), "toHost": JSONValue(client.toHost),
            "droppedReports": JSONValue(client.droppedReports),
        ]
        report("ended", client.name, reason: reason, counts)
        state.clientLeft(at: loop.nowMicroseconds)
        settle()
    }

    /// - Parameter others: how many more were refused since the last time.
    private func report(
        _ what: String, _ name: String, reason: String? = nil, _ counts: JSONValue? = nil, others: Int = 0
    ) {
        var object: JSONValue = [
            "event": "bridgeClient", "state": .string(what), "client": .string(name), "reason": JSONValue(reason),
        ]
        if let counts { object = object.adding("packets", counts) }
        if others > 0 { object = object.adding("others", JSONValue(others)) }
        let text = "\(name) \(what)" + (reason.map { ": \($0)" } ?? "") + (others > 0 ? ", and \(others) others" : "")
        say.yield(.event(object, text: text))
    }

    private static func name(of descriptor: Int32) -> String {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var (host, port) = ([CChar](repeating: 0, count: 64), [CChar](repeating: 0, count: 16))
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                guard unsafe getpeername(descriptor, address, &length) == 0 else { return Int32(-1) }
                return unsafe getnameinfo(
                    address, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
                    NI_NUMERICHOST | NI_NUMERICSERV)
            }
        }
        func text(_ characters: [CChar]) -> String {
            String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        guard result == 0, address.ss_family != sa_family_t(AF_UNIX) else { return "a program of this machine" }
        return text(host).contains(":") ? "[\(text(host))]:\(text(port))" : "\(text(host)):\(text(port))"
    }

    // MARK: The end

    private func stop() {
        isStopping = true
        end("the bridge ends")
        settle()
    }

    /// Does what the state asks for.
    private func settle() {
        for action in state.takeActions() {
            switch action {
            case .send(let packet): send(packet.span.bytes)
            case .serve:
                client?.isServed = true
                if let client { report("connected", client.name) }
            case .end(let reason): end(reason)
            case .giveUp(let reason):
                say.yield(.note("\(transportAddress): \(reason)"))
                let old = transport
                transport = nil
                old?.close()
            }
        }
        client?.stream.isReading = state.mayRead
        if let next = state.deadline { deadline?.set(atMicroseconds: next) } else { deadline?.clear() }
        guard isStopping, !hasEnded, state.phase == .ready || state.phase == .failed else { return }
        hasEnded = true
        registration?.cancel()
        let old = transport
        transport = nil
        old?.close()
        if case .unix(let listener) = door { listener.close() }
        let continuation = end.withLock { end in
            end.isOver = true
            defer { end.continuation = nil }
            return end.continuation
        }
        continuation?.resume()
    }
}
