import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets
import TestSupport

@testable import BLEDaemon

/// What an app does by itself.
struct Wish {
    /// The restore identifier of its manager.
    var restore: String?
    /// Services to scan for; empty: every device; `nil`: it does not scan.
    var scan: [BluetoothUUID]?
    var allowsDuplicates = false
    /// It connects to the first device that it finds.
    var connects = false
    var connect = ConnectOptions()
    /// It connects again after each end.
    var again = false
    /// The characteristic that it subscribes to.
    var subscribe: BluetoothUUID?
    /// Connects to this device, whether it knows it or not.
    var attempt: PeerIdentifier?
    var publish: [LocalService] = []
    var advertise: AdvertisementRequest?
    /// How many channels it publishes.
    var channels = 0
    /// How often it reads the signal strength at once, when it is connected.
    var signals = 0
    /// Whether it handles what it gets.
    var handles = true

    var serves: Bool { !publish.isEmpty || advertise != nil || channels > 0 }
}

/// A process that is an app: it speaks with the daemon, and the daemon stops, resumes and ends it.
final class VirtualApp {
    static let manager = ManagerID(rawValue: 1)

    private unowned let daemon: VirtualDaemon
    let id: AppID
    private let wish: Wish
    let process: Int32
    private let user: UInt32
    private let isInstalled: Bool
    private(set) var program: VirtualProgram?
    private(set) var isRunning = true
    private(set) var isStopped = false
    private(set) var launchOptions = LaunchOptions()
    /// Everything that its managers were sent, in order.
    private(set) var events: [(manager: ManagerID, event: ClientEvent)] = []
    private(set) var notices: [AppNotice] = []
    private(set) var pairing: [PairingEvent] = []
    private(set) var takenRequests: Set<UInt64> = []
    /// Whether its events are collected for the test.
    var collectsEvents = true
    /// What a test does at an event, after the app.
    var react: (ManagerID, ClientEvent) -> Void = { _, _ in }
    private var device: PeerIdentifier?
    private var isRestored = false
    private var wasPoweredOn = false
    private var number: UInt64 = 0

    init(
        _ daemon: VirtualDaemon, _ id: AppID, _ wish: Wish, user: UInt32, process: Int32, isInstalled: Bool,
        _ change: (inout AppGreeting) -> Void = { _ in }
    ) {
        self.daemon = daemon
        self.id = id
        self.wish = wish
        self.user = user
        self.process = process
        self.isInstalled = isInstalled
        if !isInstalled { begin(change) }
    }

    var facts: ProcessFacts { ProcessFacts(number: process, began: "0", kind: .group) }

    /// Connects, greets and makes its manager.
    func begin(_ change: (inout AppGreeting) -> Void = { _ in }) {
        let program = daemon.connect(user: user, process: process)
        program.collectsMessages = false
        self.program = program
        program.react = { [weak self] in self?.receive($0) }
        var greeting = AppGreeting(id.rawValue)
        change(&greeting)
        program.send(.hello(Greeting(.app, app: greeting)))
    }

    // MARK: The process

    func carryOut(_ order: ProcessOrder) {
        switch order {
        case .stop:
            isStopped = true
            program?.reads = false
        case .resume:
            isStopped = false
            program?.reads = true
        case .kill: end(.signalled(9))
        case .forget, .release, .limitMemory: break
        }
    }

    /// Its process ends.
    func end(_ ending: ProcessEnding) {
        guard isRunning else { return }
        died()
        if isInstalled { daemon.ended(id, ending) }
        daemon.settle()
    }

    /// Its process ends, unnoticed.
    func died() {
        isRunning = false
        program?.leave()
        program = nil
    }

    // MARK: Requests

    func ask(_ request: ClientRequest, from manager: ManagerID = VirtualApp.manager) {
        number += 1
        program?.send(.appRequest(AppRequest(request, from: manager, number: number)))
    }

    func ask(_ request: PeripheralRequest) { if let device { ask(.central(.peripheral(device, request))) } }

    /// Whether all that it has asked for has been carried out.
    var isDone: Bool { takenRequests.contains(number) }

