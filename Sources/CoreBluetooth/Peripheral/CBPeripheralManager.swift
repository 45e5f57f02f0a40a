// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEAppLifecycle
import BLEPackets
import Foundation

/// The peripheral role: publishes services and advertises them (SPEC MOD-8, 1.3).
open class CBPeripheralManager: CBManager {
    struct State {
        weak var delegate: (any CBPeripheralManagerDelegate)?
        var isAdvertising = false
        var services: [CBMutableService] = []
        var attributes: [LocalAttributeID: CBAttribute] = [:]
        var lastAttribute: UInt32 = 0
    }

    let content: Locked<State>
    let centrals = WeakTable<PeerIdentifier, CBCentral>()

    /// A manager on the main queue, without a delegate: one that is set later hears of the state then.
    public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }

    /// A manager without options, which is not preserved.
    /// - Parameter queue: where the delegate is called; `nil`: the main queue (SPEC PER-1).
    public convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// - Parameters:
    ///   - queue: where the delegate is called; `nil`: the main queue (SPEC PER-1).
    ///   - options: `CBPeripheralManagerOptionShowPowerAlertKey`, `CBPeripheralManagerOptionRestoreIdentifierKey`.
    public init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
        content = Locked(State(delegate: delegate))
        let options = options ?? [:]
        super.init(
            role: .peripheral, queue: queue,
            options: ManagerOptions(
                restoreIdentifier: options[CBPeripheralManagerOptionRestoreIdentifierKey] as? String,
                showsPowerAlert: options.flag(CBPeripheralManagerOptionShowPowerAlertKey)))
    }

    deinit {
        // What this manager published has gone with it; the objects are the app's own again.
        for service in content.with({ $0.services }) { unpublish(service) }
    }

    /// Who is told. The first delegate there is hears of the state, whenever it comes.
    open weak var delegate: (any CBPeripheralManagerDelegate)? {
        get { content.with { $0.delegate } }
        set {
            content.with { $0.delegate = newValue }
            if newValue != nil { announceState() }
        }
    }

    /// Whether what this manager wants to advertise is being advertised.
    open var isAdvertising: Bool { content.with { $0.isAdvertising } }

    /// The older form of `authorization`.
    @available(*, deprecated, message: "use CBManager.authorization")
    @discardableResult
    open class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus {
        CBPeripheralManagerAuthorizationStatus(rawValue: authorization.rawValue) ?? .notDetermined
    }

    // MARK: Advertising

    /// - Parameter advertisementData: `CBAdvertisementDataLocalNameKey` and `CBAdvertisementDataServiceUUIDsKey`; any
    ///   other key is an error (SPEC PER-8, PER-10).
    open func startAdvertising(_ advertisementData: [String: Any]?) {
        let data = advertisementData ?? [:]
        let allowed = [CBAdvertisementDataLocalNameKey, CBAdvertisementDataServiceUUIDsKey]
        channel.send(
            .startAdvertising(
                AdvertisementRequest(
                    localName: data[CBAdvertisementDataLocalNameKey] as? String,
                    serviceUUIDs: [BluetoothUUID](data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID]),
                    unsupportedKeys: data.keys.filter { !allowed.contains($0) }.sorted())))
    }

    /// Ends what this manager advertises (SPEC PER-12); what others advertise goes on. The delegate is not called.
    open func stopAdvertising() {
        guard isReady() else { return }
        content.with { $0.isAdvertising = false }
        channel.send(.stopAdvertising)
    }

    // MARK: Services

    /// Puts a service into the local database, where it cannot be changed any more (SPEC PER-6, PER-7).
    /// - Precondition: a characteristic with a value is read-only (SPEC PER-3).
    open func add(_ service: CBMutableService) {
        for characteristic in service.characteristics ?? [] { Self.checkCachedValue(of: characteristic) }
        guard isReady() else { return }
        guard !service.isPublished else {
            return channel.log(.servicePublished)
        }
        channel.send(.addService(publish(service)))
    }

    /// Whether the app has been told that commands are taken; else a line in the log. What changes objects here and the
    /// database there must be dropped on both sides.
    private func isReady() -> Bool {
        if !isPoweredOn { channel.log(.notPoweredOn(.peripheral)) }
        return isPoweredOn
    }

    private static func checkCachedValue(of characteristic: CBCharacteristic) {
        let (isCached, permissions, properties) = characteristic.content.with {
            ($0.value != nil, $0.permissions, $0.properties)
        }
        guard isCached else { return }
        let isReadOnly =
            permissions.isDisjoint(with: [.writeable, .writeEncryptionRequired]) && properties.isSubset(of: [.read])
        guard isReadOnly else { fatalError("Characteristics with cached values must be read-only") }
    }

    /// Takes a service out of the local database. One that another service includes is removed after that one.
    open func remove(_ service: CBMutableService) {
        guard isReady() else { return }
        guard let id = service.localID(on: channel) else { return }
        channel.send(.removeService(id))
        unpublish(service)
    }

    /// Takes all services of this manager out of the local database; what others published stays. The delegate is not
    /// called.
    open func removeAllServices() {
        guard isReady() else { return }
        channel.send(.removeAllServices)
        for service in content.with({ $0.services }) { unpublish(service) }
    }

    // MARK: Requests and updates

    /// Answers a request, exactly once; a group of writes by its first request (SPEC PER-16, PER-18).
    open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) {
        let value = request.isRead && result == .success ? request.value ?? Data() : Data()
        channel.send(
            .respond(request.id, code: UInt8(truncatingIfNeeded: result.rawValue), value: [UInt8](value)))
    }

    /// Sends a value to those who subscribed to it (SPEC PER-21). It is cut at what one update can carry.
    /// - Parameter centrals: only these; `nil`: all who subscribed.
    /// - Returns: false when there is no room: `peripheralManagerIsReady(toUpdateSubscribers:)` follows, and the value is
    ///   to be sent again (SPEC PER-22).
    @discardableResult
    open func updateValue(
        _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
    ) -> Bool {
        guard let id = characteristic.localID(on: channel) else {
            channel.log(.unknownAttribute)
            return false
        }
        let answer = channel.ask {
            .peripheral(.updateValue($0, id, value: [UInt8](value), centrals: centrals?.map(\.peer)))
        }
        guard case .updateQueued(_, let isTaken)? = answer else { return false }
        return isTaken
    }

    /// Wishes for a pace of the connection; the central may decide otherwise.
    open func setDesiredConnectionLatency(_ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral) {
        channel.send(
            .setConnectionLatency(ConnectionLatency(rawValue: latency.rawValue) ?? .low, central: central.peer))
    }

    // MARK: Channels

    /// Offers an L2CAP channel under a number that the system picks; how centrals learn it is up to the app.
    open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
        channel.send(.publishChannel(isEncrypted: encryptionRequired))
    }

    /// Ends the offer and the channels that were opened by it.
    open func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) { channel.send(.unpublishChannel(psm: PSM)) }

    // MARK: What the system tells

    override func lose(in state: CBManagerState) {
        if state != .poweredOn { endSubscriptions() }
        if state.rawValue < CBManagerState.poweredOff.rawValue, state != .unknown {
            content.with { $0.isAdvertising = false }
            for service in content.with({ $0.services }) { unpublish(service) }
        }
    }

    override func stateChanged(to state: CBManagerState) -> Bool {
        guard let delegate else { return false }
        delegate.peripheralManagerDidUpdateState(self)
        return true
    }

    override func receive(_ event: ClientEvent) {
        switch event {
        case .willRestorePeripheral(let restored):
            delegate?.peripheralManager(self, willRestoreState: restore(restored))
        case .serviceAdded(let id, let error): serviceAdded(id, error)
        case .advertisingStarted(let error):
            if error == nil { content.with { $0.isAdvertising = true } }
            delegate?.peripheralManagerDidStartAdvertising(self, error: error?.publicError)
        case .readRequest(let request): received(request)
        case .writeRequests(let requests): received(requests)
        case .subscribed(let central, let id):
            guard let characteristic = characteristic(id) else { return }
            let object = self.central(central)
            characteristic.content.with { state in
                if !state.subscribedCentrals.contains(where: { $0 === object }) {
                    state.subscribedCentrals.append(object)
                }
            }
            delegate?.peripheralManager(self, central: object, didSubscribeTo: characteristic)
        case .unsubscribed(let central, let id):
            guard let characteristic = characteristic(id) else { return }
            let object = self.central(central)
            characteristic.content.with { state in state.subscribedCentrals.removeAll { $0 === object } }
            delegate?.peripheralManager(self, central: object, didUnsubscribeFrom: characteristic)
        case .readyToUpdateSubscribers:
            delegate?.peripheralManagerIsReady(toUpdateSubscribers: self)
        case .channelPublished(let psm, let error):
            delegate?.peripheralManager(self, didPublishL2CAPChannel: psm, error: error?.publicError)
        case .channelUnpublished(let psm, let error):
            delegate?.peripheralManager(self, didUnpublishL2CAPChannel: psm, error: error?.publicError)
        case .channelAccepted(let id, let psm, let central):
            let opened = L2CAPChannelTable.shared.open(id, psm: psm, peer: self.central(central), on: channel)
            delegate?.peripheralManager(self, didOpen: opened, error: nil)
        case .channel(let id, let event):
            L2CAPChannelTable.shared.receive(event, on: id, of: channel)
        case .stateChanged, .statePassed, .eventsLost, .updateQueued: super.receive(event)
        // For central managers.
        case .willRestoreCentral, .discovered, .connected, .connectionFailed, .disconnected, .connectionEvent,
            .retrieved, .peripheral:
            break
        }
    }

    private func received(_ request: CentralReadRequest) {
        guard let characteristic = characteristic(request.characteristic), let delegate else {
            return channel.send(
                .respond(request.id, code: UInt8(CBATTError.Code.unlikelyError.rawValue), value: []))
        }
        delegate.peripheralManager(
            self,
            didReceiveRead: CBATTRequest(
                id: request.id, isRead: true, central: central(request.central), characteristic: characteristic,
                offset: request.offset, value: nil))
    }

    private func received(_ requests: CentralWriteRequests) {
        let central = central(requests.central)
        let objects = requests.writes.compactMap { write in
            characteristic(write.characteristic).map {
                CBATTRequest(
                    id: requests.id, isRead: false, central: central, characteristic: $0, offset: write.offset,
                    value: Data(write.value))
            }
        }
        // All of them or none (SPEC PER-19).
        guard objects.count == requests.writes.count, let delegate else {
            return channel.send(
                .respond(requests.id, code: UInt8(CBATTError.Code.unlikelyError.rawValue), value: []))
        }
        delegate.peripheralManager(self, didReceiveWrite: objects)
    }
}
