import BLEHost
import BLEPackets

/// The state of one peripheral manager: services, advertising, answers and values for remote centrals (SPEC PER-6 to
/// PER-24).
///
/// Services are published in the engine's database one after another, since each may include earlier ones:
///
///     added ──converge──▶ being published ──published──▶ reported ──removed──▶ gone
///                              │ refused: reported with the error, gone
///
/// The advertising follows the app's request and the current permissions:
///
///     nothing runs ──wanted, and allowed──▶ runs ──other content or place──▶ changed
///         ▲                                  │ not wanted, not allowed: cancelled
///         └──────────────────────────────────┘ ended by the engine
struct PeripheralManager {
    struct Service: Equatable {
        var definition: LocalService
        /// Set while the service is being published.
        var token: CommandToken?
        var published: GATTPublishedService?
        /// Whether the app knows its result.
        var isReported = false
    }

    struct RunningAdvertisement: Equatable {
        var token: CommandToken
        /// The request as it was submitted to the engine.
        var request: AdvertiseRequest
    }

    struct Question: Equatable {
        var id: GATTRequestID
        var isRead: Bool
        /// Whether the central waits for the answer.
        var needsAnswer = true
    }

    /// Write commands need no response, so their number must be bounded.
    static let questionLimit = 256

    let client: ClientID
    let app: AppID
    /// The error for services whose app may not run (SPEC FGO-3, 2.4).
    let disabledServiceError: ATTError
    /// In the order in which they were added.
    private(set) var services = OrderedTable<LocalAttributeID, Service>() { didSet { revision += 1 } }
    private(set) var advertisement: AdvertisementRequest? { didSet { revision += 1 } }
    private(set) var runningAdvertisement: RunningAdvertisement?
    /// Whether the app waits for the result of `startAdvertising`.
    private var owesStart = false
    /// Further calls of `startAdvertising`, which are rejected once the first is answered.
    private var refusedStarts = 0
    /// In the order in which they were made.
    var subscriptions: [Subscription] = [] { didSet { revision += 1 } }
    /// Grows when something changes that is preserved.
    private(set) var revision: UInt64 = 0
    /// The requests that the app must answer, oldest first.
    var questions: [Question] = []
    /// Services that a process had before its system was restarted, until it adds them again. Only for lookup, never
    /// iterated.
    private var unclaimedServices: Set<LocalAttributeID> = []
    private var isAdvertisementUnclaimed = false
    /// Whether an update was refused.
    var owesReadiness = false
    /// Whether the engine refuses access to the services.
    private var isDisabled = false
    var channels: ChannelTable

    init(client: ClientID, app: AppID, disabledServiceError: ATTError = .unlikelyError) {
        self.client = client
        self.app = app
        self.disabledServiceError = disabledServiceError
        channels = ChannelTable(client: client)
    }

    /// Restores the state of an earlier process.
    mutating func restore(_ kept: PreservedManager) {
        for service in kept.services { services[service.id] = Service(definition: service, isReported: true) }
        advertisement = kept.advertisement
    }

    // MARK: Requests

    /// - Parameter links: the links of the centrals in a request; `nil` if it names none.
    mutating func perform(
        _ request: PeripheralManagerRequest, to links: [LinkID]?, _ permissions: ManagerPermissions,
        into effects: inout ManagerEffects
    ) {
        guard permissions.isOn || permissions.state == .poweredOff && request.changesDatabase else {
            if case .updateValue(let query, _, _, _) = request {
                effects.deliver(.updateQueued(query, false), to: client)
            }
            return effects.log(.notPoweredOn(.peripheral), of: app)
        }
        switch request {
        case .addService(let service): add(service, permissions, &effects)
        case .removeService(let id): remove(id, &effects)
        case .removeAllServices:
            withdrawServices(into: &effects)
        case .startAdvertising(let advertisement): startAdvertising(advertisement, permissions, &effects)
        case .stopAdvertising:
            advertisement = nil
            owesStart = false
            refusedStarts = 0
            converge(permissions, into: &effects)
        case .respond(let id, let code, let value): respond(id, code, value, &effects)
        case .updateValue(let query, let characteristic, let value, _):
            update(characteristic, value, links, query, &effects)
        case .setConnectionLatency(let latency, let central):
            guard let link = links?.first else { return effects.log(.notConnected(central), of: app) }
            effects.submit(.link(link, .procedure(.updateParameters(latency.parameters))), from: .system)
        case .publishChannel(let isEncrypted): channels.publish(isEncrypted: isEncrypted, into: &effects)
        case .unpublishChannel(let psm): channels.unpublish(psm, into: &effects)
        }
    }

