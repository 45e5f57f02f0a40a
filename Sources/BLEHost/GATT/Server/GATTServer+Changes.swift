import BLEPackets

/// Services that change while clients are connected: Service Changed, the database hash and robust caching (Core 5.4,
/// Vol 3, Part G, 2.5.2 and 7).
extension GATTServer {
    // MARK: Publishing

    /// Adds a service to the table and informs the clients (SPEC PER-6).
    ///
    /// It cannot be changed afterwards (SPEC PER-7).
    /// - Throws: `GATTPublishError`; in this case nothing is published.
    public mutating func publish(
        _ service: GATTServiceDefinition, owner: ClientID = .local, at now: Instant
    ) throws(GATTPublishError) -> GATTPublishedService {
        let published = try database.publish(service, owner: owner)
        broadcasts.add(published, service, in: database)
        changed(published.range, now)
        return published
    }

    /// Removes a service from the table and informs the clients.
    ///
    /// - Parameter handle: the handle of the service declaration.
    /// - Throws: `GATTPublishError.unknownService` and `.isIncluded`.
    public mutating func remove(_ handle: AttributeHandle, at now: Instant) throws(GATTPublishError) {
        let range = try database.remove(handle)
        for client in clients.handles { forget(range, client, now) }
        if broadcasts.remove(range) { announceBroadcasts() }
        changed(range, now)
    }

    /// Removes all services of one app, beginning with those that include others.
    public mutating func removeAllServices(of owner: ClientID, at now: Instant) {
        while let handle = database.lastService(of: owner) {
            do throws(GATTPublishError) { try remove(handle, at: now) } catch { return }
        }
    }

    /// Publishes the services that every device has: Generic Access and Generic Attribute
    /// (Core 5.4, Vol 3, Part C, 12; Vol 3, Part G, 7).
    ///
    /// - Parameters:
    ///   - appearance: a value of the Assigned Numbers, 2.6.
    ///   - hasDatabaseHash: whether the owner can answer `computeHash`; without it there is no robust caching either.
    ///   - hasEnhancedBearers: whether clients may open enhanced bearers.
    ///   - reportsAddressResolution: whether clients learn that this device resolves private addresses.
    /// - Throws: `GATTPublishError.outOfHandles`.
    public mutating func publishGenericServices(
        deviceName: String, appearance: UInt16 = 0, hasDatabaseHash: Bool = false, hasEnhancedBearers: Bool = false,
        reportsAddressResolution: Bool = false, at now: Instant
    ) throws(GATTPublishError) {
        let name = GATTCharacteristicDefinition(
            uuid: .deviceName, properties: .read, permissions: .readable, value: Self.nameOctets(deviceName))
        let look = GATTCharacteristicDefinition(
            uuid: .appearance, properties: .read, permissions: .readable,
            value: [UInt8(truncatingIfNeeded: appearance), UInt8(truncatingIfNeeded: appearance >> 8)])
        var access = [name, look]
        if reportsAddressResolution {
            access.append(
                GATTCharacteristicDefinition(
                    uuid: .centralAddressResolution, properties: .read, permissions: .readable, value: [1]))
        }
        var own = [
            GATTCharacteristicDefinition(uuid: .serviceChanged, properties: .indicate, permissions: [], value: [])
        ]
        if hasDatabaseHash {
            own.append(
                GATTCharacteristicDefinition(
                    uuid: .clientSupportedFeatures, properties: [.read, .write], permissions: [.readable, .writeable]))
            own.append(GATTCharacteristicDefinition(uuid: .databaseHash, properties: .read, permissions: .readable))
        }
        if hasEnhancedBearers {
            // Bit 0: enhanced bearers are supported (Core 5.4, Vol 3, Part G, 7.4).
            own.append(
                GATTCharacteristicDefinition(
                    uuid: .serverSupportedFeatures, properties: .read, permissions: .readable, value: [0x01]))
        }
        let generic = try database.publish(
            GATTServiceDefinition(uuid: .genericAccess, characteristics: access), owner: .local, isOwn: true)
        changed(generic.range, now)
        let attribute = try database.publish(
            GATTServiceDefinition(uuid: .genericAttribute, characteristics: own), owner: .local, isOwn: true)
        changed(attribute.range, now)
    }

