import BLEHost
import BLEPackets

/// What peripheral managers ask for, and what remote centrals ask of them (SPEC PER-6 to PER-24).
extension AppLifecycle {
    mutating func performPeripheral(_ request: ClientRequest, _ index: Int, at now: Instant) {
        let app = managers[index].app
        guard state(app) == .poweredOn || state(app) == .poweredOff && request.changesDatabase else {
            if case .updateValue(let query, _, _, _) = request { tell(.updateQueued(query, false), index, at: now) }
            return log(.notPoweredOn(.peripheral), app)
        }
        switch request {
        case .addService(let service): add(service, index, at: now)
        case .removeService(let id): remove(id, index, at: now)
        case .removeAllServices:
            withdrawServices(index)
            needsJournal = true
        case .startAdvertising(let advertisement): startAdvertising(advertisement, index, at: now)
        case .stopAdvertising:
            managers[index].server.advertisement = nil
            managers[index].server.owesStart = false
            managers[index].server.refusedStarts = 0
            converge(index, at: now)
        case .respond(let id, let code, let value): respond(id, code, value, index)
        case .updateValue(let query, let characteristic, let value, let centrals):
            update(characteristic, value, centrals, query, index, at: now)
        case .setConnectionLatency(let latency, let central): setLatency(latency, central, index)
        case .publishChannel(let isEncrypted): publishChannel(isEncrypted: isEncrypted, index)
        case .unpublishChannel(let psm): unpublishChannel(psm, index, at: now)
        default: break
        }
    }

    // MARK: Services

    private mutating func add(_ service: LocalService, _ index: Int, at now: Instant) {
        let known = managers[index].server.services
        let isComplete = service.includedServices.allSatisfy { id in known.contains { $0.definition.id == id } }
        guard isComplete, !known.contains(where: { $0.definition.id == service.id }) else {
            return tell(.serviceAdded(service.id, .coreBluetooth(.invalidParameters)), index, at: now)
        }
        managers[index].server.services.append(ServerState.Service(definition: service))
        converge(index, at: now)
    }

    /// Puts into the database what is not there yet, included services first: they were added first.
    mutating func publishServices(_ index: Int) {
        let client = managers[index].client
        for place in managers[index].server.services.indices {
            let service = managers[index].server.services[place]
            guard service.published == nil else { continue }
            // One after the other: the next may include this one.
            guard service.token == nil else { return }
            let definition = definition(of: service.definition, index)
            let token = submit(.publish(definition), from: client, for: .publish(client, service.definition.id))
            managers[index].server.services[place].token = token
            return
        }
    }

    private func definition(of service: LocalService, _ index: Int) -> GATTServiceDefinition {
        GATTServiceDefinition(
            uuid: service.uuid, isPrimary: service.isPrimary,
            includedServices: service.includedServices.compactMap { managers[index].server.handle(ofService: $0) },
            characteristics: service.characteristics.map(\.definition))
    }

    mutating func published(
        _ id: LocalAttributeID, _ result: Result<HostResult, HostFailure>, _ client: ClientID, at now: Instant
    ) {
        guard let index = index(of: client),
            let place = managers[index].server.services.firstIndex(where: { $0.definition.id == id })
        else {
            // Removed while it was on its way.
            if case .success(.published(let service)) = result {
                submit(.removeService(service.range.first), from: client)
            }
            return
        }
        managers[index].server.services[place].token = nil
        let isTold = managers[index].server.services[place].isTold
        switch result {
        case .success(.published(let service)):
            managers[index].server.services[place].published = service
            managers[index].server.services[place].isTold = true
            if !isTold { tell(.serviceAdded(id, nil), index, at: now) }
        case .failure(let failure):
            managers[index].server.services.remove(at: place)
            if !isTold { tell(.serviceAdded(id, failure.clientError), index, at: now) }
        case .success: break
        }
        converge(index, at: now)
    }

