import BLEPackets

/// Read, Read Blob, Read Multiple and Read By Type (Core 5.4, Vol 3, Part F, 3.4.4).
extension GATTServer {
    @inline(__always)
    mutating func read(
        _ handle: AttributeHandle, offset: Int, _ request: ATTOpcode, _ pdu: RawSpan, _ client: ServerClients.Handle,
        _ now: Instant
    ) {
        guard let position = database.table.position(of: handle) else {
            return refuse(request, handle, .invalidHandle, client)
        }
        if let error = refusal(readingAt: position, client) { return refuse(request, handle, error, client) }
        // Like `storedValue` below, without a copy of the value.
        let limit = clients[client].mtu - 1
        if let response = database.table.response(
            request.rawValue | 1, at: position, from: offset, limit: limit, into: &octets)
        {
            return respond(response, client)
        }
        switch storedValue(at: position, client) {
        case .octets(let octets): respondValue(octets, from: offset, handle, request, client)
        case .app: ask(forValueOf: handle, offset: offset, request, .read, deadline(now), client)
        case .unknownHash: awaitHash(for: pdu, request, handle, client, now)
        }
    }

    func deadline(_ now: Instant) -> Instant { now.advanced(by: settings.answerTimeout) }

    /// An offset at the end of the value is valid; the answer is empty (SPEC PER-14).
    @inline(__always)
    private mutating func respondValue(
        _ octets: [UInt8], from offset: Int, _ handle: AttributeHandle, _ request: ATTOpcode,
        _ client: ServerClients.Handle
    ) {
        guard offset <= octets.count else { return refuse(request, handle, .invalidOffset, client) }
        respondValue(octets.span.bytes.extracting(droppingFirst: offset), request, client)
    }

    /// Answers a Read or Read Blob Request with as much of the value as fits into the PDU.
    @inline(__always)
    mutating func respondValue(_ value: RawSpan, _ request: ATTOpcode, _ client: ServerClients.Handle) {
        let part = value.extracting(first: min(value.byteCount, clients[client].mtu - 1))
        respond(octets.join(request.rawValue | 1, part), client)
    }

    /// Asks the app for a value; the client's request waits.
    func question(
        _ id: GATTRequestID, forValueOf handle: AttributeHandle, offset: Int, _ client: ServerClients.Handle
    ) -> GATTServerEvent {
        .read(
            GATTReadRequest(
                id: id, link: clients[client].link, handle: handle, offset: offset,
                owner: database.table[handle]?.owner ?? .local))
    }

    private mutating func ask(
        forValueOf handle: AttributeHandle, offset: Int, _ request: ATTOpcode, _ work: ServerClient.Transaction.Work,
        _ deadline: Instant, _ client: ServerClients.Handle
    ) {
        let id = nextQuestion()
        clients[client].transaction = ServerClient.Transaction(
            request: request, handle: handle, question: id, deadline: deadline, work: work)
        emit(question(id, forValueOf: handle, offset: offset, client))
    }

    // MARK: Read Multiple

    /// Every attribute is checked before the app is asked for a value.
    mutating func readMultiple(
        _ list: consuming ATTHandleList, isVariable: Bool, _ pdu: RawSpan, _ client: ServerClients.Handle,
        _ now: Instant
    ) {
        let request: ATTOpcode = isVariable ? .readMultipleVariableRequest : .readMultipleRequest
        var handles: [AttributeHandle] = []
        handles.reserveCapacity(list.count)
        var unknown: AttributeHandle?
        while let handle = list.next() {
            guard let position = database.table.position(of: handle) else {
                return refuse(request, handle, .invalidHandle, client)
            }
            if let error = refusal(readingAt: position, client) { return refuse(request, handle, error, client) }
            if case .unknownHash = storedValue(at: position, client) { unknown = handle }
            handles.append(handle)
        }
        if let unknown { return awaitHash(for: pdu, request, unknown, client, now) }
        var response = PacketWriter(reservingCapacity: clients[client].mtu)
        response.write(request.rawValue | 1)
        let work = ServerClient.ReadMultiple(handles: handles, isVariable: isVariable, response: response)
        runReadMultiple(work, request, deadline(now), client)
    }

