import BLEHost
import BLEPackets

/// A remote peripheral that one central manager is connected or connecting to (SPEC CEN-9 to CEN-22).
///
///     waiting ──Bluetooth on, delay over──▶ requested ──link──▶ connected
///        ▲                                      │ cannot be established, engine lost    │ link lost, `reconnects…`
///        └──────────────────────────────────────┴───────────────────────────────────────┘
///     from anywhere: removed by its manager, when the app cancels, the connection fails or the link is lost
///
/// A link that the system itself has lost while the app did not run is made again as it was (`resumes`): what was
/// discovered is confirmed, and what was subscribed is subscribed again (`PeripheralSession+Confirming`).
///
/// Notifications of one characteristic are turned on and off by one call at a time:
///
///     call ──changes nothing──▶ answered
///       └──▶ descriptors are discovered, if needed ──▶ configuration is written ──▶ answered
///
/// The peripheral sees the requests in the app's order. The engine keeps the order of requests with responses. But
/// writes without response would overtake them, other requests could come between the two steps of a subscription, and
/// what turns notifications off again depends on how turning them on ends, so these wait here:
///
///     request ──nothing waits, nothing to overtake──▶ engine ──ended──▶ those that waited for it go to the engine
///        └──▶ waits ──────────────────────────────────────────────────────────────────────────────────┘
struct PeripheralSession {
    enum State: Equatable {
        /// - Parameters:
        ///   - token: `nil` if the connection has not been submitted to the engine yet.
        ///   - notBefore: the end of a start delay.
        case connecting(CommandToken?, notBefore: Instant?)
        case connected(LinkID)
    }

    let client: ClientID
    let app: AppID
    let identifier: PeerIdentifier
    var address: DeviceAddress
    var options: ConnectOptions
    var state: State
    var database = RemoteDatabase()
    /// Whether the link was the app's when the system lost it or ended: the next link takes its place, with what was
    /// discovered and subscribed.
    private(set) var resumes = false
    /// The characteristics whose notifications are being turned on or off.
    private var changing: [RemoteAttributeID] = []
    private(set) var attMTU = 23
    /// Services of the peripheral that the app does not see.
    var hiddenServices: [BluetoothUUID]
    private var order = RequestOrder()

    init(
        _ identifier: PeerIdentifier, at address: DeviceAddress, client: ClientID, app: AppID,
        options: ConnectOptions = ConnectOptions(), notBefore: Instant? = nil, hiddenServices: [BluetoothUUID] = []
    ) {
        self.hiddenServices = hiddenServices
        self.client = client
        self.app = app
        self.identifier = identifier
        self.address = address
        self.options = options
        state = .connecting(nil, notBefore: notBefore)
    }

    /// Restores the session of an earlier process.
    init(_ kept: PreservedManager.Peripheral, client: ClientID, app: AppID, hiddenServices: [BluetoothUUID]) {
        self.init(
            kept.identifier, at: kept.address, client: client, app: app, options: kept.options,
            hiddenServices: hiddenServices)
        guard kept.isConnected else { return }
        database.services = kept.services
        resumes = true
    }

    /// The octets of the requests that have not been submitted to the engine.
    var waitingOctets: Int { order.waitingOctets }

    /// The channels that are being opened.
    var openingCount: Int { order.openings }

    var link: LinkID? { if case .connected(let link) = state { link } else { nil } }
    var writeLimits: WriteLimits { WriteLimits(withResponse: 512, withoutResponse: min(attMTU - 3, 512)) }

    /// When to submit the connection to the engine, if it only waits for a delay.
    var startDeadline: Instant? { if case .connecting(nil, let notBefore) = state { notBefore } else { nil } }

    // MARK: The link

    /// Submits the connection to the engine while Bluetooth is on; does nothing while it is off (SPEC CEN-9).
    mutating func converge(isOn: Bool, into effects: inout ManagerEffects) {
        guard case .connecting(let token, let notBefore) = state else { return }
        if isOn, token == nil {
            if let notBefore, notBefore > effects.now { return }
            let token = effects.submit(
                .radio(.connect(ConnectRequest(peer: address))), from: client, for: .connect(client, identifier))
            state = .connecting(token, notBefore: nil)
        } else if !isOn {
            if let token { effects.cancel(token) }
            // The delay is over: now only Bluetooth is missing.
            guard token != nil || notBefore.map({ $0 <= effects.now }) == true else { return }
            state = .connecting(nil, notBefore: nil)
        }
    }

