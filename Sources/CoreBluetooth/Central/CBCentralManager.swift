import BLEAppLifecycle
import BLEPackets
import Foundation

/// The central role: finds peripherals and connects to them (SPEC MOD-7, 1.2).
open class CBCentralManager: CBManager {
    /// Optional features of the controller.
    public struct Feature: OptionSet, Hashable, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Extended advertising and scanning, and connections to such advertisers (Bluetooth 5).
        public static let extendedScanAndConnect = Feature(rawValue: 1 << 0)
    }

    private struct State {
        weak var delegate: (any CBCentralManagerDelegate)?
        var isScanning = false
        var scanObservers: [AsyncStream<Bool>.Continuation] = []
        var reported = ReportedAdvertisements()
        /// Peripherals whose connection the app cancelled. They are retained until their delegate has been called: the
        /// app may have released them by then.
        var leaving: [CBPeripheral] = []
    }

    private let content: Locked<State>
    /// One object per device (SPEC 2.3), for as long as the app keeps it (SPEC CEN-6).
    let known = WeakTable<PeerIdentifier, CBPeripheral>()

    /// Creates a manager on the main queue without a delegate. A delegate that is set later receives the state then.
    public convenience init() { self.init(delegate: nil, queue: nil, options: nil) }

    /// Creates a manager without options; its state is not preserved.
    /// - Parameter queue: the queue of the delegate's calls; `nil`: the main queue (SPEC CEN-1).
    public convenience init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Creates a manager.
    /// - Parameters:
    ///   - queue: the queue of the delegate's calls; `nil`: the main queue (SPEC CEN-1).
    ///   - options: `CBCentralManagerOptionShowPowerAlertKey`, `CBCentralManagerOptionRestoreIdentifierKey`.
    public init(delegate: (any CBCentralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
        content = Locked(State(delegate: delegate))
        let options = options ?? [:]
        super.init(
            role: .central, queue: queue,
            options: ManagerOptions(
                restoreIdentifier: options[CBCentralManagerOptionRestoreIdentifierKey] as? String,
                showsPowerAlert: options.flag(CBCentralManagerOptionShowPowerAlertKey)))
        delegate?.reportUncallableMethods(to: channel)
    }

    /// The delegate. The first one that is set receives the state, even if it is set late.
    open weak var delegate: (any CBCentralManagerDelegate)? {
        get { content.with { $0.delegate } }
        set {
            content.with { $0.delegate = newValue }
            newValue?.reportUncallableMethods(to: channel)
            if newValue != nil { announceState() }
        }
    }

    /// Whether this manager is scanning.
    open var isScanning: Bool { content.with { $0.isScanning } }

    /// Whether this manager is scanning: now, and at each change. It replaces key-value observing on Linux.
    public var scanningStates: AsyncStream<Bool> {
        let (stream, continuation) = AsyncStream<Bool>.makeStream()
        content.with {
            $0.scanObservers.append(continuation)
            continuation.yield($0.isScanning)
        }
        return stream
    }

    /// A property by its name: `state`, `authorization`, `isScanning` or `delegate`.
    override open func value(forKey key: String) -> Any? {
        switch key {
        case "isScanning": isScanning
        case "delegate": delegate
        default: super.value(forKey: key)
        }
    }

    /// Whether the controller supports all of these features; false while that is unknown.
    @discardableResult
    open class func supports(_ features: Feature) -> Bool {
        CurrentSystem.system.features.isSuperset(of: features)
    }

    private func setScanning(_ isScanning: Bool) {
        content.with {
            guard $0.isScanning != isScanning else { return }
            $0.isScanning = isScanning
            $0.scanObservers.removeAll { if case .terminated = $0.yield(isScanning) { true } else { false } }
        }
    }

    // MARK: Known peripherals

    /// The peripherals with these identifiers that this app knows (SPEC REC-4).
    @discardableResult
    open func retrievePeripherals(withIdentifiers identifiers: [UUID]) -> [CBPeripheral] {
        retrieved { .retrievePeripherals($0, identifiers.map { PeerIdentifier($0) }) }
    }

    /// The peripherals that are connected to this system, by any app, and have any of the services (SPEC REC-6). The
    /// app must call `connect(_:options:)` before it uses them (SPEC REC-7).
    @discardableResult
    open func retrieveConnectedPeripherals(withServices serviceUUIDs: [CBUUID]) -> [CBPeripheral] {
        retrieved { .retrieveConnectedPeripherals($0, services: serviceUUIDs.map(\.value)) }
    }

    private func retrieved(_ make: (QueryID) -> CentralManagerRequest) -> [CBPeripheral] {
        guard case .retrieved(_, let found)? = channel.ask({ .central(make($0)) }) else { return [] }
        return found.map { peripheral($0) }
    }

    /// The single object of a device.
    private func peripheral(_ description: PeripheralDescription) -> CBPeripheral {
        let (object, isNew) = known.object(of: description.identifier) {
            CBPeripheral(description, channel: channel, table: known)
        }
        if !isNew { object.update(description) }
        return object
    }

    // MARK: Scanning

    /// Scans for devices. A second call replaces the first.
    /// - Parameters:
    ///   - serviceUUIDs: only devices that advertise one of these; `nil`: all (SPEC CEN-4).
    ///   - options: `CBCentralManagerScanOptionAllowDuplicatesKey` and
    ///     `CBCentralManagerScanOptionSolicitedServiceUUIDsKey`.
    open func scanForPeripherals(withServices serviceUUIDs: [CBUUID]?, options: [String: Any]? = nil) {
        let solicited = options?[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID]
        let allowsDuplicates = options?.flag(CBCentralManagerScanOptionAllowDuplicatesKey) ?? false
        if allowsDuplicates, channel.usesMainQueue { channel.log(.duplicatesOnMainQueue) }
        content.with { $0.reported = ReportedAdvertisements(allowsDuplicates: allowsDuplicates) }
        if isPoweredOn { setScanning(true) }
        channel.send(
            .scan(
                ScanOptions(
                    services: [BluetoothUUID](serviceUUIDs),
                    allowsDuplicates: allowsDuplicates,
                    solicitedServices: [BluetoothUUID](solicited))))
    }

    /// Ends the scan (SPEC CEN-7). Discoveries that wait for the queue are dropped.
    open func stopScan() {
        setScanning(false)
        channel.send(.stopScan)
    }

    // MARK: Connecting

    /// Waits for the device without a timeout and connects (SPEC CEN-8, CEN-9). Keep the peripheral: the connection
    /// ends when its last reference goes. While the state is `.resetting`, the connection waits for the controller: so
    /// `didDisconnectPeripheral` for a link that was lost with it can connect again.
    open func connect(_ peripheral: CBPeripheral, options: [String: Any]? = nil) {
        guard isPoweredOn || state == .resetting else { return channel.log(.notPoweredOn(.central)) }
        let options = options ?? [:]
        let delay = (options[CBConnectPeripheralOptionStartDelayKey] as? NSNumber)?.doubleValue ?? 0
        peripheral.beginConnecting()
        channel.send(
            .connect(
                peripheral.peer,
                ConnectOptions(
                    notifiesOnConnection: options.flag(CBConnectPeripheralOptionNotifyOnConnectionKey),
                    notifiesOnDisconnection: options.flag(CBConnectPeripheralOptionNotifyOnDisconnectionKey),
                    notifiesOnNotification: options.flag(CBConnectPeripheralOptionNotifyOnNotificationKey),
                    startDelayMilliseconds: Int64(max(0, min(delay, 1e9)) * 1000),
                    reconnectsAutomatically: options.flag(CBConnectPeripheralOptionEnableAutoReconnect))))
    }

    /// Ends the connection or the connection attempt; returns at once (SPEC CEN-22 to CEN-24).
    open func cancelPeripheralConnection(_ peripheral: CBPeripheral) {
        if isPoweredOn, peripheral.state != .disconnected {
            peripheral.beginDisconnecting()
            content.with { $0.leaving.append(peripheral) }
        }
        channel.send(.cancelConnection(peripheral.peer))
    }

    /// Forgets cancelled connections whose end has been reported. Releases the objects only after the lock is free.
    private func left(_ peer: PeerIdentifier? = nil) {
        let gone = content.with { state in
            let gone = state.leaving.filter { peer == nil || $0.peer == peer }
            state.leaving.removeAll { peer == nil || $0.peer == peer }
            return gone
        }
        withExtendedLifetime(gone) {}
    }

    /// Registers for events when matching peripherals connect to this system or disconnect, whichever app causes that.
    /// - Parameter options: services or identifiers to match; `nil` ends the registration.
    open func registerForConnectionEvents(options: [CBConnectionEventMatchingOption: Any]? = nil) {
        let filter = options.map { options in
            ConnectionEventFilter(
                peripherals: (options[.peripheralUUIDs] as? [UUID] ?? []).map { PeerIdentifier($0) },
                services: [BluetoothUUID](options[.serviceUUIDs] as? [CBUUID]))
        }
        channel.send(.registerForConnectionEvents(filter))
    }

    // MARK: Events of the system

    override func foresee(_ event: ClientEvent) {
        if case .peripheral(let peer, .writeWithoutResponseAvailable(let isAvailable)) = event {
            known[peer]?.foresee(takesWritesWithoutResponse: isAvailable)
        }
    }

    override func lose(in state: CBManagerState) {
        guard state != .poweredOn else { return }
        setScanning(false)
        for peripheral in known.objects { peripheral.controllerLost(isKnown: state.rawValue >= 4) }
        left()
    }

    override func stateChanged(to state: CBManagerState) -> Bool {
        guard let delegate else { return false }
        delegate.centralManagerDidUpdateState(self)
        return true
    }

    override func receive(_ event: ClientEvent) {
        switch event {
        case .willRestoreCentral(let restored): restore(restored)
        case .discovered(let description, let content, let rssi):
            guard isScanning, self.content.with({ $0.reported.isNews(content, of: description.identifier) }) else {
                return
            }
            delegate?.centralManager(
                self, didDiscover: peripheral(description), advertisementData: content.dictionary,
                rssi: NSNumber(value: rssi))
        case .connected(let description, let limits):
            // Without an object, the app could never end this connection.
            guard let peripheral = known[description.identifier] else {
                return channel.send(.letGo(description.identifier))
            }
            peripheral.connected(description, limits)
            delegate?.centralManager(self, didConnect: peripheral)
        case .connectionFailed(let peer, let error):
            guard let peripheral = known[peer] else { return }
            peripheral.ended(isFailure: true)
            delegate?.centralManager(self, didFailToConnect: peripheral, error: error.publicError)
            left(peer)
        case .disconnected(let peer, let error, let microseconds, let isReconnecting):
            guard let peripheral = known[peer] else { return }
            peripheral.ended(isReconnecting: isReconnecting)
            delegate?.centralManager(
                self, didDisconnectPeripheral: peripheral, timestamp: absoluteTime(microseconds: microseconds),
                isReconnecting: isReconnecting, error: error?.publicError)
            left(peer)
        case .connectionEvent(let description, let isConnected):
            delegate?.centralManager(
                self, connectionEventDidOccur: isConnected ? .peerConnected : .peerDisconnected,
                for: peripheral(description))
        case .peripheral(let peer, let event):
            known[peer]?.receive(event)
        case .channel(let id, let event):
            L2CAPChannelTable.shared.receive(event, on: id, of: channel)
        case .stateChanged, .statePassed, .eventsLost, .retrieved: super.receive(event)
        // For peripheral managers.
        default: break
        }
    }

    private func restore(_ restored: RestoredCentral) {
        var dictionary: [String: Any] = [:]
        if !restored.peripherals.isEmpty {
            dictionary[CBCentralManagerRestoredStatePeripheralsKey] = restored.peripherals.map { restored in
                let peripheral = peripheral(restored.description)
                peripheral.restore(restored)
                return peripheral
            }
        }
        if let scan = restored.scan {
            content.with { $0.reported = ReportedAdvertisements(allowsDuplicates: scan.allowsDuplicates) }
            setScanning(true)
            dictionary[CBCentralManagerRestoredStateScanServicesKey] = [CBUUID](scan.services)
            var options: [String: Any] = [:]
            if scan.allowsDuplicates { options[CBCentralManagerScanOptionAllowDuplicatesKey] = NSNumber(value: true) }
            if !scan.solicitedServices.isEmpty {
                options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] = [CBUUID](scan.solicitedServices)
            }
            dictionary[CBCentralManagerRestoredStateScanOptionsKey] = options
        }
        delegate?.centralManager(self, willRestoreState: dictionary)
    }
}