    private mutating func runReadMultiple(
        _ begun: ServerClient.ReadMultiple, _ request: ATTOpcode, _ deadline: Instant, _ client: ServerClients.Handle
    ) {
        var work = begun
        let mtu = clients[client].mtu
        while work.next < work.handles.count, work.response.count < mtu {
            let handle = work.handles[work.next]
            guard let position = database.table.position(of: handle) else {
                return refuse(request, handle, .invalidHandle, client)
            }
            guard case .octets(let octets) = storedValue(at: position, client) else {
                return ask(forValueOf: handle, offset: 0, request, .readMultiple(work), deadline, client)
            }
            work.append(octets, mtu: mtu)
        }
        respond(work.response.bytes, client)
    }

    mutating func continueReadMultiple(
        _ begun: ServerClient.ReadMultiple, with octets: [UInt8], _ transaction: ServerClient.Transaction,
        _ client: ServerClients.Handle,
        _ now: Instant
    ) {
        var work = begun
        clients[client].transaction = nil
        work.append(octets, mtu: clients[client].mtu)
        runReadMultiple(work, transaction.request, transaction.deadline, client)
    }

    // MARK: Read By Type

    /// A value of the app is sent by itself: the client continues behind it with another request.
    mutating func readByType(
        _ request: ATTReadByTypeRequest, _ pdu: RawSpan, _ client: ServerClients.Handle, _ now: Instant
    ) {
        guard request.range.isValid else {
            return refuse(.readByTypeRequest, request.range.first, .invalidHandle, client)
        }
        var elements: [(AttributeHandle, [UInt8])] = []
        var room = clients[client].mtu - 2
        for handle in database.table.handles(of: request.type, in: request.range) {
            guard let position = database.table.position(of: handle) else { break }
            if let error = refusal(readingAt: position, client) {
                if elements.isEmpty { return refuse(.readByTypeRequest, handle, error, client) }
                break
            }
            guard case .octets(let octets) = storedValue(at: position, client) else {
                guard elements.isEmpty else { break }
                if case .app = storedValue(at: position, client) {
                    return ask(forValueOf: handle, offset: 0, .readByTypeRequest, .readByType, deadline(now), client)
                }
                return awaitHash(for: pdu, .readByTypeRequest, handle, client, now)
            }
            if let first = elements.first {
                guard octets.count == first.1.count, octets.count + 2 <= room else { break }
            }
            elements.append((handle, octets))
            room -= octets.count + 2
        }
        guard !elements.isEmpty else {
            return refuse(.readByTypeRequest, request.range.first, .attributeNotFound, client)
        }
        respondReadByType(elements, client)
    }

    /// Writes values of the same length; if the first value is too long, it is cut and sent by itself (Core 5.4, Vol 3,
    /// Part F, 3.4.4.2).
    mutating func respondReadByType(_ elements: [(AttributeHandle, [UInt8])], _ client: ServerClients.Handle) {
        guard let first = elements.first else { return }
        let length = min(first.1.count, clients[client].mtu - 4, 253)
        var response = PacketWriter(reservingCapacity: 2 + elements.count * (2 + length))
        ATTReadByTypeResponse.encodeHeader(valueLength: length, into: &response)
        for (handle, octets) in elements {
            response.write(handle.rawValue)
            response.write(bytes: octets.span.bytes.extracting(first: length))
            if length < octets.count { break }
        }
        respond(response.bytes, client)
    }
}

extension ServerClient.ReadMultiple {
    /// Appends the next value, as far as it fits into the PDU (Core 5.4, Vol 3, Part F, 3.4.4.8, 3.4.4.12).
    mutating func append(_ octets: [UInt8], mtu: Int) {
        next += 1
        if isVariable {
            // A length field is written completely or not at all.
            guard response.count + 2 <= mtu else {
                next = handles.count
                return
            }
            response.write(UInt16(truncatingIfNeeded: octets.count))
        }
        response.write(bytes: octets.span.bytes.extracting(first: min(octets.count, mtu - response.count)))
    }
}
