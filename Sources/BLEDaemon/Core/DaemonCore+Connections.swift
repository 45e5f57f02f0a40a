import BLEHost
import BLEMessages
import BLEPackets

/// What connected programs ask for, and their ends.
extension DaemonCore {
    // MARK: The end

    /// The connection has ended.
    mutating func closed(_ id: ConnectionID) {
        guard let connection = connections[id] else { return }
        connection.outbox.wrote(taken: connection.outbox.taken, refused: 0, waiting: 0)
        // What it had asked for before it closed its end still counts.
        guard connection.hasRequest else { return left(connection) }
        connection.isClosed = true
        // It may have been out of the line, because it did not read its answers.
        lineUp(connection)
    }

    /// The program has disconnected: its operations end, except for the preserved state of an app.
    mutating func left(_ connection: Connection) {
        guard connections.remove(connection) else { return }
        if isDebugging { debug("process \(connection.peer.process) of user \(connection.peer.user) has left") }
        let client = connection.id.client
        if let tool = connection.tool {
            let hadServed = tool.session.serving.hasBegun
            for command in tool.session.left() { _ = submit(command, from: client) }
            _ = releaseShared(of: client)
            if hadServed { _ = releaseCentrals(for: client) }
            if tool.deviceName != nil { setDeviceName() }
        }
        if let app = connection.appID {
            appHasLeft(app, connection)
            nameUser(of: app)
        } else {
            forget(connection)
        }
        connection.session = .ended
        forgetUsers()
        noteCapturing()
    }

    /// Ends the connection of an app. The caller reports it to the life of apps.
    mutating func remove(_ connection: Connection) {
        effects.append(.close(connection.id))
        connections.remove(connection)
        forget(connection)
        connection.session = .ended
    }

    /// Ends everything that a tool has asked for, and then its request to leave.
    private mutating func leave(_ tool: ToolClient, _ connection: Connection, _ number: OperationID) {
        let client = connection.id.client
        let hadServed = tool.session.serving.hasBegun
        var pending: Set<OperationID> = []
        for command in tool.session.leaving() { pending.insert(submit(command, from: client)) }
        pending.formUnion(releaseShared(of: client))
        if hadServed { pending.formUnion(releaseCentrals(for: client)) }
        // What it demanded of pairings, and the name it gave the device, were for what it did.
        if connection.pairing != nil {
            connection.pairing = nil
            setPairing()
        }
        if tool.deviceName != nil {
            tool.deviceName = nil
            setDeviceName()
        }
        if let earlier = tool.leaving {
            // It was asked again before it had left: the first request ends with the second.
            pending.formUnion(earlier.pending)
            tool.session.complete(earlier.number, .failure(.cancelled))
        }
        guard !pending.isEmpty else { return tool.session.complete(number, .success(.done)) }
        tool.leaving = (number, pending)
    }

    /// An operation has ended for which a tool that leaves may wait.
    mutating func completeLeaving(after operation: OperationID) {
        for connection in connections.all {
            guard let tool = connection.tool, tool.leaving?.pending.remove(operation) != nil,
                let leaving = tool.leaving, leaving.pending.isEmpty
            else { continue }
            tool.leaving = nil
            tool.session.complete(leaving.number, .success(.done))
            look(at: connection)
        }
    }

    /// The last program that served has left: centrals have nothing here any more, so their links end.
    /// - Returns: the operations that end them.
    private mutating func releaseCentrals(for client: ClientID) -> [OperationID] {
        guard !connections.all.contains(where: { $0.tool?.session.serving.hasBegun == true }),
            !apps.lifecycle.apps.serves
        else { return [] }
        return tools.links.entries.filter { $0.information.role == .peripheral && $0.holders.isEmpty }.map {
            submit(.link($0.information.id, .disconnect), from: client)
        }
    }

    // MARK: Requests

    /// What is sent to a program together.
    struct Batch {
        var octets: [UInt8]
        /// How many ends of write commands are in it, and their octets.
        var ends = 0
        var endOctets = 0
        var isClosing = false

        mutating func append(_ message: FromDaemon) { message.append(to: &octets) }
    }

    /// Carries out a program's requests, and sends it all its messages together.
    mutating func carryOut(_ connection: Connection) {
        var batch = Batch(octets: outgoing.takeSpare())
        if let tool = connection.tool { carryOut(tool, connection, &batch) }
        if let person = connection.person { carryOut(person, connection, &batch) }
        connection.outbox.isCollecting = true
        if let app = connection.app { carryOut(app, connection, &batch) }
        connection.outbox.isCollecting = false
        if batch.ends > 0, batch.octets.count == batch.endOctets, !batch.isClosing, let tool = connection.tool {
            outgoing.send(batch.octets, ends: batch.ends, of: tool, to: connection, at: microseconds, into: &effects)
        } else if !batch.octets.isEmpty {
            outgoing.send(batch.octets, to: connection, at: microseconds, into: &effects)
        } else {
            outgoing.reuse(batch.octets)
        }
        if batch.isClosing { effects.append(.close(connection.id)) }
    }