    // MARK: What the engine is to do

    /// All activities start here, so that none is forgotten when the permissions change.
    mutating func converge(_ permissions: ManagerPermissions, into effects: inout ManagerEffects) {
        convergeAdvertising(permissions, into: &effects)
        if permissions.state >= .poweredOff { publishNext(into: &effects) }
        if permissions.isActive == isDisabled {
            isDisabled = !permissions.isActive
            effects.submit(.server(.disableServices(isDisabled ? disabledServiceError : nil)), from: client)
        }
    }

    // MARK: Services

    private mutating func add(
        _ service: LocalService, _ permissions: ManagerPermissions, _ effects: inout ManagerEffects
    ) {
        let isComplete = service.includedServices.allSatisfy { services[$0] != nil }
        guard isComplete, services[service.id] == nil || unclaimedServices.contains(service.id) else {
            return effects.deliver(.serviceAdded(service.id, .coreBluetooth(.invalidParameters)), to: client)
        }
        let same = services.first {
            unclaimedServices.contains($0.definition.id) && $0.definition.hasContent(of: service) && $0.token == nil
        }
        if let same { return claim(same, as: service, permissions, &effects) }
        services[service.id] = Service(definition: service)
        converge(permissions, into: &effects)
    }

    /// The process of an earlier connection continues: it adds its services and advertises again.
    mutating func continueProcess() {
        unclaimedServices = Set(services.map(\.definition.id))
        isAdvertisementUnclaimed = advertisement != nil
    }

    /// A service that the app adds again keeps its handles, and so its subscribers.
    private mutating func claim(
        _ kept: Service, as service: LocalService, _ permissions: ManagerPermissions, _ effects: inout ManagerEffects
    ) {
        unclaimedServices.remove(kept.definition.id)
        services[kept.definition.id] = nil
        var claimed = kept
        claimed.definition = service
        claimed.isReported = kept.published != nil
        services[service.id] = claimed
        if claimed.isReported { effects.deliver(.serviceAdded(service.id, nil), to: client) }
        let ids = zip(kept.definition.characteristics.map(\.id), service.characteristics.map(\.id))
        for (before, now) in ids {
            for place in subscriptions.indices where subscriptions[place].characteristic == before {
                subscriptions[place].characteristic = now
                let subscription = subscriptions[place]
                effects.deliver(
                    .subscribed(subscription.description(of: subscription.central), characteristic: now), to: client)
            }
        }
        converge(permissions, into: &effects)
    }

    /// Publishes the next service; included services come first, because they were added first.
    private mutating func publishNext(into effects: inout ManagerEffects) {
        guard let service = services.first(where: { $0.published == nil }),
            // One after the other: the next may include this one.
            service.token == nil
        else { return }
        let definition = GATTServiceDefinition(
            uuid: service.definition.uuid, isPrimary: service.definition.isPrimary,
            includedServices: service.definition.includedServices.compactMap { services[$0]?.published?.range.first },
            characteristics: service.definition.characteristics.map(\.definition))
        let id = service.definition.id
        let token = effects.submit(.server(.publish(definition)), from: client, for: .publish(client, id))
        services[id]?.token = token
    }

