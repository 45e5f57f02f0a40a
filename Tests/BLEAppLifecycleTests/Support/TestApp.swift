import BLEHost
import BLEPackets
import BLESimulator
import TestSupport

@testable import BLEAppLifecycle

/// An app on a station, with what can become of it.
final class TestApp {
    let station: AppStation
    let id: AppID
    private var managerCount: UInt32 = 0

    init(
        _ station: AppStation, _ name: String = "org.example.app", modes: BackgroundModes = [],
        inForeground: Bool = true, authorization: ManagerAuthorization = .allowedAlways, user: UInt32 = 0,
        launches: Bool = true
    ) {
        self.station = station
        id = AppID(rawValue: name)
        var manifest = AppManifest(app: id, backgroundModes: modes, authorization: authorization)
        manifest.user = user
        let now = station.world.now
        station.apps { $0.declare(manifest) }
        if launches { station.apps { $0.launched(AppID(rawValue: name), inForeground: inForeground, at: now) } }
    }

    private var now: Instant { station.world.now }

    func central(_ options: ManagerOptions = ManagerOptions()) -> TestManager {
        managerCount += 1
        return TestManager(self, ManagerID(rawValue: managerCount), .createCentral(options))
    }

    func peripheral(_ options: ManagerOptions = ManagerOptions()) -> TestManager {
        managerCount += 1
        return TestManager(self, ManagerID(rawValue: managerCount), .createPeripheral(options))
    }

    func launch(inForeground: Bool) { station.apps { $0.launched(id, inForeground: inForeground, at: now) } }
    func enterForeground() { station.apps { $0.enterForeground(id, at: now) } }
    func enterBackground() { station.apps { $0.enterBackground(id, at: now) } }
    func suspend() { station.apps { $0.suspend(id, at: now) } }
    func end(_ end: ProcessEnd) { station.apps { $0.ended(id, end, at: now) } }

    /// Out of sight, and frozen.
    func leave() {
        enterBackground()
        suspend()
    }

    var launchOptions: LaunchOptions { station.apps { $0.launchOptions(of: id) } }
    var actions: [ProcessAction] { station.actions(of: id) }
    var events: [ClientEvent] { station.events(of: id) }
    var wakeCount: Int { actions.count { $0 == .resume } }
    var relaunchCount: Int { actions.count { if case .relaunch = $0 { true } else { false } } }
}

/// A manager of an app, seen from the app's side.
final class TestManager {
    let app: TestApp
    let id: ManagerID

    init(_ app: TestApp, _ id: ManagerID, _ creation: ClientRequest) {
        self.app = app
        self.id = id
        ask(creation)
    }

    private var world: World { app.station.world }

    func ask(_ request: ClientRequest) { app.station.ask(request, id, app.id) }
    func ask(_ request: CentralManagerRequest) { ask(.central(request)) }
    func ask(_ request: PeripheralManagerRequest) { ask(.peripheral(request)) }
    func ask(_ request: PeripheralRequest, of peer: PeerIdentifier) { ask(.peripheral(peer, request)) }

    var events: [ClientEvent] { app.station.events(of: id, app.id) }
    func forget() { app.station.forget(id, app.id) }

    @discardableResult
    func wait(_ span: Microseconds = .seconds(10), _ isThere: (ClientEvent) -> Bool) -> Bool {
        world.run(for: span) { events.contains(where: isThere) }
    }

    func run(_ span: Microseconds) { world.run(for: span) }

    // MARK: What was told

    var states: [ManagerState] {
        events.compactMap { if case .stateChanged(let state, _) = $0 { state } else { nil } }
    }

    var discoveries: [(peer: PeripheralDescription, content: AdvertisementContent)] {
        events.compactMap { if case .discovered(let peer, let content, _) = $0 { (peer, content) } else { nil } }
    }

    var connections: [PeerIdentifier] {
        events.compactMap { if case .connected(let peer, _) = $0 { peer.identifier } else { nil } }
    }

    var disconnections: [ClientError?] {
        events.compactMap { if case .disconnected(_, let error, _, _) = $0 { .some(error) } else { nil } }
    }

    var peripheralEvents: [PeripheralEvent] {
        events.compactMap { if case .peripheral(_, let event) = $0 { event } else { nil } }
    }

    var values: [[UInt8]] {
        peripheralEvents.compactMap { if case .valueUpdated(_, let value?, nil) = $0 { value } else { nil } }
    }

    var valueErrors: [ClientError] {
        peripheralEvents.compactMap { if case .valueUpdated(_, nil, let error?) = $0 { error } else { nil } }
    }

    var readRequests: [CentralReadRequest] {
        events.compactMap { if case .readRequest(let request) = $0 { request } else { nil } }
    }

    var writeRequests: [CentralWriteRequests] {
        events.compactMap { if case .writeRequests(let group) = $0 { group } else { nil } }
    }

    var readinessCount: Int { events.count { $0 == .readyToUpdateSubscribers } }

    // MARK: Usual ways

    /// Scans until something matches.
    func discover(_ services: [BluetoothUUID] = [], name: String? = nil) -> PeerIdentifier? {
        let before = discoveries.count
        var found: PeripheralDescription? {
            discoveries.dropFirst(before).map(\.peer).first { name == nil || $0.name == name }
        }
        ask(.scan(ScanOptions(services: services)))
        world.run(for: .seconds(10)) { found != nil }
        ask(.stopScan)
        return found?.identifier
    }

    func connect(_ peer: PeerIdentifier, _ options: ConnectOptions = ConnectOptions()) -> Bool {
        ask(.connect(peer, options))
        return wait { if case .connected(let found, _) = $0 { found.identifier == peer } else { false } }
    }

    /// Discovers a service and its characteristics.
    func explore(_ peer: PeerIdentifier, _ service: BluetoothUUID) -> [RemoteCharacteristic] {
        ask(.discoverServices([service]), of: peer)
        wait { if case .peripheral(_, .servicesDiscovered) = $0 { true } else { false } }
        var found: RemoteService?
        for event in peripheralEvents {
            if case .servicesDiscovered(let services, _) = event { found = services.first { $0.uuid == service } }
        }
        guard let found else { return [] }
        ask(.discoverCharacteristics([], service: found.id), of: peer)
        wait { event in
            if case .peripheral(_, .characteristicsDiscovered(found.id, _, _)) = event { true } else { false }
        }
        for event in peripheralEvents.reversed() {
            if case .characteristicsDiscovered(found.id, let list, _) = event { return list }
        }
        return []
    }

    func subscribe(_ characteristic: RemoteCharacteristic, of peer: PeerIdentifier) -> Bool {
        ask(.setNotify(true, characteristic: characteristic.id), of: peer)
        return wait { event in
            event
                == .peripheral(
                    peer, .notificationStateUpdated(characteristic: characteristic.id, isNotifying: true, nil))
        }
    }

    /// Adds a service and awaits what becomes of it.
    func add(_ service: LocalService) -> ClientError? {
        ask(.addService(service))
        for event in events.reversed() {
            if case .serviceAdded(service.id, let error) = event { return error }
        }
        return .coreBluetooth(.unknown)
    }

    /// - Returns: whether the value was taken.
    func update(_ characteristic: LocalAttributeID, _ value: [UInt8], number: UInt32 = 1) -> Bool {
        let query = QueryID(rawValue: number)
        ask(.updateValue(query, characteristic, value: value, centrals: nil))
        return events.last { if case .updateQueued(query, _) = $0 { true } else { false } }
            == .updateQueued(query, true)
    }
}