    private mutating func carryOut(_ tool: ToolClient, _ connection: Connection, _ batch: inout Batch) {
        while let output = tool.session.nextOutput() {
            switch output {
            case .submit(let wanted, let number): submit(wanted, number, of: tool, connection)
            case .send(let message): append(message, to: &batch, for: connection)
            case .written(let number):
                let before = batch.octets.count
                batch.append(.completed(number, .success(.gatt(.written))))
                batch.ends += 1
                batch.endOctets += batch.octets.count - before
            case .isApp(let greeting, let frames): return greet(connection, as: greeting, frames)
            case .isOperator(let frames):
                let person = OperatorClient(OperatorSession(frames: frames))
                person.session.allowance = tool.session.allowance
                connection.session = .operator(person)
                return batch.append(.welcome(Welcome()))
            case .serves:
                if connection.pairing != nil { setPairing() }
                let present = connections
                tools.routes.serves(connection.id.client) { present[$0] != nil }
                tool.session.serves(among: tools.links.centrals)
            case .advertises: tool.session.controllerAdvertises(tools.isAdvertising)
            case .pairing(let options):
                connection.pairing = options
                setPairing()
            case .capture(let isOn):
                connection.capture.isOn = isOn
                noteCapturing()
            case .deviceName(let name):
                // The engine has it from the command.
                tool.deviceName = name
            case .leave(let number): leave(tool, connection, number)
            case .close: batch.isClosing = true
            }
        }
        if case .greeting(let tool) = connection.session, tool.session.hasGreeted { connection.session = .tool(tool) }
        if controller.isReady, tool.session.beginIfWaiting(port.engine.information, bonds: port.engine.bonds) {
            if sharesPairing(connection) { setPairing() }
            while case .send(let message)? = tool.session.nextOutput() { batch.append(message) }
            look(at: connection)
        }
        if !controller.isPowered {
            // It would wait in vain.
            tool.session.controllerIsLost(controller.trouble)
            while let output = tool.session.nextOutput() {
                if case .send(let message) = output { batch.append(message) }
                if case .close = output { batch.isClosing = true }
            }
        }
    }

    /// Submits a tool's command to the engine, if its user may have what it asks for.
    private mutating func submit(
        _ wanted: HostCommand, _ number: OperationID, of tool: ToolClient, _ connection: Connection
    ) {
        let client = connection.id.client
        let wanted = naming(wanted, of: connection)
        guard !isAtOthersExpense(wanted, of: connection) else {
            return tool.session.notSubmitted(number, .invalidRequest(.notPermitted))
        }
        let size = wanted.waitingOctets
        guard !exceedsOctets(size, of: connection), !exceedsQuota(wanted, of: tool, connection),
            let command = shared(wanted, from: client)
        else { return tool.session.notSubmitted(number) }
        let peer = giveOutOfBandData(for: command, of: tool)
        let operation = submit(command, from: client)
        if let peer { tools.outOfBandUses.append(OutOfBandUse(operation: operation, client: client, peer: peer)) }
        noteShared(wanted, as: command, operation, from: client)
        port.ledger.note(command, as: operation, from: client)
        tools.clientOfOperation[operation] = client
        tools.waitingOctets.began(operation, from: client, of: connection.peer.user, octets: size)
        tool.session.submitted(number, as: operation)
    }

    private mutating func carryOut(_ person: OperatorClient, _ connection: Connection, _ batch: inout Batch) {
        do throws(MessageError) {
            // Answers may be long: a program that reads them must not have too many at once.
            while person.awaited == nil, batch.octets.count + connection.outbox.waiting <= rules.limits.heardOctets,
                let request = try person.session.next()
            {
                guard let answer = answer(request, of: person, connection) else { continue }
                batch.append(.operatorAnswer(answer))
                drain()
            }
        } catch { batch.isClosing = true }
    }

    /// A program that does not read will not read why its connection ends: the log has it.
    private mutating func append(_ message: FromDaemon, to batch: inout Batch, for connection: Connection) {
        if case .refusal(.stuck, let text) = message {
            warn("process \(connection.peer.process) of user \(connection.peer.user) is disconnected: \(text)")
        }
        batch.append(message)
    }

    private mutating func carryOut(_ app: AppClient, _ connection: Connection, _ batch: inout Batch) {
        while let output = app.session.nextOutput() {
            switch output {
            case .send(let message): append(message, to: &batch, for: connection)
            case .close: batch.isClosing = true
            case .request, .returned, .move, .tasks, .pairing, .answer: carryOut(output, of: app, connection)
            }
        }
    }
}