    mutating func connected(_ link: LinkID, attMTU: Int, into effects: inout ManagerEffects) {
        state = .connected(link)
        self.attMTU = attMTU
        guard resumes else { return forgetDatabase() }
        resumes = false
        confirmDatabase(on: link, &effects)
    }

    /// Waits for the link again, without submitting the connection to the engine yet.
    mutating func wait(until notBefore: Instant? = nil) { state = .connecting(nil, notBefore: notBefore) }

    /// Waits for the link again, which was the app's and is to be as it was. Requests have ended with it.
    mutating func resume() {
        wait()
        resumes = true
        changing = []
        order = RequestOrder()
    }

    mutating func forgetDatabase() {
        database = RemoteDatabase()
        resumes = false
        changing = []
        order = RequestOrder()
    }

    func nameChanged(_ name: String, into effects: inout ManagerEffects) { deliver(.nameUpdated(name), &effects) }

    mutating func mtuChanged(_ mtu: Int, into effects: inout ManagerEffects) {
        attMTU = mtu
        deliver(.writeLimitsChanged(writeLimits), &effects)
    }

    /// The peer's services have changed (SPEC 2.3 didModifyServices).
    mutating func servicesChanged(from first: UInt16, to last: UInt16, into effects: inout ManagerEffects) {
        let gone = database.invalidate(from: first, to: last)
        changing.removeAll { first <= $0.rawValue && $0.rawValue <= last }
        deliver(.servicesModified(invalidated: gone), &effects)
    }

    // MARK: Requests

    /// Carries out a request of the app to a connected peripheral (SPEC CEN-11 to CEN-21).
    mutating func perform(_ request: PeripheralRequest, on link: LinkID, into effects: inout ManagerEffects) {
        guard order.hasRoom(for: request) else { return refuse(request, into: &effects) }
        guard order.mustWait(request) || isHeldUp(request) else { return begin(request, on: link, into: &effects) }
        switch order.enqueue(request) {
        case .queued: break
        case .lastQueued: deliver(.writeWithoutResponseAvailable(false), &effects)
        case .refused: refuse(request, into: &effects)
        }
    }

    /// Answers a request for which there is no room. A write without response is dropped silently, as in the engine
    /// when its queue is full (SPEC CEN-20).
    mutating func refuse(_ request: PeripheralRequest, into effects: inout ManagerEffects) {
        if let task = task(of: request) { failed(task, .coreBluetooth(.outOfSpace), &effects) }
    }

    /// Whether the request waits for an earlier one to the same characteristic.
    private func isHeldUp(_ request: PeripheralRequest) -> Bool {
        if case .setNotify(_, let id) = request { changing.contains(id) } else { false }
    }

    /// Submits the requests that waited for a completed one.
    private mutating func release(on link: LinkID, _ effects: inout ManagerEffects) {
        while let first = order.first, !isHeldUp(first), let request = order.next() {
            begin(request, on: link, into: &effects)
        }
        if order.reportsRoom() { deliver(.writeWithoutResponseAvailable(true), &effects) }
    }

    /// The task of a request; `nil` for a write without response, which has no answer.
    private func task(of request: PeripheralRequest) -> PeripheralTask? {
        switch request {
        case .discoverServices: .discoverServices
        case .discoverIncludedServices(let uuids, let id): .discoverIncludedServices(uuids, service: id)
        case .discoverCharacteristics(_, let id): .discoverCharacteristics(service: id)
        case .discoverDescriptors(let id): .discoverDescriptors(characteristic: id)
        case .readValue(let id): .read(characteristic: id)
        case .readDescriptor(let id): .readDescriptor(id)
        case .writeValue(_, let id): .write(characteristic: id)
        case .writeWithoutResponse: nil
        case .writeDescriptor(_, let id): .writeDescriptor(id)
        case .setNotify(_, let id): .subscribe(characteristic: id)
        case .readRSSI: .readRSSI
        case .openChannel(let psm): .openChannel(psm: psm)
        }
    }

