@_spi(HostRunner) import BLE
import BLEHost
import BLEMessages
import BLEPackets
import BLETransport
import Glibc

/// Connections of programs: accepting, reading and ending them.
extension Daemon {
    /// The pause before the daemon accepts programs again after descriptors ran out, in microseconds.
    private static let acceptPauseMicroseconds: UInt64 = 1_000_000

    /// Makes the folder of a socket if only that is missing, so that every user can reach what is in it.
    public static func makeFolder(ofSocket path: String) {
        guard !path.hasPrefix("@"), let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
        let folder = String(path[..<slash])
        guard unsafe mkdir(folder, 0o755) == 0 else { return }
        // The mask of the process does not count; nor does what somebody has put in place of the folder since.
        let made = unsafe Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard made >= 0 else { return }
        defer { Glibc.close(made) }
        var information = stat()
        if unsafe fstat(made, &information) == 0, information.st_uid == geteuid() { _ = fchmod(made, 0o755) }
    }

    static func listen(_ configuration: Configuration) throws -> UnixListener {
        do throws(TransportError) {
            return try UnixListener(path: configuration.socketPath, mode: configuration.socketMode)
        } catch {
            let remedy =
                switch error {
                case .system(_, ENOENT): "make its folder, or name another path with ‘--socket’"
                case .system(_, EADDRINUSE):
                    "another program listens there; end it, or name another path with ‘--socket’"
                default: "name another path with ‘--socket’"
                }
            throw SettingsFile.Problem(
                description: "cannot listen at ‘\(configuration.socketPath)’: \(error): \(remedy)")
        }
    }

    func accept() {
        let began = loop.nowMicroseconds
        do throws(TransportError) {
            // Many programs that connect at once, or again and again, must not hold up other work.
            for _ in 0..<4 {
                guard let (descriptor, peer) = try listener.accept() else { break }
                begin(ByteStream(descriptor: descriptor), peer)
            }
            let now = loop.nowMicroseconds
            acceptNext(at: now + TurnLine.pause(after: now - began))
        } catch {
            // The socket stays readable, so trying again at once would be a busy loop.
            configuration.warn("no more clients for now: \(error)")
            acceptNext(at: loop.nowMicroseconds + Self.acceptPauseMicroseconds)
        }
    }

    private func acceptNext(at time: UInt64) {
        registration?.setInterest([])
        accepting?.set(atMicroseconds: time)
    }

    private func begin(_ stream: ByteStream, _ peer: PeerCredentials) {
        lastTool = lastTool >= .max - 1 ? 0x8000_0000 : lastTool + 1
        let limits = configuration.limits
        let isOperator = isOperator(peer)
        let isAllowed = isAllowed(peer)
        let connection = Connection(
            stream, peer, isOperator: isOperator, isOfAllowedUser: isAllowed,
            ToolSession(
                client: ClientID(rawValue: lastTool), user: peer.user, isOperator: isOperator, mayBeTool: isAllowed,
                limits: limits),
            greetingDeadline: loop.nowMicroseconds + UInt64(limits.greetingMicroseconds), limits: limits)
        do throws(TransportError) {
            try stream.start(
                on: loop,
                receive: { [weak self, weak connection] bytes in
                    guard let self, let connection else { return }
                    connection.receive(bytes)
                    lineUp(connection)
                },
                closed: { [weak self, weak connection] _ in
                    guard let self, let connection else { return }
                    // What it had asked for before it closed its end still counts.
                    guard connection.hasRequest else { return left(connection) }
                    connection.isClosed = true
                    // It may have been out of the line, because it did not read its answers.
                    lineUp(connection)
                })
        } catch {
            return configuration.warn("a client could not be served: \(error)")
        }
        stream.flushed = { [weak self, weak connection] in
            if let self, let connection { lineUp(connection) }
        }
        connection.allowance = 0
        connection.tool.settings.acceptsEnhancedBearers = configuration.adapter.enhancedBearers != nil
        connection.tool.settings.tellsAddressResolution = configuration.adapter.tellsAddressResolution
        configuration.debug("process \(peer.process) of user \(peer.user) connects")
        let isFull = !makeRoom(for: peer.user, isOperator: isOperator)
        connections.append(connection)
        tools[connection.tool.client] = connection
        nameUser(of: connection)
        if !isAllowed, !installed.users.contains(peer.user) {
            logRefusal(of: peer)
            connection.tool.refuse(
                .notAllowed,
                "user \(peer.user) may not use this daemon; its operator lets users in with ‘bled --allow \(peer.user)’, or "
                    + "‘users’ in the configuration")
        } else if isFull {
            connection.tool.refuse(.tooManyClients, "too many programs are connected")
        } else {
            armGreetings()
        }
        look(at: connection)
        pump()
    }