    private mutating func remove(_ id: LocalAttributeID, _ index: Int, at now: Instant) {
        guard let place = managers[index].server.services.firstIndex(where: { $0.definition.id == id }) else {
            return log(.unknownAttribute, managers[index].app)
        }
        // Who includes it must go first (SPEC 2.4).
        guard !managers[index].server.services.contains(where: { $0.definition.includedServices.contains(id) }) else {
            return log(.unknownAttribute, managers[index].app)
        }
        let service = managers[index].server.services.remove(at: place)
        if let handle = service.published?.range.first { submit(.removeService(handle), from: managers[index].client) }
        let ids = service.definition.characteristics.map(\.id)
        managers[index].server.subscribers.removeAll { ids.contains($0.characteristic) }
        needsJournal = true
    }

    /// Takes all services out of the database, those first that include others.
    mutating func withdrawServices(_ index: Int) {
        for service in managers[index].server.services.reversed() {
            guard let handle = service.published?.range.first else { continue }
            submit(.removeService(handle), from: managers[index].client)
        }
        managers[index].server.services = []
        managers[index].server.subscribers = []
        managers[index].server.questions = []
    }

    // MARK: Advertising

    private mutating func startAdvertising(_ advertisement: AdvertisementRequest, _ index: Int, at now: Instant) {
        if let key = advertisement.unsupportedKeys.first {
            log(.advertisementKeyNotAllowed(key), managers[index].app)
            return tell(.advertisingStarted(.coreBluetooth(.invalidParameters)), index, at: now)
        }
        guard managers[index].server.advertisement == nil else {
            managers[index].server.refusedStarts += 1
            return refuseStarts(index, at: now)
        }
        managers[index].server.advertisement = advertisement
        managers[index].server.owesStart = true
        converge(index, at: now)
        // Others advertise already, or the app is behind and is heard when it comes to the front again.
        if isAdvertising || managers[index].server.runningAdvertisement == nil { advertisingStarted(index, at: now) }
    }

    private mutating func advertisingStarted(_ index: Int, at now: Instant) {
        guard managers[index].server.owesStart else { return }
        managers[index].server.owesStart = false
        tell(.advertisingStarted(nil), index, at: now)
        refuseStarts(index, at: now)
    }

    /// An app that starts twice hears of the first start first.
    private mutating func refuseStarts(_ index: Int, at now: Instant) {
        guard !managers[index].server.owesStart else { return }
        while managers[index].server.refusedStarts > 0 {
            managers[index].server.refusedStarts -= 1
            tell(.advertisingStarted(.coreBluetooth(.alreadyAdvertising)), index, at: now)
        }
    }

    mutating func advertisingChanged(_ isAdvertising: Bool, at now: Instant) {
        self.isAdvertising = isAdvertising
        guard isAdvertising else { return }
        for index in managers.indices { advertisingStarted(index, at: now) }
    }

    mutating func advertisingEnded(
        _ client: ClientID, _ token: CommandToken, _ failure: HostFailure?, at now: Instant
    ) {
        guard let index = index(of: client), managers[index].server.runningAdvertisement?.token == token else { return }
        managers[index].server.runningAdvertisement = nil
        switch failure {
        case nil, .controllerLost, .controllerUnresponsive, .cancelled: return
        case let failure?:
            managers[index].server.advertisement = nil
            guard managers[index].server.owesStart else { return }
            managers[index].server.owesStart = false
            tell(.advertisingStarted(failure.clientError), index, at: now)
            refuseStarts(index, at: now)
        }
    }

    // MARK: Requests of centrals

