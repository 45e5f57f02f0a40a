// These names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

import BLEMessages
import BLEPackets
import Foundation
import Testing

@testable import BLEAppLifecycle
@testable import CoreBluetooth

/// What a central manager asks the system for, and what its delegates make of what the system tells.
@Suite("What central managers ask and tell")
struct CentralRequestTests {
    private let system = ScriptedSystem()
    private static let peer = PeerIdentifier(high: 1, low: 2)
    private static let heart = BluetoothUUID(UInt16(0x180D))
    private static let battery = BluetoothUUID(UInt16(0x180F))

    private func make(_ options: [String: Any]? = nil) -> Listener {
        let listener = Listener()
        listener.manager = CurrentSystem.$override.withValue(system) {
            CBCentralManager(delegate: listener, queue: listener.queue, options: options)
        }
        return listener
    }

    /// A manager that is on and knows a connected peripheral, with nothing asked for yet.
    private func connected() -> (Listener, CBPeripheral) {
        let listener = make()
        system.deliver(.stateChanged(.poweredOn, .allowedAlways))
        listener.settle()
        listener.manager.scanForPeripherals(withServices: nil)
        system.deliver(.discovered(PeripheralDescription(identifier: Self.peer, name: "Belt"), .init(), rssi: -40))
        listener.settle()
        listener.manager.stopScan()
        let peripheral = listener.peripherals[0]
        listener.manager.connect(peripheral)
        system.deliver(.connected(PeripheralDescription(identifier: Self.peer), maximumWriteLength: WriteLimits()))
        listener.settle()
        _ = system.takeRequests()
        return (listener, peripheral)
    }

    private static func characteristic(
        _ id: UInt16, _ properties: UInt8, isNotifying: Bool = false
    )
        -> RemoteCharacteristic
    {
        RemoteCharacteristic(
            id: RemoteAttributeID(rawValue: id), uuid: BluetoothUUID(UInt16(0x2A00 + id)), properties: properties,
            isNotifying: isNotifying, descriptors: nil, valueHandle: id + 1, endHandle: id + 2, configuration: nil)
    }

    private static let service = RemoteService(
        id: RemoteAttributeID(rawValue: 1), uuid: heart, isPrimary: true, endHandle: 20,
        characteristics: [characteristic(2, 0x14, isNotifying: true), characteristic(5, 0x0A)])

    @Test("a manager without a queue calls its delegate on the main queue (SPEC CEN-1)")
    func mainQueue() async throws {
        let listener = PlainListener()
        let manager = CurrentSystem.$override.withValue(system) { CBCentralManager(delegate: listener, queue: nil) }
        system.deliver(.stateChanged(.poweredOn, .allowedAlways))
        try await waitUntil("a state") { !listener.states.current.isEmpty }
        #expect(listener.states.current == [.poweredOn])
        #expect(listener.wasOnMain.current)
        #expect(manager.state == .poweredOn)
    }