    /// Programs that have closed their ends, and whose last requests wait for their turns, keep others of their user
    /// out only in a crowd, and those of other users never.
    /// - Returns: whether another program of the user may connect.
    private func makeRoom(for user: UInt32, isOperator: Bool) -> Bool {
        let limits = configuration.limits
        let ofUser = connections.filter { $0.peer.user == user }
        if ofUser.count >= limits.clientsOfUser {
            guard ofUser.count < 3 * limits.clientsOfUser,
                ofUser.count(where: { !$0.hasDeparted }) < limits.clientsOfUser
            else { return false }
        }
        if connections.count < limits.clients { return true }
        // Operators must reach the daemon in a crowd of others.
        let others = connections.count - ofUser.count
        if isOperator, ofUser.count < Self.operatorPlaces, others > ofUser.count { return true }
        guard let gone = departedBeyondShare else { return false }
        gone.stream.close()
        left(gone)
        return connections.count < limits.clients
    }

    /// The oldest program that has closed its end, of the users who have more than their number of connections.
    private var departedBeyondShare: Connection? {
        var counts: [UInt32: Int] = [:]
        for connection in connections { counts[connection.peer.user, default: 0] += 1 }
        return connections.first {
            $0.hasDeparted && counts[$0.peer.user, default: 0] > configuration.limits.clientsOfUser
        }
    }

    /// Connections that an operator may have while others have all places.
    private static let operatorPlaces = 8

    /// Any user can try as often as it likes: one line a minute for each.
    private func logRefusal(of peer: PeerCredentials) {
        let now = loop.nowMicroseconds
        if let last = refusals[peer.user], now < last + Self.refusalMicroseconds { return }
        if refusals.count >= Self.refusedUsers { refusals = [:] }
        refusals[peer.user] = now
        configuration.warn(
            "user \(peer.user) (process \(peer.process)) may not connect; ‘--allow’ or ‘users’ in the configuration lets users in"
        )
    }

    private static let refusalMicroseconds: UInt64 = 60_000_000
    private static let refusedUsers = 256

    /// The program has disconnected: its operations end, except for the preserved state of an app.
    func left(_ connection: Connection) {
        guard let place = connections.firstIndex(where: { $0 === connection }) else { return }
        connections.remove(at: place)
        tools[connection.tool.client] = nil
        configuration.debug("process \(connection.peer.process) of user \(connection.peer.user) has left")
        let hadServed = connection.tool.serving.hasBegun
        for command in connection.tool.left() { _ = runner.submit(command, from: connection.tool.client) }
        _ = releaseShared(of: connection.tool.client)
        if hadServed { _ = releaseCentrals(for: connection.tool.client) }
        if connection.deviceName != nil { setDeviceName() }
        if let app = connection.appID {
            ended(app, connection)
            nameUser(of: app)
        } else {
            forget(connection)
        }
        forgetUsers()
        noteCapturing()
        pump()
    }