    private mutating func begin(_ request: PeripheralRequest, on link: LinkID, into effects: inout ManagerEffects) {
        switch request {
        case .writeDescriptor(let value, let id): writeDescriptor(value, id, link, &effects)
        case .setNotify(let isOn, let id): setNotify(isOn, id, link, &effects)
        case .readRSSI: submit(.link(link, .procedure(.readRSSI)), .readRSSI, &effects)
        case .openChannel(let psm):
            submit(.channel(.open(link, spsm: psm, ChannelSettings())), .openChannel(psm: psm), &effects)
        case .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors, .readValue,
            .readDescriptor, .writeValue, .writeWithoutResponse:
            let task = task(of: request)
            if let operation = operation(of: request) {
                ask(operation, link, task ?? .writeWithoutResponse, &effects)
            } else if let task {
                refuse(task, &effects)
            }
        }
    }

    /// The operation of a request that is only this one; `nil` if its attribute does not exist.
    private func operation(of request: PeripheralRequest) -> GATTOperation? {
        func value(_ id: RemoteAttributeID) -> AttributeHandle? {
            database.characteristic(id).map { AttributeHandle(rawValue: $0.valueHandle) }
        }
        return switch request {
        case .discoverServices(let uuids): .discoverServices(uuids: uuids)
        case .discoverIncludedServices(_, let id): database.service(id).map { .discoverIncludedServices($0.range) }
        case .discoverCharacteristics(let uuids, let id):
            database.service(id).map { .discoverCharacteristics($0.range, uuids: uuids) }
        case .discoverDescriptors(let id):
            database.characteristic(id).map { .discoverDescriptors($0.descriptorRange) }
        case .readValue(let id): value(id).map { .read($0) }
        case .readDescriptor(let id): database.descriptor(id).map { _ in .read(id.handle) }
        case .writeValue(let octets, let id): value(id).map { .write($0, value: octets) }
        case .writeWithoutResponse(let octets, let id): value(id).map { .writeCommand($0, value: octets) }
        case .writeDescriptor, .setNotify, .readRSSI, .openChannel: nil
        }
    }

    func deliver(_ event: PeripheralEvent, _ effects: inout ManagerEffects) {
        effects.deliver(.peripheral(identifier, event), to: client)
    }

    mutating func ask(
        _ operation: GATTOperation, _ link: LinkID, _ task: PeripheralTask, _ effects: inout ManagerEffects
    ) {
        submit(.link(link, .gatt(operation)), task, &effects)
    }

    private mutating func submit(_ command: HostCommand, _ task: PeripheralTask, _ effects: inout ManagerEffects) {
        order.began(task)
        effects.submit(command, from: client, for: .peripheral(client, identifier, task))
    }

    /// Rejects a request for an attribute that does not exist, or no longer exists.
    private mutating func refuse(_ task: PeripheralTask, _ effects: inout ManagerEffects) {
        effects.log(.unknownAttribute, of: app)
        failed(task, .coreBluetooth(.invalidHandle), &effects)
    }

    private mutating func writeDescriptor(
        _ value: [UInt8], _ id: RemoteAttributeID, _ link: LinkID, _ effects: inout ManagerEffects
    ) {
        let task = PeripheralTask.writeDescriptor(id)
        guard let descriptor = database.descriptor(id) else { return refuse(task, &effects) }
        guard descriptor.uuid != .clientCharacteristicConfiguration else {
            effects.log(.configurationDescriptorWritten, of: app)
            return failed(task, .coreBluetooth(.invalidParameters), &effects)
        }
        ask(.write(id.handle, value: value), link, task, &effects)
    }

    // MARK: Notifications

    /// Uses notifications if the characteristic has them, otherwise indications (SPEC 2.3, CEN-16).
    private mutating func setNotify(
        _ isOn: Bool, _ id: RemoteAttributeID, _ link: LinkID, _ effects: inout ManagerEffects
    ) {
        guard let characteristic = database.characteristic(id) else {
            return refuse(.subscribe(characteristic: id), &effects)
        }
        guard characteristic.mode != nil else {
            return failed(.subscribe(characteristic: id), .att(.requestNotSupported), &effects)
        }
        guard isOn != characteristic.isNotifying else {
            return deliver(.notificationStateUpdated(characteristic: id, isNotifying: isOn, nil), &effects)
        }
        changing.append(id)
        if isOn { return subscribe(to: characteristic, link, &effects) }
        let handle = AttributeHandle(rawValue: characteristic.valueHandle)
        ask(.unsubscribe(handle), link, .unsubscribe(characteristic: id), &effects)
    }

