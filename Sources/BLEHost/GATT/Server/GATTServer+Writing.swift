import BLEPackets

/// Write Request, Write Command and prepared writes (Core 5.4, Vol 3, Part F, 3.4.5 and 3.4.6).
extension GATTServer {
    mutating func write(_ request: borrowing ATTWriteRequest, _ client: ServerClients.Handle, _ now: Instant) {
        let handle = request.handle
        guard let position = database.table.position(of: handle) else {
            return refuse(.writeRequest, handle, .invalidHandle, client)
        }
        if let error = refusal(writingAt: position, isCommand: false, client) {
            return refuse(.writeRequest, handle, error, client)
        }
        let value = octets.copy(request.value)
        if let error = checked(value, at: position, client) { return refuse(.writeRequest, handle, error, client) }
        let write = GATTWrite(handle: handle, offset: 0, value: value)
        if database.table.isDynamic(at: position) {
            ask(forWriting: [write], .writeRequest, .write, deadline(now), client)
        } else {
            // The response goes first: the effects of the write follow it.
            respond(Self.writeResponse, client)
            commit(write, at: position, client)
        }
    }

    /// Shared by all writes, so that no array is allocated for each.
    static let writeResponse: [UInt8] = [ATTOpcode.writeResponse.rawValue]

    /// A command gets no response, even if it is invalid.
    mutating func receiveCommand(_ pdu: RawSpan, _ opcode: ATTOpcode, _ client: ServerClients.Handle, _ now: Instant) {
        guard opcode == .writeCommand else {
            counters.refusedSignedWrites &+= 1
            return
        }
        receiveWriteCommand(pdu, isSigned: false, client)
    }

    mutating func refuseSignedWrite() { counters.refusedSignedWrites &+= 1 }

    /// Receives a signed write whose signature was verified, in the form of a Write Command.
    mutating func receiveSigned(_ pdu: RawSpan, from link: LinkID) {
        guard let client = clients.handle(of: link), !clients[client].isDead else { return }
        receiveWriteCommand(pdu, isSigned: true, client)
    }

    private mutating func receiveWriteCommand(_ pdu: RawSpan, isSigned: Bool, _ client: ServerClients.Handle) {
        guard pdu.byteCount <= clients[client].mtu else {
            counters.malformedPDUs &+= 1
            return
        }
        do throws(DecodingError) {
            let command = try ATTWriteCommand(pdu)
            let write = GATTWrite(handle: command.handle, offset: 0, value: octets.copy(command.value))
            guard !clients[client].isOutOfSync, let position = database.table.position(of: write.handle),
                refusal(writingAt: position, isCommand: true, isSigned: isSigned, client) == nil,
                checked(write.value, at: position, client) == nil
            else {
                counters.refusedCommands &+= 1
                return
            }
            guard database.table.isDynamic(at: position) else {
                return commit(write, at: position, client)
            }
            let id = GATTRequestID(rawValue: nextQuestion().rawValue | Self.commandMark)
            emit(
                .write(
                    GATTWriteRequest(
                        id: id, link: clients[client].link, writes: [write], needsAnswer: false,
                        owner: database.table[position].owner)))
        } catch {
            counters.malformedPDUs &+= 1
        }
    }

    /// Why an attribute cannot accept a complete value; `nil` if it can.
    private func checked(
        _ octets: [UInt8], at position: AttributeTable.Position, _ client: ServerClients.Handle
    ) -> ATTError? {
        guard octets.count <= maximumAttributeLength else { return .invalidAttributeValueLength }
        if database.table.isStored(at: position) { return nil }
        switch database.table.value(at: position) {
        case .stored, .dynamic: return nil
        case .clientConfiguration(let configuration):
            guard configuration.isStrict else { return nil }
            guard octets.count == 2 else { return .invalidAttributeValueLength }
            return configuration.modes(of: octets).isSubset(of: configuration.allowed) ? nil : .valueNotAllowed
        case .serverConfiguration:
            guard octets.count == 2 else { return .invalidAttributeValueLength }
            return octets[0] > 1 || octets[1] > 0 ? .valueNotAllowed : nil
        case .clientSupportedFeatures:
            // A client cannot clear a feature bit that it has set (Core 5.4, Vol 3, Part G, 7.2).
            guard let features = octets.first else { return .invalidAttributeValueLength }
            return clients[client].features & ~features == 0 ? nil : .valueNotAllowed
        case .databaseHash: return .writeNotPermitted
        }
    }

    /// Stores a complete value that has been checked.
    private mutating func commit(
        _ write: GATTWrite, at position: AttributeTable.Position, _ client: ServerClients.Handle
    ) {
        if database.table.isStored(at: position) {
            database.table.store(write.value.span.bytes, at: position)
            return emit(.stored(clients[client].link, write))
        }
        switch database.table.value(at: position) {
        case .clientConfiguration(let configuration):
            configure(write.handle, configuration, write.value, client)
        case .serverConfiguration:
            emit(.stored(clients[client].link, write))
            if broadcasts.configure(write.handle, isOn: write.value.first == 1) { announceBroadcasts() }
        case .clientSupportedFeatures: clients[client].features = (write.value.first ?? 0) & Self.knownFeatures
        case .stored, .dynamic, .databaseHash: break
        }
    }