    /// Ends everything that a tool has asked for, and then its request to leave.
    private func leave(_ connection: Connection, _ number: OperationID) {
        let client = connection.tool.client
        let hadServed = connection.tool.serving.hasBegun
        var pending = Set(connection.tool.leaving().map { runner.submit($0, from: client) })
        pending.formUnion(releaseShared(of: client))
        if hadServed { pending.formUnion(releaseCentrals(for: client)) }
        // What it demanded of pairings, and the name it gave the device, were for what it did.
        if connection.pairing != nil {
            connection.pairing = nil
            setPairing()
        }
        if connection.deviceName != nil {
            connection.deviceName = nil
            setDeviceName()
        }
        if let earlier = connection.leaving {
            // It was asked again before it had left: the first request ends with the second.
            pending.formUnion(earlier.pending)
            connection.tool.complete(earlier.number, .failure(.cancelled))
        }
        guard !pending.isEmpty else { return connection.tool.complete(number, .success(.done)) }
        connection.leaving = (number, pending)
    }

    /// An operation has ended for which a tool that leaves waits.
    func leaverHears(_ operation: OperationID) {
        for connection in connections where connection.leaving?.pending.remove(operation) != nil {
            guard let leaving = connection.leaving, leaving.pending.isEmpty else { continue }
            connection.leaving = nil
            connection.tool.complete(leaving.number, .success(.done))
            look(at: connection)
        }
    }

    /// The last program that served has left: centrals have nothing here any more, so their links end.
    /// - Returns: the operations that end them.
    private func releaseCentrals(for client: ClientID) -> [OperationID] {
        guard !connections.contains(where: { $0.isTool && $0.tool.serving.hasBegun }), !lifecycle.apps.serves else {
            return []
        }
        return links.entries.filter { $0.information.role == .peripheral && $0.holders.isEmpty }.map {
            runner.submit(.link($0.information.id, .disconnect), from: client)
        }
    }

    /// Carries out a program's requests, and sends it all its messages together.
    func carryOut(_ connection: Connection) {
        var octets: [UInt8] = []
        var isClosing = false
        // The ends of write commands, and their octets.
        var (ends, endOctets) = (0, 0)
        while let output = connection.tool.nextOutput() {
            switch output {
            case .submit(let wanted, let number):
                guard !isAtOthersExpense(wanted, of: connection) else {
                    connection.tool.notSubmitted(number, .invalidRequest(.notPermitted))
                    break
                }
                let size = wanted.waitingOctets
                guard !exceedsOctets(size, of: connection), !exceedsShare(wanted, of: connection),
                    let command = shared(wanted, from: connection.tool.client)
                else {
                    connection.tool.notSubmitted(number)
                    break
                }
                let peer = giveOutOfBandData(for: command, of: connection)
                let operation = runner.submit(command, from: connection.tool.client)
                if let peer {
                    outOfBandUses.append(
                        OutOfBandUse(operation: operation, client: connection.tool.client, peer: peer))
                }
                noteShared(wanted, as: command, operation, from: connection.tool.client)
                port.ledger.note(command, as: operation, from: connection.tool.client)
                asked[operation] = connection.tool.client
                waitingOctets.began(
                    operation, from: connection.tool.client, of: connection.peer.user, octets: size)
                connection.tool.submitted(number, as: operation)
            case .send(let message): octets += message.framed()
            case .written(let number):
                let frame = FromDaemon.completed(number, .success(.gatt(.written))).framed()
                octets += frame
                ends += 1
                endOctets += frame.count
            case .isApp(let hello, let frames): begin(connection, as: hello, frames)
            case .isOperator(let frames):
                connection.operating = OperatorSession(frames: frames)
                connection.operating?.allowance = connection.tool.allowance
                octets += FromDaemon.welcome(Welcome()).framed()
            case .serves:
                if connection.pairing != nil { setPairing() }
                routes.serves(connection.tool.client) { tools[$0] != nil }
                connection.tool.serves(among: links.centrals)
            case .advertises: connection.tool.controllerAdvertises(isAdvertising)
            case .pairing(let options):
                connection.pairing = options
                setPairing()
            case .capture(let isOn):
                connection.isCapturing = isOn
                noteCapturing()
            case .deviceName(let name):
                // The engine has it from the command.
                connection.deviceName = name
            case .leave(let number): leave(connection, number)
            case .close: isClosing = true
            }
        }
        if isReady, connection.isTool, connection.tool.beginIfWaiting(runner.information, bonds: runner.bonds) {
            if sharesPairing(connection) { setPairing() }
            while case .send(let message)? = connection.tool.nextOutput() { octets += message.framed() }
            look(at: connection)
        }
        if !isPowered, connection.isTool {
            // It would wait in vain.
            connection.tool.controllerIsLost(trouble)
            while let output = connection.tool.nextOutput() {
                if case .send(let message) = output { octets += message.framed() }
                if case .close = output { isClosing = true }
            }
        }
        do throws(MessageError) {
            // Answers may be long: a program that reads them must not have too many at once.
            while connection.awaited == nil,
                octets.count + connection.stream.waitingByteCount <= configuration.limits.heardOctets,
                let request = try connection.operating?.next()
            {
                guard let answer = answer(request, to: connection) else { continue }
                octets += FromDaemon.operatorAnswer(answer).framed()
                drain()
            }
        } catch {
            isClosing = true
        }
        connection.isCollecting = true
        defer { connection.isCollecting = false }
        while let output = connection.app?.nextOutput() {
            switch output {
            case .send(let message): octets += message.framed()
            case .close: isClosing = true
            case .request, .returned, .move, .tasks, .pairing, .answer: carryOut(output, connection)
            }
        }
        if ends > 0, octets.count == endOctets, !isClosing {
            sendEnds(octets, ends, to: connection)
        } else if !octets.isEmpty {
            send(octets, to: connection)
        }
        if isClosing { connection.stream.close() }
    }

