@_spi(HostRunner) import BLE
import BLEDaemonProtocol
import BLEHost
import BLEPackets
import BLETransport
import Glibc

/// Connections of programs: accepting, reading and ending them.
extension Daemon {
    /// The pause before the daemon accepts programs again after descriptors ran out.
    private static let acceptPauseMicroseconds: UInt64 = 1_000_000

    func accept() {
        do throws(TransportError) {
            // Many programs that connect at once must not hold up other work.
            for _ in 0..<16 {
                guard let (descriptor, peer) = try listener.accept() else { return }
                begin(ByteStream(descriptor: descriptor), peer)
            }
        } catch {
            // The socket stays readable, so trying again at once would be a busy loop.
            configuration.log("no more clients for now: \(error)")
            registration?.setInterest([])
            accepting?.set(atMicroseconds: loop.nowMicroseconds + Self.acceptPauseMicroseconds)
        }
    }

    private func begin(_ stream: ByteStream, _ peer: PeerCredentials) {
        lastTool = lastTool >= .max - 1 ? 0x8000_0000 : lastTool + 1
        let limits = configuration.limits
        let isOperator = peer.user == 0 || peer.user == geteuid()
        let isAllowed = peer.user == 0 || configuration.users.contains(peer.user)
        let connection = Connection(
            stream, peer, isOperator: isOperator, isOfAllowedUser: isAllowed,
            ToolSession(
                client: ClientID(rawValue: lastTool), isOperator: isOperator, mayBeTool: isAllowed, limits: limits),
            greetingDeadline: loop.nowMicroseconds + UInt64(limits.greetingMicroseconds))
        do throws(TransportError) {
            try stream.start(
                on: loop,
                receive: { [weak self, weak connection] bytes in
                    guard let self, let connection else { return }
                    connection.receive(bytes)
                    look(at: connection)
                    pump()
                },
                closed: { [weak self, weak connection] _ in
                    if let self, let connection { left(connection) }
                })
        } catch {
            return configuration.log("a client could not be served: \(error)")
        }
        let ofUser = connections.count { $0.peer.user == peer.user }
        connections.append(connection)
        if !isAllowed, !installed.users.contains(peer.user) {
            configuration.log("user \(peer.user) (process \(peer.process)) may not connect")
            connection.tool.refuse(.notAllowed, "user \(peer.user) may not use this daemon")
        } else if connections.count > limits.clients || ofUser >= limits.clientsOfUser {
            connection.tool.refuse(.tooManyClients, "too many programs are connected")
        } else {
            armGreetings()
        }
        look(at: connection)
        pump()
    }

    /// The program has disconnected: its operations end, except for the preserved state of an app.
    func left(_ connection: Connection) {
        guard let place = connections.firstIndex(where: { $0 === connection }) else { return }
        connections.remove(at: place)
        for command in connection.tool.left() { _ = runner.submit(command, from: connection.tool.client) }
        if let app = connection.appID { ended(app, connection) }
        pump()
    }

    /// Carries out a program's requests, and sends it all its messages together.
    func carryOut(_ connection: Connection) {
        var octets: [UInt8] = []
        var isClosing = false
        while let output = connection.tool.nextOutput() {
            switch output {
            case .submit(let command, let number):
                connection.tool.submitted(number, as: runner.submit(command, from: connection.tool.client))
            case .send(let message): octets += message.framed()
            case .isApp(let hello, let frames): begin(connection, as: hello, frames)
            case .isOperator(let frames):
                connection.operating = OperatorSession(frames: frames)
                octets += WireFromDaemon.with { $0.welcome.version = BledProtocol.version }.framed()
            case .close: isClosing = true
            }
        }
        if isReady, connection.isTool, connection.tool.beginIfWaiting(runner.information) {
            while case .send(let message)? = connection.tool.nextOutput() { octets += message.framed() }
            look(at: connection)
        }
        do throws(WireError) {
            while let request = try connection.operating?.next() {
                let answer = answer(request)
                octets += WireFromDaemon.with { $0.operatorAnswer = answer }.framed()
                drain()
            }
        } catch {
            isClosing = true
        }
        while let output = connection.app?.nextOutput() {
            switch output {
            case .send(let message): octets += message.framed()
            case .close: isClosing = true
            case .request, .returned, .move, .pairing, .answer: carryOut(output, connection)
            }
        }
        if !octets.isEmpty { connection.stream.send(octets.span.bytes) }
        if isClosing { connection.stream.close() }
    }

    func armGreetings() {
        let silent = connections.lazy.filter { !$0.tool.hasGreeted && !$0.tool.hasEnded }
        if let next = silent.map(\.greetingDeadline).min() {
            greetings?.set(atMicroseconds: next)
        } else {
            greetings?.clear()
        }
    }

    func endSilentClients() {
        let now = loop.nowMicroseconds
        for connection in connections where !connection.tool.hasGreeted && connection.greetingDeadline <= now {
            connection.tool.refuse(.silent, "nothing was said in time")
            look(at: connection)
        }
        armGreetings()
        pump()
    }
}