    @Test(
        "the options of a manager are what it is made with, and nothing is asked for without them (SPEC CEN-1, SPR-1)")
    func options() {
        _ = make()
        #expect(system.takeRequests().first == .createCentral(ManagerOptions()))
        _ = make([
            CBCentralManagerOptionRestoreIdentifierKey: "belt",
            CBCentralManagerOptionShowPowerAlertKey: NSNumber(value: true),
        ])
        #expect(
            system.takeRequests().last { if case .createCentral = $0 { true } else { false } }
                == .createCentral(ManagerOptions(restoreIdentifier: "belt", showsPowerAlert: true)))
    }

    @Test("each reported state is the manager's by the time that the delegate is called (SPEC CEN-2, CEN-3)")
    func states() {
        let listener = make()
        #expect(listener.manager.state == .unknown)
        for state in [ManagerState.resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn] {
            system.deliver(.stateChanged(state, .allowedAlways))
        }
        listener.settle()
        #expect(listener.states == [.resetting, .unsupported, .unauthorized, .poweredOff, .poweredOn])
    }

    @Test(
        "a scan is for all or for services, with duplicates if asked for, until it is stopped (SPEC CEN-4, CEN-7, CEN-27)"
    )
    func scans() {
        let (listener, _) = connected()
        listener.manager.scanForPeripherals(withServices: nil)
        listener.manager.scanForPeripherals(
            withServices: [CBUUID(string: "180D"), CBUUID(string: "180F")],
            options: [
                CBCentralManagerScanOptionAllowDuplicatesKey: true,
                CBCentralManagerScanOptionSolicitedServiceUUIDsKey: [CBUUID(string: "180F")],
            ])
        #expect(listener.manager.isScanning)
        listener.manager.stopScan()
        #expect(!listener.manager.isScanning)
        #expect(
            system.takeRequests()
                == .central([
                    .scan(ScanOptions()),
                    .scan(
                        ScanOptions(
                            services: [Self.heart, Self.battery], allowsDuplicates: true,
                            solicitedServices: [Self.battery])
                    ),
                    .stopScan,
                ]))
    }

    @Test(
        "a discovery brings the peripheral, all that was advertised and the strength of the signal (SPEC CEN-5, MOD-2, MOD-3)"
    )
    func discovery() throws {
        let (listener, _) = connected()
        listener.forget()
        listener.manager.scanForPeripherals(withServices: nil)
        var content = AdvertisementContent()
        content.localName = "Scale"
        content.serviceUUIDs = [Self.heart]
        content.overflowServiceUUIDs = [Self.battery]
        content.solicitedServiceUUIDs = [Self.battery]
        content.manufacturerData = [1, 2, 3]
        content.serviceData = [.init(uuid: Self.heart, data: [4])]
        content.txPower = -7
        content.isConnectable = true
        system.deliver(
            .discovered(
                PeripheralDescription(identifier: PeerIdentifier(high: 3, low: 4), name: "Scale"), content, rssi: -61))
        listener.settle()
        let data = try #require(listener.advertisements.first)
        #expect(listener.signals == [-61])
        #expect(listener.peripherals.map(\.name) == ["Scale"])
        #expect(data[CBAdvertisementDataLocalNameKey] as? String == "Scale")
        #expect(data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180D")])
        #expect(data[CBAdvertisementDataOverflowServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180F")])
        #expect(data[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180F")])
        #expect(data[CBAdvertisementDataManufacturerDataKey] as? Data == Data([1, 2, 3]))
        #expect(data[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] == [CBUUID(string: "180D"): Data([4])])
        #expect(data[CBAdvertisementDataTxPowerLevelKey] as? Int == -7)
        #expect(data[CBAdvertisementDataIsConnectable] as? Bool == true)
    }

    @Test(
        "each alert is asked for by its own key, and none without (SPEC ALR-1 to ALR-5, CEN-8)",
        arguments: [
            ("", ConnectOptions()),
            (CBConnectPeripheralOptionNotifyOnConnectionKey, ConnectOptions(notifiesOnConnection: true)),
            (CBConnectPeripheralOptionNotifyOnDisconnectionKey, ConnectOptions(notifiesOnDisconnection: true)),
            (CBConnectPeripheralOptionNotifyOnNotificationKey, ConnectOptions(notifiesOnNotification: true)),
        ])
    func connectOptions(key: String, options: ConnectOptions) {
        let (listener, peripheral) = connected()
        listener.manager.connect(peripheral, options: key.isEmpty ? nil : [key: true])
        listener.manager.connect(peripheral, options: key.isEmpty ? [:] : [key: NSNumber(value: 1)])
        if !key.isEmpty { listener.manager.connect(peripheral, options: [key: false]) }
        #expect(
            system.takeRequests()
                == .central(
                    [.connect(Self.peer, options), .connect(Self.peer, options)]
                        + (key.isEmpty ? [] : [.connect(Self.peer, ConnectOptions())])))
    }

    @Test("a start delay and automatic reconnection are options of a connection (SPEC 2.3)")
    func furtherOptions() {
        let (listener, peripheral) = connected()
        listener.manager.connect(peripheral, options: [CBConnectPeripheralOptionStartDelayKey: 2.5])
        listener.manager.connect(peripheral, options: [CBConnectPeripheralOptionEnableAutoReconnect: true])
        #expect(
            system.takeRequests()
                == .central([
                    .connect(Self.peer, ConnectOptions(startDelayMilliseconds: 2500)),
                    .connect(Self.peer, ConnectOptions(reconnectsAutomatically: true)),
                ]))
    }

    @Test("the newer method of disconnection takes the place of the older one if it is implemented (SPEC 2.3)")
    func newerMethod() {
        let newer = NewerListener()
        let queue = DispatchQueue(label: "newer")
        let manager = CurrentSystem.$override.withValue(system) { CBCentralManager(delegate: newer, queue: queue) }
        system.deliver(.stateChanged(.poweredOn, .allowedAlways))
        manager.channel.queue.sync {}
        manager.scanForPeripherals(withServices: nil)
        system.deliver(.discovered(PeripheralDescription(identifier: Self.peer), .init(), rssi: -40))
        system.deliver(.connected(PeripheralDescription(identifier: Self.peer), maximumWriteLength: WriteLimits()))
        let before = Date().timeIntervalSinceReferenceDate
        system.deliver(
            .disconnected(Self.peer, .coreBluetooth(.connectionTimeout), microseconds: .max / 2, isReconnecting: true))
        manager.channel.queue.sync {}
        #expect(newer.calls.current == ["newer true CBErrorDomain 6"])
        #expect(newer.peripheral.current?.state == .connecting)
        #expect(newer.timestamps.current.allSatisfy { $0 >= before && $0 <= Date().timeIntervalSinceReferenceDate })
    }

    @Test(
        "connection events are registered for devices or services, and report connections and disconnections (SPEC 2.3)"
    )
    func connectionEvents() {
        let (listener, _) = connected()
        listener.manager.registerForConnectionEvents(options: [
            .serviceUUIDs: [CBUUID(string: "180D")], .peripheralUUIDs: [UUID(Self.peer)],
        ])
        listener.manager.registerForConnectionEvents(options: nil)
        #expect(
            system.takeRequests()
                == .central([
                    .registerForConnectionEvents(
                        ConnectionEventFilter(peripherals: [Self.peer], services: [Self.heart])),
                    .registerForConnectionEvents(nil),
                ]))
        listener.forget(keepingPeripherals: true)
        for isConnected in [true, false] {
            system.deliver(.connectionEvent(PeripheralDescription(identifier: Self.peer), isConnected: isConnected))
        }
        listener.settle()
        #expect(listener.calls == ["event 1", "event 0"])
    }

    @Test("a connection is reported with its peripheral, an end with its reason, a failure too (SPEC CEN-8, CEN-24)")
    func connection() {
        let (listener, peripheral) = connected()
        #expect(listener.calls == ["connected"])
        #expect(peripheral.state == .connected)
        listener.forget()
        listener.manager.cancelPeripheralConnection(peripheral)
        #expect(system.takeRequests() == .central([.cancelConnection(Self.peer)]))
        system.deliver(.disconnected(Self.peer, nil, microseconds: 0, isReconnecting: false))
        listener.manager.connect(peripheral)
        system.deliver(.connectionFailed(Self.peer, .coreBluetooth(.connectionFailed)))
        system.deliver(
            .disconnected(Self.peer, .coreBluetooth(.connectionTimeout), microseconds: 0, isReconnecting: false))
        listener.settle()
        #expect(listener.calls == ["disconnected nil", "failed CBErrorDomain 10", "disconnected CBErrorDomain 6"])
        #expect(peripheral.state == .disconnected)
    }

    @Test("requests to a peripheral are what its methods say (SPEC CEN-11 to CEN-13, CEN-15, CEN-19 to CEN-21)")
    func requests() throws {
        let (listener, peripheral) = connected()
        system.deliver(.peripheral(Self.peer, .servicesDiscovered([Self.service], nil)))
        listener.settle()
        let service = try #require(peripheral.services?.first)
        let value = try #require(service.characteristics?.last)
        let id = RemoteAttributeID(rawValue: 5)
        peripheral.discoverServices(nil)
        peripheral.discoverServices([CBUUID(string: "180D")])
        peripheral.discoverCharacteristics(nil, for: service)
        peripheral.discoverCharacteristics([CBUUID(string: "2A05")], for: service)
        peripheral.readValue(for: value)
        peripheral.setNotifyValue(true, for: value)
        peripheral.setNotifyValue(false, for: value)
        peripheral.writeValue(Data([1]), for: value, type: .withResponse)
        peripheral.writeValue(Data([2]), for: value, type: .withoutResponse)
        let wanted: [PeripheralRequest] = [
            .discoverServices([]), .discoverServices([Self.heart]),
            .discoverCharacteristics([], service: RemoteAttributeID(rawValue: 1)),
            .discoverCharacteristics([BluetoothUUID(UInt16(0x2A05))], service: RemoteAttributeID(rawValue: 1)),
            .readValue(characteristic: id), .setNotify(true, characteristic: id), .setNotify(false, characteristic: id),
            .writeValue([1], characteristic: id), .writeWithoutResponse([2], characteristic: id),
        ]
        #expect(system.takeRequests() == wanted.map { .central(.peripheral(Self.peer, $0)) })
        #expect(service.characteristics?.map(\.properties) == [[.writeWithoutResponse, .notify], [.read, .write]])
    }

    @Test(
        "the restoration dictionary holds peripherals with what was discovered and subscribed, the scan and its options (SPEC SPR-C1 to SPR-C3, SPR-11, SPR-12, SPR-15, SPR-35)"
    )
    func restoration() throws {
        let listener = make([CBCentralManagerOptionRestoreIdentifierKey: "belt"])
        let other = PeerIdentifier(high: 5, low: 6)
        let peripherals = [
            RestoredRemotePeripheral(
                description: PeripheralDescription(identifier: Self.peer, name: "Belt", state: .connected),
                services: [Self.service], writeLimits: WriteLimits(withResponse: 512, withoutResponse: 180)),
            RestoredRemotePeripheral(
                description: PeripheralDescription(identifier: other, state: .connecting), services: nil,
                writeLimits: WriteLimits()),
        ]
        let scan = ScanOptions(services: [Self.battery], allowsDuplicates: true, solicitedServices: [Self.heart])
        system.deliver(.willRestoreCentral(RestoredCentral(peripherals: peripherals, scan: scan)))
        system.deliver(.stateChanged(.poweredOn, .allowedAlways))
        listener.settle()
        #expect(listener.calls == ["willRestore"])
        let restored = try #require(listener.restored["kCBRestoredPeripherals"] as? [CBPeripheral])
        #expect(restored.map(\.identifier) == [UUID(Self.peer), UUID(other)])
        #expect(restored.map(\.state) == [.connected, .connecting])
        #expect(restored.map(\.name) == ["Belt", nil])
        #expect(restored[1].services == nil)
        let service = try #require(restored[0].services?.first)
        #expect(service.uuid == CBUUID(string: "180D"))
        #expect(service.characteristics?.map(\.isNotifying) == [true, false])
        #expect(restored[0].maximumWriteValueLength(for: .withoutResponse) == 180)
        #expect(listener.restored["kCBRestoredScanServices"] as? [CBUUID] == [CBUUID(string: "180F")])
        let options = try #require(listener.restored["kCBRestoredScanOptions"] as? [String: Any])
        #expect(options[CBCentralManagerScanOptionAllowDuplicatesKey] as? Bool == true)
        #expect(
            options[CBCentralManagerScanOptionSolicitedServiceUUIDsKey] as? [CBUUID] == [CBUUID(string: "180D")])
        #expect(listener.manager.isScanning)
        // The app goes on with what it has (SPEC SPR-15).
        _ = system.takeRequests()
        restored[0].readValue(for: try #require(service.characteristics?.last))
        #expect(
            system.takeRequests()
                == .central([
                    .peripheral(Self.peer, .readValue(characteristic: RemoteAttributeID(rawValue: 5)))
                ]))
    }

    @Test("inactive parts are not in the restoration dictionary (SPEC SPR-12)")
    func restoresLess() {
        let listener = make([CBCentralManagerOptionRestoreIdentifierKey: "belt"])
        system.deliver(.willRestoreCentral(RestoredCentral(scan: ScanOptions(services: [Self.heart]))))
        listener.settle()
        #expect(listener.restored.keys.sorted() == ["kCBRestoredScanOptions", "kCBRestoredScanServices"])
        #expect((listener.restored["kCBRestoredScanOptions"] as? [String: Any])?.isEmpty == true)
    }

    @Test(
        "a delegate that leaves out the method of restoration is told so, and still gets the state (SPEC SPR-9)"
    )
    func cannotRestore() {
        let listener = PlainListener()
        let queue = DispatchQueue(label: "plain")
        let manager = CurrentSystem.$override.withValue(system) {
            CBCentralManager(
                delegate: listener, queue: queue, options: [CBCentralManagerOptionRestoreIdentifierKey: "belt"])
        }
        system.deliver(.willRestoreCentral(RestoredCentral()))
        system.deliver(.stateChanged(.poweredOn, .allowedAlways))
        manager.channel.queue.sync {}
        #expect(listener.states.current == [.poweredOn])
        #expect(
            system.logs == [
                "API MISUSE: CBCentralManager has a restore identifier but the delegate does not implement the "
                    + "centralManager:willRestoreState: method"
            ])
    }

    @Test("the app is told for which managers it was launched, each role under its own name (SPEC SPR-6)")
    func launchOptions() {
        let system = ScriptedSystem(launchOptions: LaunchOptions(centrals: ["a", "b"], peripherals: ["c"]))
        let app = CBApplication { system }
        #expect(app.launchCentrals == ["a", "b"])
        #expect(app.launchPeripherals == ["c"])
    }

    @Test("the system is told when the app changes between foreground and background (SPEC FGO-1, FGO-5, BGX-4)")
    func moves() {
        let system = system
        let app = CBApplication { system }
        app.enterBackground()
        app.suspend()
        app.enterForeground()
        app.enterBackground()
        app.resume()
        #expect(system.moves == [.background, .suspended, .foreground, .background, .foreground])
    }

    /// A delegate that keeps what it is told, on a queue of its own.
    private final class Listener: NSObject, @unchecked Sendable, CBCentralManagerDelegate {
        // @unchecked Sendable is safe because a test looks only after `settle`.
        let queue = DispatchQueue(label: "listener")
        var manager: CBCentralManager!
        private(set) var calls: [String] = []
        private(set) var states: [CBManagerState] = []
        private(set) var peripherals: [CBPeripheral] = []
        private(set) var advertisements: [[String: Any]] = []
        private(set) var signals: [Int] = []
        private(set) var restored: [String: Any] = [:]

        /// Waits until everything that was told before has been handed over.
        func settle() { manager.channel.queue.sync {} }

        func forget(keepingPeripherals: Bool = false) {
            calls = []
            if !keepingPeripherals { peripherals = [] }
            advertisements = []
            signals = []
        }

        func centralManagerDidUpdateState(_ central: CBCentralManager) { states.append(central.state) }

        func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {
            calls.append("willRestore")
            restored = dict
        }

        func centralManager(
            _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
            rssi RSSI: NSNumber
        ) {
            peripherals.append(peripheral)
            advertisements.append(advertisementData)
            signals.append(RSSI.intValue)
        }

        func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
            calls.append("connected")
        }

        func centralManager(
            _ central: CBCentralManager, connectionEventDidOccur event: CBConnectionEvent, for peripheral: CBPeripheral
        ) {
            calls.append("event \(event.rawValue)")
        }

        func centralManager(
            _ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?
        ) {
            calls.append("failed \(text(error))")
        }

        func centralManager(
            _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
        ) {
            calls.append("disconnected \(text(error))")
        }
    }

    /// A delegate that has both methods of disconnection.
    private final class NewerListener: NSObject, @unchecked Sendable, CBCentralManagerDelegate {
        // @unchecked Sendable is safe because what it keeps is under a lock.
        let calls = Locked<[String]>([])
        let timestamps = Locked<[CFAbsoluteTime]>([])
        let peripheral = Locked<CBPeripheral?>(nil)

        func centralManagerDidUpdateState(_ central: CBCentralManager) {}

        func centralManager(
            _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
            rssi RSSI: NSNumber
        ) {
            self.peripheral.with { $0 = peripheral }
        }

        func centralManager(
            _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
        ) {
            calls.with { $0.append("older") }
        }

        func centralManager(
            _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, timestamp: CFAbsoluteTime,
            isReconnecting: Bool, error: (any Error)?
        ) {
            timestamps.with { $0.append(timestamp) }
            calls.with { $0.append("newer \(isReconnecting) \(text(error))") }
        }
    }

    /// A delegate with nothing but what every delegate must have.
    private final class PlainListener: NSObject, @unchecked Sendable, CBCentralManagerDelegate {
        // @unchecked Sendable is safe because what it keeps is under a lock.
        let states = Locked<[CBManagerState]>([])
        let wasOnMain = Locked(false)

        func centralManagerDidUpdateState(_ central: CBCentralManager) {
            wasOnMain.with { $0 = MainQueue.isCurrent }
            states.with { $0.append(central.state) }
        }
    }
}