    /// Changes the device name in the Generic Access service; cut to 248 octets (Core 5.4, Vol 3, Part C, 12.1).
    public mutating func setDeviceName(_ name: String) {
        guard let handle = database.table.handles(of: .deviceName).first,
            let position = database.table.position(of: handle)
        else { return }
        database.table.setValue(.stored(Self.nameOctets(name)), at: position)
    }

    private static func nameOctets(_ name: String) -> [UInt8] { name.utf8Prefix(248) }

    // MARK: Changes

    /// What clients can discover in this range has changed.
    private mutating func changed(_ range: AttributeHandleRange, _ now: Instant) {
        let configuration = database.table.handles(of: .serviceChanged).first.flatMap { database.table[$0] }?
            .configuration
        for client in clients.handles where !clients[client].isDead {
            clients[client].becomeUnaware()
            if let configuration { announce(range, configuration, client, now) }
            restoreAbsent(range, client)
        }
        announceReadiness(now)
    }

    /// Tells only clients that subscribed to Service Changed.
    private mutating func announce(
        _ range: AttributeHandleRange, _ configuration: AttributeHandle, _ client: ServerClients.Handle, _ now: Instant
    ) {
        guard clients[client].configurations[configuration]?.modes.contains(.indications) == true else { return }
        let known = clients[client].changedRange ?? range
        clients[client].changedRange = AttributeHandleRange(min(known.first, range.first), max(known.last, range.last))
        pumpIndications(client, now)
    }

    /// Drops everything pending that refers to removed attributes.
    private mutating func forget(_ range: AttributeHandleRange, _ client: ServerClients.Handle, _ now: Instant) {
        clients[client].configurations.remove(range)
        clients[client].dropValues { range.contains($0) }
        announceReadiness(now)
        forEachBearer(of: client) { $0.forgetTransaction(in: range, client, now) }
    }

    /// Refuses the request on the bearer at work if the app was asked for a removed attribute.
    private mutating func forgetTransaction(
        in range: AttributeHandleRange, _ client: ServerClients.Handle, _ now: Instant
    ) {
        guard let transaction = clients[client].transaction, transaction.question != nil,
            range.contains(transaction.handle)
        else { return }
        clients[client].transaction = nil
        refuse(transaction.request, transaction.handle, .invalidHandle, client)
        pump(client, now)
    }

    // MARK: Robust caching

    /// Refuses, once, a request of a client that does not know of the change; its next request shows that it does (Core
    /// 5.4, Vol 3, Part G, 2.5.2.1).
    mutating func refusesOutOfSync(_ pdu: RawSpan, _ opcode: ATTOpcode, _ client: ServerClients.Handle) -> Bool {
        if clients[client].awareness == .told {
            clients[client].awareness = .aware
            return false
        }
        if opcode == .readByTypeRequest, let request = try? ATTReadByTypeRequest(pdu), request.type == .databaseHash {
            clients[client].awareness = .told
            return false
        }
        guard clients[client].hasRobustCaching, Self.needsKnownTable(pdu, opcode) else { return false }
        if clients[client].others.isEmpty {
            clients[client].awareness = .told
        } else {
            // The client remains unaware until it has read the hash: of its requests on other bearers, which it may
            // have sent before it learned of it here, each bearer's first is refused, too.
            if clients[client].wasToldOutOfSync { return false }
            clients[client].wasToldOutOfSync = true
        }
        var handle = AttributeHandle.none
        if opcode != .executeWriteRequest, let low = pdu.byte(at: 1), let high = pdu.byte(at: 2) {
            handle = AttributeHandle(rawValue: UInt16(low) | UInt16(high) << 8)
        }
        clients[client].prepared.removeAll()
        refuse(opcode, handle, .databaseOutOfSync, client)
        return true
    }