    /// It lets go of the device.
    func letGo() { if let device { ask(.central(.cancelConnection(device))) } }
    func move(_ place: AppMove) { program?.send(.appMove(place, tasks: nil)) }

    // MARK: What it is sent

    private func receive(_ message: FromDaemon) {
        switch message {
        case .appWelcome(let options, _):
            launchOptions = options
            let options = ManagerOptions(restoreIdentifier: wish.restore)
            ask(wish.serves ? .createPeripheral(options) : .createCentral(options))
        case .appEvent(let sent):
            guard let event = sent.event else { return }
            if collectsEvents { events.append((sent.manager, event)) }
            if wish.serves { serve(event) } else if sent.manager == Self.manager { use(event) }
            react(sent.manager, event)
            if wish.handles { program?.send(.appReturned(sent.manager, events: 1)) }
        case .appTaken(let number): takenRequests.insert(number)
        case .appNotice(let notice): notices.append(notice)
        case .appPairing(let pairing): self.pairing.append(pairing.event)
        default: break
        }
    }

    private func use(_ event: ClientEvent) {
        switch event {
        case .willRestoreCentral(let restored):
            isRestored = true
            device = restored.peripherals.first?.description.identifier
        case .stateChanged(.poweredOn, _):
            // After a reset nothing is left of its wishes.
            if wish.again, wasPoweredOn, let device { ask(.central(.connect(device, wish.connect))) }
            if let services = wish.scan, !isRestored || wasPoweredOn {
                ask(.central(.scan(ScanOptions(services: services, allowsDuplicates: wish.allowsDuplicates))))
            }
            wasPoweredOn = true
            if let peer = wish.attempt { ask(.central(.connect(peer, ConnectOptions()))) }
        case .discovered(let peer, _, _):
            guard wish.connects, device == nil else { return }
            device = peer.identifier
            ask(.central(.connect(peer.identifier, wish.connect)))
        case .connected:
            for _ in 0..<wish.signals { ask(.readRSSI) }
            if wish.subscribe != nil, !isRestored { ask(.discoverServices([])) }
        case .disconnected: if wish.again, let device { ask(.central(.connect(device, wish.connect))) }
        case .peripheral(_, .servicesDiscovered(let services, _)):
            for service in services { ask(.discoverCharacteristics([], service: service.id)) }
        case .peripheral(_, .characteristicsDiscovered(_, let list, _)):
            for one in list where one.uuid == wish.subscribe { ask(.setNotify(true, characteristic: one.id)) }
        default: break
        }
    }

    private func serve(_ event: ClientEvent) {
        switch event {
        case .willRestorePeripheral: isRestored = true
        // What is published goes on by itself after Bluetooth was off, not after a reset.
        case .stateChanged(let state, _) where state != .poweredOn && state != .poweredOff: isRestored = false
        case .stateChanged(.poweredOn, _) where !isRestored:
            isRestored = true
            for service in wish.publish { ask(.peripheral(.addService(service))) }
            for _ in 0..<wish.channels { ask(.peripheral(.publishChannel(isEncrypted: false))) }
            if let advertisement = wish.advertise { ask(.peripheral(.startAdvertising(advertisement))) }
        case .readRequest(let request): ask(.peripheral(.respond(request.id, code: 0, value: Array("here".utf8))))
        default: break
        }
    }

    // MARK: For tests

    func count(_ isIt: (ClientEvent) -> Bool) -> Int { events.count { isIt($0.event) } }

    var found: [PeerIdentifier] {
        events.compactMap { if case .discovered(let peer, _, _) = $0.event { peer.identifier } else { nil } }
    }
    var values: [[UInt8]] {
        events.compactMap {
            if case .peripheral(_, .valueUpdated(_, let value?, nil)) = $0.event { value } else { nil }
        }
    }
    var connections: Int { count { if case .connected = $0 { true } else { false } } }
    var disconnections: [ClientError?] {
        events.compactMap { if case .disconnected(_, let error, _, _) = $0.event { .some(error) } else { nil } }
    }
    var logged: [String] { notices.compactMap { if case .log(let line) = $0 { line } else { nil } } }
}