    /// The engine has published or rejected a service.
    mutating func published(
        _ id: LocalAttributeID, _ result: Result<GATTPublishedService, HostFailure>, _ permissions: ManagerPermissions,
        into effects: inout ManagerEffects
    ) {
        guard let isReported = services[id]?.isReported else {
            // The service was removed while it was being published.
            if case .success(let service) = result {
                effects.submit(.server(.removeService(service.range.first)), from: client)
            }
            return
        }
        services[id]?.token = nil
        switch result {
        case .success(let service):
            services[id]?.published = service
            services[id]?.isReported = true
            if !isReported { effects.deliver(.serviceAdded(id, nil), to: client) }
        case .failure(let failure):
            services[id] = nil
            if !isReported { effects.deliver(.serviceAdded(id, failure.clientError), to: client) }
        }
        converge(permissions, into: &effects)
    }

    private mutating func remove(_ id: LocalAttributeID, _ effects: inout ManagerEffects) {
        // Services that include it must go first (SPEC 2.4).
        guard let service = services[id], !services.contains(where: { $0.definition.includedServices.contains(id) })
        else { return effects.log(.unknownAttribute, of: app) }
        services[id] = nil
        if let handle = service.published?.range.first { effects.submit(.server(.removeService(handle)), from: client) }
        let characteristics = service.definition.characteristics.map(\.id)
        subscriptions.removeAll { characteristics.contains($0.characteristic) }
    }

    /// Removes all services from the database; services that include others go first.
    private mutating func withdrawServices(into effects: inout ManagerEffects) {
        for service in services.reversed() {
            guard let handle = service.published?.range.first else { continue }
            effects.submit(.server(.removeService(handle)), from: client)
        }
        services.removeAll()
        unclaimedServices = []
        subscriptions = []
        questions = []
    }

    func characteristic(with valueHandle: AttributeHandle) -> LocalAttributeID? {
        for service in services {
            guard let index = service.published?.characteristics.firstIndex(where: { $0.valueHandle == valueHandle }),
                index < service.definition.characteristics.count
            else { continue }
            return service.definition.characteristics[index].id
        }
        return nil
    }

    func valueHandle(of characteristic: LocalAttributeID) -> AttributeHandle? {
        for service in services {
            guard let index = service.definition.characteristics.firstIndex(where: { $0.id == characteristic }),
                let published = service.published, index < published.characteristics.count
            else { continue }
            return published.characteristics[index].valueHandle
        }
        return nil
    }

    // MARK: Advertising

    private mutating func startAdvertising(
        _ advertisement: AdvertisementRequest, _ permissions: ManagerPermissions, _ effects: inout ManagerEffects
    ) {
        if let key = advertisement.unsupportedKeys.first {
            effects.log(.advertisementKeyNotAllowed(key), of: app)
            return effects.deliver(.advertisingStarted(.coreBluetooth(.invalidParameters)), to: client)
        }
        if isAdvertisementUnclaimed { self.advertisement = nil }
        isAdvertisementUnclaimed = false
        guard self.advertisement == nil else {
            refusedStarts += 1
            return refuseStarts(&effects)
        }
        self.advertisement = advertisement
        owesStart = true
        converge(permissions, into: &effects)
        // Advertising is already on the air, or the app is in the background and will advertise when it returns to the
        // foreground.
        if permissions.isAdvertising || runningAdvertisement == nil { advertisingStarted(into: &effects) }
    }

    /// The controller is advertising.
    mutating func advertisingStarted(into effects: inout ManagerEffects) {
        guard owesStart else { return }
        owesStart = false
        effects.deliver(.advertisingStarted(nil), to: client)
        refuseStarts(&effects)
    }