    /// Whether a request relies on what its client knows of the table: it names handles. Discovery does not, and is how
    /// the client comes to know the table.
    private static func needsKnownTable(_ pdu: RawSpan, _ opcode: ATTOpcode) -> Bool {
        switch opcode {
        case .readByGroupTypeRequest, .findByTypeValueRequest, .findInformationRequest: return false
        case .readByTypeRequest:
            guard let request = try? ATTReadByTypeRequest(pdu) else { return true }
            return request.type != .include && request.type != .characteristic && request.range != .all
        default: return opcode.kind == .request
        }
    }

    /// A client reads the hash: its request waits until the hash has been computed.
    mutating func awaitHash(
        for pdu: RawSpan, _ request: ATTOpcode, _ handle: AttributeHandle, _ client: ServerClients.Handle,
        _ now: Instant
    ) {
        clients[client].transaction = ServerClient.Transaction(
            request: request, handle: handle, question: nil, deadline: deadline(now), work: .hash(pdu.copied()))
        guard hashAskedFor != database.revision else { return }
        hashAskedFor = database.revision
        act(.computeHash(message: database.hashMessage, revision: database.revision))
    }

    /// The result of `computeHash`. A result for a table that has changed since is dropped, and requested again if a
    /// client waits for it.
    ///
    /// - Parameter octets: 16 octets in the order of the cipher; the attribute has them reversed. `nil` if the hash
    ///   could not be computed: waiting readers get an error, and the next read requests it again.
    public mutating func databaseHash(_ octets: [UInt8]?, revision: UInt64, at now: Instant) {
        if revision == database.revision {
            guard let octets else { return hashFailed(now) }
            guard octets.count == 16 else { return }
            database.hash = octets.reversed()
        }
        for client in clients.handles { forEachBearer(of: client) { $0.retryHash(client, now) } }
    }

    private mutating func hashFailed(_ now: Instant) {
        hashAskedFor = nil
        for client in clients.handles { forEachBearer(of: client) { $0.refuseHash(client, now) } }
    }

    private mutating func refuseHash(_ client: ServerClients.Handle, _ now: Instant) {
        guard let transaction = clients[client].transaction, case .hash = transaction.work else { return }
        clients[client].transaction = nil
        refuse(transaction.request, transaction.handle, .unlikelyError, client)
        pump(client, now)
    }

    private mutating func retryHash(_ client: ServerClients.Handle, _ now: Instant) {
        guard case .hash(let pdu)? = clients[client].transaction?.work, let octet = pdu.first else { return }
        clients[client].transaction = nil
        let opcode = ATTOpcode(rawValue: octet)
        // However often the request is retried, it is one request: that its error reported a change does not yet
        // show that the client knows. If the table has changed again since then, the client must learn of it again.
        if clients[client].awareness != .unaware || !refusesOutOfSync(pdu.span.bytes, opcode, client) {
            dispatch(pdu.span.bytes, opcode, client, now)
        }
        pump(client, now)
    }

    // MARK: Bonds

    /// What to store about a client for its next connection; `nil` for an unknown link.
    public func clientRecord(of link: LinkID) -> GATTClientRecord? { clients.handle(of: link).map { record(of: $0) } }

    /// A client turned out to be a bonded one: it gets its stored configuration, except for what it has written on this
    /// link.
    public mutating func restore(_ record: GATTClientRecord, on link: LinkID, at now: Instant) {
        if let client = clients.handle(of: link) { restore(record, client, now) }
    }