    /// Many apps may get thousands of discoveries a second; each of them written by itself would cost more than all
    /// else about it. The first one after a pause is sent at once.
    private static let holdingMicroseconds: UInt64 = 20_000
    private static let heldOctets = 8192

    /// Sends messages, behind the discoveries that wait.
    private func send(_ octets: [UInt8], to connection: Connection) {
        guard !connection.held.isEmpty else {
            connection.heldEnds = 0
            return connection.stream.send(octets.span.bytes)
        }
        connection.held += octets
        sendHeld(to: connection)
    }

    /// Ends of write commands wait for each other while the program has more on their way: each one sent by itself
    /// wakes it, and costs more than what it says.
    private func sendEnds(_ octets: [UInt8], _ ends: Int, to connection: Connection) {
        connection.heldEnds += ends
        guard connection.tool.hasManyCommands, connection.heldEnds < Self.endsAtOnce else {
            return send(octets, to: connection)
        }
        hold(for: connection) { $0 += octets }
    }

    private static let endsAtOnce = 8

    /// Adds frames to those that wait to be sent.
    func hold(for connection: Connection, _ add: (inout [UInt8]) -> Void) {
        add(&connection.held)
        if connection.held.count >= Self.heldOctets { return sendHeld(to: connection) }
        // Otherwise the deadline is set.
        guard !connection.isHolding else { return }
        let now = loop.nowMicroseconds
        if connection.heldSentAt + Self.holdingMicroseconds <= now { return sendHeld(to: connection) }
        if holding.isEmpty { holdingDeadline?.set(atMicroseconds: now + Self.holdingMicroseconds) }
        connection.isHolding = true
        holding.append(connection)
    }

    private func sendHeld(to connection: Connection) {
        connection.heldEnds = 0
        guard !connection.held.isEmpty else { return }
        connection.stream.send(connection.held.span.bytes)
        connection.held.removeAll(keepingCapacity: connection.held.count <= 2 * Self.heldOctets)
        connection.heldSentAt = loop.nowMicroseconds
    }

    func sendHeld() {
        let due = holding
        holding.removeAll(keepingCapacity: true)
        for connection in due {
            connection.isHolding = false
            sendHeld(to: connection)
        }
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