    /// A call has been answered.
    private mutating func changed(_ id: RemoteAttributeID) { changing.removeAll { $0 == id } }

    private mutating func subscribe(
        to characteristic: RemoteCharacteristic, _ link: LinkID, _ effects: inout ManagerEffects
    ) {
        guard let configuration = characteristic.configuration, let mode = characteristic.mode else {
            return ask(
                .discoverDescriptors(characteristic.descriptorRange), link,
                .findConfiguration(characteristic: characteristic.id), &effects)
        }
        ask(
            .subscribe(
                AttributeHandle(rawValue: characteristic.valueHandle),
                configuration: AttributeHandle(rawValue: configuration), mode: mode), link,
            .subscribe(characteristic: characteristic.id), &effects)
    }

    private mutating func setNotifying(
        _ isNotifying: Bool, _ id: RemoteAttributeID, _ effects: inout ManagerEffects
    ) {
        database.changeCharacteristic(id) { $0.isNotifying = isNotifying }
        deliver(.notificationStateUpdated(characteristic: id, isNotifying: isNotifying, nil), &effects)
        changed(id)
    }

    /// The peer has sent a value in a notification or an indication.
    func received(_ value: [UInt8], of handle: AttributeHandle, isPreserved: Bool, into effects: inout ManagerEffects) {
        guard let characteristic = database.characteristic(withValueAt: handle.rawValue) else { return }
        if !isPreserved { effects.alert(.notification, at: address) }
        deliver(.valueUpdated(characteristic: characteristic, value, nil), &effects)
    }

    func setTakesWriteCommands(_ isReady: Bool, into effects: inout ManagerEffects) {
        // Requests that wait here leave no room either; the app gets an event when they have been submitted.
        if isReady, order.isFull { return }
        deliver(.writeWithoutResponseAvailable(isReady), &effects)
    }

    // MARK: Answers

    /// The engine has completed a request.
    mutating func ended(
        _ task: PeripheralTask, _ result: Result<HostResult, HostFailure>, into effects: inout ManagerEffects
    ) {
        guard let link else { return }
        switch result {
        case .failure(.gatt(.disconnected)), .failure(.gatt(.bearerClosed)), .failure(.linkLost),
            .failure(.notConnected), .failure(.gatt(.notConnected)):
            // The disconnection follows and ends all requests (SPEC 2.3).
            return
        case .failure(let failure):
            failed(task, failure.clientError, &effects)
            if let id = task.notifyingCharacteristic { changed(id) }
        case .success(let result): succeeded(task, result, link, &effects)
        }
        order.ended(task)
        release(on: link, &effects)
    }

    /// The manager has taken the channel.
    mutating func channelOpened(psm: UInt16) { order.ended(.openChannel(psm: psm)) }