    /// Whether a Write Request is for an attribute that has a separate value for each client.
    func storesPerClient(_ pdu: RawSpan) -> Bool {
        guard let low = pdu.byte(at: 1), let high = pdu.byte(at: 2) else { return false }
        switch database.table[AttributeHandle(rawValue: UInt16(low) | UInt16(high) << 8)]?.value {
        case .clientConfiguration?, .clientSupportedFeatures?: return true
        case .stored?, .dynamic?, .serverConfiguration?, .databaseHash?, nil: return false
        }
    }

    func record(of client: ServerClients.Handle) -> GATTClientRecord {
        let digest = database.digest
        var configurations = clients[client].absent
        for entry in clients[client].configurations.entries where !entry.modes.isEmpty {
            configurations.append(
                GATTClientRecord.Configuration(
                    handle: entry.handle, modes: entry.modes, owner: database.ownerOfConfiguration(entry.handle)))
        }
        configurations.sort { $0.handle < $1.handle }
        return GATTClientRecord(
            configurations: configurations, features: clients[client].features,
            knownTable: clients[client].awareness == .aware ? digest : ~digest)
    }

    /// A bonded client is back: it gets its stored configuration, and an indication of changes since its last
    /// connection.
    mutating func restore(_ record: GATTClientRecord, _ client: ServerClients.Handle, _ now: Instant) {
        clients[client].features |= record.features
        clients[client].absent = []
        for kept in record.configurations { restore(kept, client) }
        guard record.knownTable != database.digest else { return }
        clients[client].becomeUnaware()
        if let handle = database.table.handles(of: .serviceChanged).first,
            let configuration = database.table[handle]?.configuration
        {
            announce(.all, configuration, client, now)
        }
    }

    /// Restores one configuration of a client if the characteristic is still the same. If the handle now belongs to
    /// something else, the configuration is forgotten; if the attribute does not exist yet, it is stored for later.
    private mutating func restore(_ kept: GATTClientRecord.Configuration, _ client: ServerClients.Handle) {
        guard let attribute = database.table[kept.handle] else {
            if kept.owner != nil, clients[client].absent.count < Self.absentLimit {
                clients[client].absent.append(kept)
            }
            return
        }
        guard case .clientConfiguration(let configuration) = attribute.value,
            clients[client].configurations[kept.handle] == nil,
            kept.owner == nil || kept.owner == database.ownerOfConfiguration(kept.handle)
        else { return }
        configure(
            kept.handle, configuration,
            [UInt8(truncatingIfNeeded: kept.modes.rawValue), UInt8(truncatingIfNeeded: kept.modes.rawValue >> 8)],
            client)
    }

    /// Attributes in this range were added: a bonded client gets the configurations that it had for them.
    private mutating func restoreAbsent(_ range: AttributeHandleRange, _ client: ServerClients.Handle) {
        guard clients[client].absent.contains(where: { range.contains($0.handle) }) else { return }
        let absent = clients[client].absent
        clients[client].absent = []
        for kept in absent { restore(kept, client) }
    }

    /// How many configurations of absent services are stored for a client: enough for all apps of a gateway.
    private static let absentLimit = 64
}

extension GATTDatabase {
    /// A digest of the table for the stack's own records, computed without a cipher.
    var digest: UInt64 { Self.digest(of: hashMessage) }

    /// A digest of the UUIDs of the service and the characteristic that a client configuration belongs to; `nil` if the
    /// handle is no client configuration.
    func ownerOfConfiguration(_ handle: AttributeHandle) -> UInt64? {
        guard case .clientConfiguration(let configuration)? = table[handle]?.value else { return nil }
        let service = service(with: handle)?.uuid.attributeValue ?? []
        let characteristic = table[configuration.valueHandle]?.type.attributeValue ?? []
        return Self.digest(of: [UInt8(service.count)] + service + characteristic)
    }

    /// The FNV-1a hash of the octets.
    private static func digest(of octets: [UInt8]) -> UInt64 {
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        for octet in octets { digest = (digest ^ UInt64(octet)) &* 0x0000_0100_0000_01B3 }
        return digest
    }
}