    mutating func served(_ event: GATTServerEvent, at now: Instant) {
        switch event {
        case .read(let request):
            guard let index = index(of: request.owner),
                let characteristic = managers[index].server.characteristic(with: request.handle),
                let central = describe(request.link, app: managers[index].app)
            else { return refuse(request.id) }
            if isCrowded(index) { return refuse(request.id, .insufficientResources) }
            managers[index].server.questions.append(ServerState.Question(id: request.id, isRead: true))
            tell(
                .readRequest(
                    CentralReadRequest(
                        id: ATTRequestID(rawValue: request.id.rawValue), central: central,
                        characteristic: characteristic, offset: request.offset)), index, at: now)
        case .write(let request): written(request, at: now)
        case .subscribed(let subscription): subscribed(subscription, at: now)
        case .unsubscribed(let subscription): unsubscribed(subscription, at: now)
        case .readyToUpdate:
            for index in managers.indices where managers[index].server.owesReadiness {
                managers[index].server.owesReadiness = false
                tell(.readyToUpdateSubscribers, index, at: now)
            }
        case .requestExpired(let id, _):
            for index in managers.indices {
                guard let place = managers[index].server.questions.firstIndex(where: { $0.id == id }) else { continue }
                managers[index].server.questions.remove(at: place)
                managers[index].queue.removeAll { $0.question == id }
                log(.requestNotAnswered, managers[index].app)
            }
        case .stored, .confirmed, .fellBehind: break
        }
    }

    private mutating func refuse(_ id: GATTRequestID, _ error: ATTError = .unlikelyError) {
        submit(.respond(id, .failure(error)), from: Self.system)
    }

    private mutating func written(_ request: GATTWriteRequest, at now: Instant) {
        guard let index = index(of: request.owner), let central = describe(request.link, app: managers[index].app)
        else { return refuse(request.id) }
        if isCrowded(index) {
            if !request.needsAnswer { managers[index].queue.noteLost() }
            return refuse(request.id, .insufficientResources)
        }
        let writes = request.writes.compactMap { write in
            managers[index].server.characteristic(with: write.handle).map {
                CentralWriteRequests.Write(characteristic: $0, offset: write.offset, value: write.value)
            }
        }
        guard writes.count == request.writes.count, !writes.isEmpty else { return refuse(request.id) }
        managers[index].server.questions.append(ServerState.Question(id: request.id, isRead: false))
        // Commands need no answer: who gives none is not waited for.
        let limit = 256
        if managers[index].server.questions.count > limit { managers[index].server.questions.removeFirst() }
        tell(
            .writeRequests(
                CentralWriteRequests(
                    id: ATTRequestID(rawValue: request.id.rawValue), central: central, writes: writes)), index, at: now)
    }

    private mutating func respond(_ id: ATTRequestID, _ code: UInt8, _ value: [UInt8], _ index: Int) {
        guard
            let place = managers[index].server.questions.firstIndex(where: { $0.id.rawValue == id.rawValue })
        else { return log(.requestAlreadyAnswered, managers[index].app) }
        let question = managers[index].server.questions.remove(at: place)
        let client = managers[index].client
        let answer: GATTAnswer =
            code != 0 ? .failure(ATTError(rawValue: code)) : question.isRead ? .value(value) : .success
        submit(.respond(question.id, answer), from: client, for: .respond(client))
    }

    // MARK: Subscribers

    private mutating func subscribed(_ subscription: GATTSubscription, at now: Instant) {
        guard let index = index(of: subscription.owner),
            let characteristic = managers[index].server.characteristic(with: subscription.handle),
            let address = links.first(where: { $0.id == subscription.link })?.address
        else { return }
        let subscriber = ServerState.Subscriber(
            link: subscription.link, address: address, characteristic: characteristic,
            maximumUpdateLength: subscription.maximumUpdateLength)
        // Another mode is no other subscription.
        let isKnown = managers[index].server.subscribers.contains {
            $0.link == subscriber.link && $0.characteristic == characteristic
        }
        guard !isKnown else { return }
        managers[index].server.subscribers.append(subscriber)
        needsJournal = true
        tell(.subscribed(describe(subscriber, index), characteristic: characteristic), index, at: now)
    }

    private mutating func unsubscribed(_ subscription: GATTSubscription, at now: Instant) {
        guard let index = index(of: subscription.owner),
            let characteristic = managers[index].server.characteristic(with: subscription.handle),
            let place = managers[index].server.subscribers.firstIndex(where: {
                $0.link == subscription.link && $0.characteristic == characteristic
            })
        else { return }
        let subscriber = managers[index].server.subscribers.remove(at: place)
        needsJournal = true
        tell(.unsubscribed(describe(subscriber, index), characteristic: characteristic), index, at: now)
    }