    /// An app that starts twice receives the result of the first start first.
    private mutating func refuseStarts(_ effects: inout ManagerEffects) {
        guard !owesStart else { return }
        while refusedStarts > 0 {
            refusedStarts -= 1
            effects.deliver(.advertisingStarted(.coreBluetooth(.alreadyAdvertising)), to: client)
        }
    }

    /// The engine has ended the advertising.
    mutating func advertisingEnded(_ token: CommandToken, _ failure: HostFailure?, into effects: inout ManagerEffects) {
        guard runningAdvertisement?.token == token else { return }
        runningAdvertisement = nil
        switch failure {
        case nil, .controllerLost, .controllerUnresponsive, .controllerFault, .cancelled: return
        case let failure?:
            advertisement = nil
            guard owesStart else { return }
            owesStart = false
            effects.deliver(.advertisingStarted(failure.clientError), to: client)
            refuseStarts(&effects)
        }
    }

    mutating func convergeAdvertising(_ permissions: ManagerPermissions, into effects: inout ManagerEffects) {
        switch (runningAdvertisement, wantedAdvertisement(permissions)) {
        case (nil, let wanted?):
            runningAdvertisement = RunningAdvertisement(
                token: effects.submit(.radio(.advertise(wanted)), from: client, for: .advertise(client)),
                request: wanted)
        case (let running?, nil):
            effects.cancel(running.token)
            runningAdvertisement = nil
        case (let running?, let wanted?) where running.request != wanted:
            // The operation can only be changed once it is known.
            guard let operation = effects.commands.operation(of: running.token) else { return }
            effects.submit(.radio(.changeAdvertising(operation, wanted)), from: client)
            runningAdvertisement?.request = wanted
        case (nil, nil), (_?, _?): break
        }
    }

    private func wantedAdvertisement(_ permissions: ManagerPermissions) -> AdvertiseRequest? {
        guard let advertisement, permissions.isOn, permissions.isActive else { return nil }
        return AdvertiseRequest(
            .packed(localName: advertisement.localName, serviceUUIDs: advertisement.serviceUUIDs),
            isInBackground: permissions.isInBackground, overflow: permissions.overflow)
    }

    // MARK: Ending

    /// The losses below `poweredOff` (SPEC 2.4).
    mutating func fall(into effects: inout ManagerEffects) {
        advertisement = nil
        owesStart = false
        withdrawServices(into: &effects)
    }

    /// Ends all activities of the manager.
    mutating func drop(into effects: inout ManagerEffects) {
        if let running = runningAdvertisement { effects.cancel(running.token) }
        withdrawServices(into: &effects)
    }

    /// Allows access to its remaining services in the engine again.
    func enableServices(into effects: inout ManagerEffects) {
        if isDisabled { effects.submit(.server(.disableServices(nil)), from: client) }
    }

    // MARK: Preservation

    /// - Parameter identifier: returns the app's identifier of a central.
    func preserve(into kept: inout PreservedManager, identifier: (DeviceAddress) -> PeerIdentifier?) {
        kept.services = services.map(\.definition)
        kept.advertisement = advertisement
        for subscription in subscriptions {
            guard let central = identifier(subscription.address) else { continue }
            let description = subscription.description(of: central)
            if let place = kept.subscriptions.firstIndex(where: { $0.characteristic == subscription.characteristic }) {
                kept.subscriptions[place].centrals.append(description)
            } else {
                kept.subscriptions.append(
                    RestoredPeripheral.Subscription(
                        characteristic: subscription.characteristic, centrals: [description]))
            }
        }
    }
}

extension PeripheralManagerRequest {
    /// Whether the request changes the app's own state: below `poweredOn` the app drops it, but a request that was
    /// pending when Bluetooth went off counts on both sides.
    fileprivate var changesDatabase: Bool {
        switch self {
        case .addService, .removeService, .removeAllServices, .stopAdvertising: true
        case .startAdvertising, .respond, .updateValue, .setConnectionLatency, .publishChannel, .unpublishChannel: false
        }
    }
}
