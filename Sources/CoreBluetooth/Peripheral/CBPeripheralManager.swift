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

    /// Creates a manager on the main queue without a delegate. A delegate that is set later receives the state then.
    public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }

    /// Creates a manager without options; its state is not preserved.
    /// - Parameter queue: the queue of the delegate's calls; `nil`: the main queue (SPEC PER-1).
    public convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Creates a manager.
    /// - Parameters:
    ///   - queue: the queue of the delegate's calls; `nil`: the main queue (SPEC PER-1).
    ///   - options: `CBPeripheralManagerOptionShowPowerAlertKey`, `CBPeripheralManagerOptionRestoreIdentifierKey`.
    public init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
        content = Locked(State(delegate: delegate))
        let options = options ?? [:]
        super.init(
            role: .peripheral, queue: queue,
            options: ManagerOptions(
                restoreIdentifier: options[CBPeripheralManagerOptionRestoreIdentifierKey] as? String,
                showsPowerAlert: options.flag(CBPeripheralManagerOptionShowPowerAlertKey)))
        delegate?.reportUncallableMethods(to: channel)
    }

    deinit {
        // The services went with this manager; the app may change the objects again.
        for service in content.with({ $0.services }) { unpublish(service) }
    }

    /// The delegate. The first one that is set receives the state, even if it is set late.
    open weak var delegate: (any CBPeripheralManagerDelegate)? {
        get { content.with { $0.delegate } }
        set {
            content.with { $0.delegate = newValue }
            newValue?.reportUncallableMethods(to: channel)
            if newValue != nil { announceState() }
        }
    }

    /// Whether this manager's advertisement is on the air.
    open var isAdvertising: Bool { content.with { $0.isAdvertising } }

    /// The older form of `authorization`.
    @available(*, deprecated, message: "use CBManager.authorization")
    @discardableResult
    open class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus {
        CBPeripheralManagerAuthorizationStatus(rawValue: authorization.rawValue) ?? .notDetermined
    }

    // MARK: Advertising

    /// Starts advertising; `peripheralManagerDidStartAdvertising(_:error:)` follows.
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

    /// Stops this manager's advertising (SPEC PER-12), but not that of others. The delegate is not called.
    open func stopAdvertising() {
        guard isReady() else { return }
        content.with { $0.isAdvertising = false }
        channel.send(.stopAdvertising)
    }

    // MARK: Services

    /// Adds a service to the local database; the app can no longer change it (SPEC PER-6, PER-7).
    /// `peripheralManager(_:didAdd:error:)` follows.
    /// - Precondition: a characteristic with a value is read-only (SPEC PER-3).
    open func add(_ service: CBMutableService) {
        for characteristic in service.characteristics ?? [] { Self.checkCachedValue(of: characteristic) }
        guard isReady() else { return }
        guard !service.isPublished else {
            return channel.log(.servicePublished)
        }
        channel.send(.addService(publish(service)))
    }

    /// Whether the delegate knows that the manager is powered on; otherwise writes a line to the log. A command
    /// that changes both the objects here and the system's database must be dropped for both.
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

    /// Removes a service from the local database. A service that another one includes is removed after that one.
    open func remove(_ service: CBMutableService) {
        guard isReady() else { return }
        guard let id = service.localID(on: channel) else { return }
        channel.send(.removeService(id))
        unpublish(service)
    }

    /// Removes all services of this manager from the local database, but not those of others. The delegate is not
    /// called.
    open func removeAllServices() {
        guard isReady() else { return }
        channel.send(.removeAllServices)
        for service in content.with({ $0.services }) { unpublish(service) }
    }

    // MARK: Requests and updates

    /// Responds to a request, exactly once; to a group of writes with its first request (SPEC PER-16, PER-18).
    /// - Parameter result: `.success`, or the error code of the response.
    open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) {
        let value = request.isRead && result == .success ? request.value ?? Data() : Data()
        channel.send(
            .respond(request.id, code: UInt8(truncatingIfNeeded: result.rawValue), value: [UInt8](value)))
    }

    /// Sends a value to the subscribed centrals (SPEC PER-21). The value is truncated to what one update can carry.
    /// - Parameter centrals: the centrals to send to; `nil`: all that subscribed.
    /// - Returns: false if the queue is full: send the value again after
    ///   `peripheralManagerIsReady(toUpdateSubscribers:)` (SPEC PER-22).
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

    /// Requests a connection interval and latency; the central may decide otherwise.
    open func setDesiredConnectionLatency(_ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral) {
        channel.send(
            .setConnectionLatency(ConnectionLatency(rawValue: latency.rawValue) ?? .low, central: central.peer))
    }

    // MARK: Channels

    /// Offers an L2CAP channel with a PSM that the system picks; `peripheralManager(_:didPublishL2CAPChannel:error:)`
    /// follows. The app decides how centrals learn the PSM.
    open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
        channel.send(.publishChannel(isEncrypted: encryptionRequired))
    }

    /// Withdraws the offer and closes the channels that centrals opened to it;
    /// `peripheralManager(_:didUnpublishL2CAPChannel:error:)` follows.
    open func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) { channel.send(.unpublishChannel(psm: PSM)) }

    // MARK: Events of the system

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
        // Events of central managers.
        default: break
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