    mutating func describe(_ subscriber: ServerState.Subscriber, _ index: Int) -> CentralDescription {
        CentralDescription(
            identifier: identify(subscriber.address, app: managers[index].app),
            maximumUpdateLength: subscriber.maximumUpdateLength)
    }

    mutating func describe(_ link: LinkID, app: Int) -> CentralDescription? {
        guard let shared = links.first(where: { $0.id == link }) else { return nil }
        return CentralDescription(
            identifier: identify(shared.address, app: app), maximumUpdateLength: shared.attMTU - 3)
    }

    /// What a central asked that is gone is asked no more.
    mutating func centralGone(_ link: LinkID, at now: Instant) {
        for index in managers.indices { managers[index].server.subscribers.removeAll { $0.link == link } }
        needsJournal = true
    }

    // MARK: Updates

    private mutating func update(
        _ characteristic: LocalAttributeID, _ value: [UInt8], _ centrals: [PeerIdentifier]?, _ query: QueryID,
        _ index: Int, at now: Instant
    ) {
        guard let handle = managers[index].server.valueHandle(of: characteristic) else {
            log(.unknownAttribute, managers[index].app)
            return tell(.updateQueued(query, false), index, at: now)
        }
        let app = managers[index].app
        let wanted = centrals.map { identifiers in
            links.filter { link in
                identities.identifier(of: link.address, app: app).map { identifiers.contains($0) } ?? false
            }.map(\.id)
        }
        let client = managers[index].client
        submit(.updateValue(handle, value: value, links: wanted), from: client, for: .update(client, query))
    }

    mutating func updated(
        _ query: QueryID, _ result: Result<HostResult, HostFailure>, _ client: ClientID, at now: Instant
    ) {
        guard let index = index(of: client) else { return }
        let isTaken = result == .success(.accepted(true))
        if !isTaken { managers[index].server.owesReadiness = true }
        tell(.updateQueued(query, isTaken), index, at: now)
    }

    private mutating func setLatency(_ latency: ConnectionLatency, _ central: PeerIdentifier, _ index: Int) {
        guard let address = identities.address(of: central, app: managers[index].app),
            let link = links.first(where: { $0.address == address })
        else { return log(.notConnected(central), managers[index].app) }
        submit(.updateConnectionParameters(link.id, latency.parameters), from: Self.system)
    }
}

extension ClientEvent {
    /// The request of a remote central that it hands over.
    var question: GATTRequestID? {
        switch self {
        case .readRequest(let request): GATTRequestID(rawValue: request.id.rawValue)
        case .writeRequests(let group): GATTRequestID(rawValue: group.id.rawValue)
        default: nil
        }
    }
}

extension LocalCharacteristic {
    /// As the engine publishes it (SPEC PER-2 to PER-5, 2.1).
    var definition: GATTCharacteristicDefinition {
        var octet = CharacteristicProperties(rawValue: UInt8(truncatingIfNeeded: properties))
        if properties & 0x100 != 0 { octet.insert(.notify) }
        if properties & 0x200 != 0 { octet.insert(.indicate) }
        var allowed: AttributePermissions = []
        if permissions & 0x01 != 0 { allowed.insert(.readable) }
        if permissions & 0x02 != 0 { allowed.formUnion([.writeable, .commandWriteable]) }
        if permissions & 0x04 != 0 { allowed.insert(.readEncryption) }
        if permissions & 0x08 != 0 { allowed.insert(.writeEncryption) }
        return GATTCharacteristicDefinition(
            uuid: uuid, properties: octet, permissions: allowed, value: value,
            descriptors: descriptors.map { GATTDescriptorDefinition(uuid: $0.uuid, value: $0.value) },
            needsEncryptionToSubscribe: properties & 0x300 != 0)
    }
}

extension ClientRequest {
    /// Whether the client's own picture changed with it: below `poweredOn` the client drops it, but one that was on its way
    /// as Bluetooth went off counts on both sides.
    fileprivate var changesDatabase: Bool {
        switch self {
        case .addService, .removeService, .removeAllServices, .stopAdvertising: true
        default: false
        }
    }
}