    /// Robust caching, enhanced bearers, several values in one PDU (Core 5.4, Vol 3, Part G, 7.2).
    private static let knownFeatures: UInt8 = 0x07

    private mutating func ask(
        forWriting writes: [GATTWrite], _ request: ATTOpcode, _ work: ServerClient.Transaction.Work,
        _ deadline: Instant, _ client: ServerClients.Handle
    ) {
        guard let first = writes.first else { return }
        let id = nextQuestion()
        clients[client].transaction = ServerClient.Transaction(
            request: request, handle: first.handle, question: id, deadline: deadline, work: work)
        emit(
            .write(
                GATTWriteRequest(
                    id: id, link: clients[client].link, writes: writes, needsAnswer: true,
                    owner: database.table[first.handle]?.owner ?? .local)))
    }

    // MARK: Prepared writes

    /// Offset and length are checked when the queue is executed (Core 5.4, Vol 3, Part F, 3.4.6.1).
    mutating func prepare(_ request: borrowing ATTPrepareWriteRequest, _ client: ServerClients.Handle) {
        guard let position = database.table.position(of: request.handle) else {
            return refuse(.prepareWriteRequest, request.handle, .invalidHandle, client)
        }
        if let error = refusal(writingAt: position, isCommand: false, client) {
            return refuse(.prepareWriteRequest, request.handle, error, client)
        }
        let write = GATTWrite(handle: request.handle, offset: Int(request.offset), value: request.value.copied())
        guard clients[client].prepared.append(write, settings) else {
            return refuse(.prepareWriteRequest, request.handle, .prepareQueueFull, client)
        }
        let response = ATTPrepareWriteResponse(handle: request.handle, offset: request.offset, value: request.value)
        respond(response.encoded(), client)
    }

    /// The queue is empty afterwards, whatever the result.
    mutating func execute(_ flags: ATTExecuteWriteRequest.Flags, _ client: ServerClients.Handle, _ now: Instant) {
        let writes = clients[client].prepared.writes
        clients[client].prepared.removeAll()
        var work = PreparedExecution()
        if flags == .write {
            for write in writes {
                if let error = stage(write, in: &work, client) {
                    return refuse(.executeWriteRequest, write.handle, error, client)
                }
            }
            work.cutWholeValues()
            for staged in work.staged {
                guard let position = database.table.position(of: staged.handle) else { continue }
                if let error = checked(staged.value, at: position, client) {
                    return refuse(.executeWriteRequest, staged.handle, error, client)
                }
            }
        }
        run(work, deadline(now), client)
    }

    private mutating func stage(
        _ write: GATTWrite, in work: inout PreparedExecution, _ client: ServerClients.Handle
    ) -> ATTError? {
        guard let position = database.table.position(of: write.handle) else { return .invalidHandle }
        if let error = refusal(writingAt: position, isCommand: false, client) { return error }
        if case .octets(let octets) = storedValue(at: position, client) { return work.stage(write, over: octets) }
        guard write.offset <= maximumAttributeLength else { return .invalidOffset }
        guard write.offset + write.value.count <= maximumAttributeLength else { return .invalidAttributeValueLength }
        work.add(write, for: database.table[position].owner)
        return nil
    }

    /// Asks the apps one after another; if all accept, the values that the server stores are written.
    private mutating func run(_ work: PreparedExecution, _ deadline: Instant, _ client: ServerClients.Handle) {
        if work.answered < work.parts.count {
            let writes = work.parts[work.answered].writes
            return ask(forWriting: writes, .executeWriteRequest, .execute(work), deadline, client)
        }
        respond([ATTOpcode.executeWriteResponse.rawValue], client)
        for staged in work.staged {
            guard let position = database.table.position(of: staged.handle) else { continue }
            commit(GATTWrite(handle: staged.handle, offset: 0, value: staged.value), at: position, client)
        }
    }

    mutating func continueExecution(
        _ begun: PreparedExecution, _ transaction: ServerClient.Transaction, _ client: ServerClients.Handle,
        _ now: Instant
    ) {
        var work = begun
        work.answered += 1
        clients[client].transaction = nil
        run(work, transaction.deadline, client)
    }
}

extension Attribute.ClientConfiguration {
    /// The modes in a value that a client wrote. Bits that later versions may define are ignored, except in a table
    /// that keeps what is written (Core 5.4, Vol 3, Part G, 3.3.3.3).
    func modes(of octets: [UInt8]) -> SubscriptionModes {
        let modes = SubscriptionModes(octets: octets)
        return isStrict ? modes.intersection(.all) : modes
    }
}

extension SubscriptionModes {
    /// Reads the first two octets of a configuration.
    init(octets: [UInt8]) {
        self.init(rawValue: UInt16(octets.first ?? 0) | UInt16(octets.dropFirst().first ?? 0) << 8)
    }
}