    private mutating func succeeded(
        _ task: PeripheralTask, _ result: HostResult, _ link: LinkID, _ effects: inout ManagerEffects
    ) {
        switch task {
        case .discoverServices:
            HostAnswer.services.pass(result) { found in
                let services = database.merge(found.filter { !hiddenServices.contains($0.uuid) })
                deliver(.servicesDiscovered(services, nil), &effects)
            }
        case .discoverIncludedServices(let uuids, let id):
            HostAnswer.includedServices.pass(result) { found in
                let visible = found.filter { !hiddenServices.contains($0.uuid) }
                let wanted = uuids.isEmpty ? visible : visible.filter { uuids.contains($0.uuid) }
                let services = database.merge(wanted, into: id)
                deliver(.includedServicesDiscovered(service: id, services, nil), &effects)
            }
        case .discoverCharacteristics(let id):
            HostAnswer.characteristics.pass(result) {
                deliver(.characteristicsDiscovered(service: id, database.merge($0, into: id), nil), &effects)
            }
        case .discoverDescriptors(let id):
            HostAnswer.descriptors.pass(result) {
                deliver(.descriptorsDiscovered(characteristic: id, database.merge($0, into: id), nil), &effects)
            }
        case .findConfiguration(let id):
            HostAnswer.descriptors.pass(result) { foundConfiguration(among: $0, of: id, link, &effects) }
        case .read(let id):
            HostAnswer.value.pass(result) { deliver(.valueUpdated(characteristic: id, $0, nil), &effects) }
        case .readDescriptor(let id):
            HostAnswer.value.pass(result) { deliver(.descriptorValueUpdated(id, $0, nil), &effects) }
        case .readRSSI: HostAnswer.rssi.pass(result) { deliver(.rssiRead(rssi: $0, nil), &effects) }
        case .write(let id): deliver(.valueWritten(characteristic: id, nil), &effects)
        case .writeDescriptor(let id): deliver(.descriptorWritten(id, nil), &effects)
        case .subscribe(let id): setNotifying(true, id, &effects)
        case .unsubscribe(let id): setNotifying(false, id, &effects)
        case .confirmServices: HostAnswer.services.pass(result) { confirm($0, on: link, &effects) }
        case .confirmCharacteristics(let id):
            HostAnswer.characteristics.pass(result) { confirm($0, of: id, on: link, &effects) }
        case .confirmConfiguration(let id):
            HostAnswer.descriptors.pass(result) { subscribeAgain(to: id, configuredAmong: $0, on: link, &effects) }
        case .subscribeAgain: break
        // A write without response has no event, and the manager handles an open channel.
        case .writeWithoutResponse, .openChannel: break
        }
    }

    /// The descriptors of a characteristic are known: its configuration is written next.
    private mutating func foundConfiguration(
        among found: [DiscoveredDescriptor], of id: RemoteAttributeID, _ link: LinkID, _ effects: inout ManagerEffects
    ) {
        guard let configuration = found.first(where: { $0.uuid == .clientCharacteristicConfiguration }) else {
            failed(.subscribe(characteristic: id), .att(.requestNotSupported), &effects)
            return changed(id)
        }
        database.changeCharacteristic(id) { $0.configuration = configuration.handle.rawValue }
        guard let characteristic = database.characteristic(id) else { return }
        subscribe(to: characteristic, link, &effects)
    }

    private mutating func failed(_ task: PeripheralTask, _ error: ClientError, _ effects: inout ManagerEffects) {
        switch task {
        case .discoverServices: deliver(.servicesDiscovered(database.services ?? [], error), &effects)
        case .discoverIncludedServices(_, let id):
            deliver(.includedServicesDiscovered(service: id, [], error), &effects)
        case .discoverCharacteristics(let id):
            let known = database.service(id)?.characteristics ?? []
            deliver(.characteristicsDiscovered(service: id, known, error), &effects)
        case .discoverDescriptors(let id): deliver(.descriptorsDiscovered(characteristic: id, [], error), &effects)
        case .read(let id): deliver(.valueUpdated(characteristic: id, nil, error), &effects)
        case .readDescriptor(let id): deliver(.descriptorValueUpdated(id, nil, error), &effects)
        case .write(let id): deliver(.valueWritten(characteristic: id, error), &effects)
        case .writeWithoutResponse: break
        case .writeDescriptor(let id): deliver(.descriptorWritten(id, error), &effects)
        case .findConfiguration(let id), .subscribe(let id), .unsubscribe(let id):
            let isNotifying = database.characteristic(id)?.isNotifying ?? false
            deliver(.notificationStateUpdated(characteristic: id, isNotifying: isNotifying, error), &effects)
        case .readRSSI: deliver(.rssiRead(rssi: 127, error), &effects)
        case .openChannel(let psm): deliver(.channelOpened(nil, psm: psm, error), &effects)
        case .confirmServices: invalidate(database.services ?? [], &effects)
        case .confirmCharacteristics(let id): invalidate(database.service(id).map { [$0] } ?? [], &effects)
        case .confirmConfiguration(let id), .subscribeAgain(let id): lostSubscription(to: id, error, &effects)
        }
    }
}
