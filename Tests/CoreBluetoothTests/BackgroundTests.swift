import BLEPackets
import BLESimulator
import Foundation
import Testing

@testable import BLEAppLifecycle
@testable import CoreBluetooth

/// An app behind, in the process that has the engine too: nothing stops it, and nothing may end it.
@Suite("An app in the background, in one process")
struct BackgroundTests {
    private let said = Locked<[String]>([])
    private var strikes: [String] { said.current.filter { $0.contains("strike") } }

    /// Times in which a test can be at its end.
    private static let settings: LifecycleSettings = {
        var settings = LifecycleSettings()
        settings.backgroundSpan = .microseconds(20_000)
        settings.wakeBudget = .microseconds(500_000)
        settings.freezeGrace = .microseconds(20_000)
        settings.longestWakeDelay = .microseconds(20_000)
        return settings
    }()

    /// An app that is behind, connected to a sensor and subscribed to what it measures.
    private func behind(_ stage: Stage) async throws -> (CentralProbe, SimulatedDeviceID) {
        let heart = CBUUID(string: "180D")
        let device = await stage.onAir { $0.addPeripheral(.jellingHeart) }
        let probe = CentralProbe(
            stage.launch(
                modes: ["bluetooth-central"], settings: Self.settings,
                log: { [said] line in said.with { $0.append(line) } }))
        try await probe.wait(for: "state poweredOn")
        await probe.run { probe.manager.scanForPeripherals(withServices: [heart]) }
        try await probe.wait(for: "discovered")
        await probe.run {
            probe.manager.stopScan()
            probe.manager.connect(probe.peripheral)
        }
        try await probe.wait(for: "connected")
        await probe.run { probe.peripheral.discoverServices([heart]) }
        try await probe.wait(for: "services")
        await probe.run { probe.peripheral.discoverCharacteristics(nil, for: probe.service("180D")) }
        try await probe.wait(for: "characteristics")
        await probe.run { probe.peripheral.setNotifyValue(true, for: probe.characteristic("2A37")) }
        try await probe.wait(for: "notifying 2A37 true")
        probe.system.move(.background)
        probe.system.move(.suspended)
        await probe.settle(probe.system)
        return (probe, device)
    }

    private func measure(_ value: UInt8, _ device: SimulatedDeviceID, _ stage: Stage) async {
        await stage.onAir { $0.setValue([0, value], of: BluetoothUUID(UInt16(0x2A37)), on: device) }
    }

    /// In front the app is where it was.
    private func expectAlive(_ probe: CentralProbe) async throws {
        probe.system.move(.foreground)
        await probe.run { probe.peripheral.readRSSI() }
        try await probe.wait(for: "rssi")
        #expect(await probe.run { probe.peripheral.state } == .connected)
    }

    @Test(
        "an app that has received its events gets no strike when its time is over, however often it is woken (SPEC BGX-2, BGX-4)"
    )
    func wakes() async throws {
        let stage = try Stage { _ in }
        let (probe, device) = try await behind(stage)
        for number in UInt8(200)..<204 {
            await measure(number, device, stage)
            try await probe.wait(for: "value 2A37 00\(String(number, radix: 16))")
            // Longer than a wake may last.
            await stage.pass(milliseconds: 600)
        }
        #expect(strikes == [])
        try await expectAlive(probe)
    }

    @Test(
        "an app that takes too long over an event is told so and delayed for a while, and never terminated (SPEC BGX-4, BGX-5)"
    )
    func overruns() async throws {
        let stage = try Stage { _ in }
        let (probe, device) = try await behind(stage)
        let expirations = Locked(0)
        probe.system.onExpiration { expirations.with { $0 += 1 } }
        for number in 1...4 {
            let busy = DispatchSemaphore(value: 0)
            probe.queue.async { busy.wait() }
            await measure(UInt8(200 + number), device, stage)
            try await waitUntil("expiration \(number)") { expirations.current >= number }
            busy.signal()
            try await probe.wait(for: "value 2A37 00\(String(200 + number, radix: 16))")
        }
        #expect(expirations.current == 4)
        #expect(strikes == (1...4).map { "The time in the background is over (strike \($0))" })
        try await expectAlive(probe)
    }

    @Test(
        "a task is told when the time is over; one that ends then is no strike, one that goes on is (SPEC BGX-4, BGX-5)"
    )
    func expiredTask() async throws {
        let stage = try Stage { _ in }
        let (probe, device) = try await behind(stage)
        let application = CBApplication(system: { probe.system })
        let expirations = Locked(0)
        let ending = Locked(CBBackgroundTaskIdentifier.invalid)
        ending.with {
            $0 = application.beginBackgroundTask(withName: "one") {
                expirations.with { $0 += 1 }
                application.endBackgroundTask(ending.current)
            }
        }
        await measure(201, device, stage)
        try await probe.wait(for: "value 2A37 00c9")
        #expect(application.backgroundTimeRemaining <= 0.5)
        try await waitUntil("the first") { expirations.current == 1 }
        try await waitUntil("its end") { probe.system.tasks.count == 0 }
        await probe.settle(probe.system)
        #expect(strikes == [])
        let lasting = application.beginBackgroundTask { expirations.with { $0 += 1 } }
        await measure(202, device, stage)
        try await waitUntil("the second") { expirations.current == 2 }
        try await waitUntil("the strike") { strikes.count == 1 }
        application.endBackgroundTask(lasting)
        try await expectAlive(probe)
        #expect(application.backgroundTimeRemaining == .greatestFiniteMagnitude)
    }

    @Test("tasks are counted: each ends once, and none is no task (SPEC BGX-4)")
    func countedTasks() {
        let system = ScriptedSystem()
        let application = CBApplication(system: { system })
        let one = application.beginBackgroundTask()
        let two = application.beginBackgroundTask(withName: "two", expirationHandler: nil)
        #expect(one != two && one != .invalid && two != .invalid)
        application.endBackgroundTask(one)
        application.endBackgroundTask(one)
        application.endBackgroundTask(.invalid)
        application.endBackgroundTask(two)
        #expect(system.taskCounts == [1, 2, 1, 0])
    }

    @Test(
        "an app that is launched in the background gets its state and what was restored, each manager of it (SPEC SPR-10)"
    )
    func launchedBehind() async throws {
        let stage = try Stage()
        let modes = ["bluetooth-central", "bluetooth-peripheral"]
        let central = [CBCentralManagerOptionRestoreIdentifierKey: "c"]
        let peripheral = [CBPeripheralManagerOptionRestoreIdentifierKey: "p"]
        do {
            let system = stage.launch(modes: modes)
            let one = CentralProbe(system, options: central)
            let other = PeripheralProbe(system, options: peripheral)
            try await one.wait(for: "state poweredOn")
            await one.run { one.manager.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
            try await other.publish("FFF0", [("FFF1", .read, .readable, nil)])
            try await one.wait(for: "discovered")
            await system.kill()
        }
        let system = stage.launch(modes: modes, inForeground: false)
        let one = CentralProbe(system, options: central)
        try await one.wait(for: "state poweredOn")
        #expect(one.lines.first?.hasPrefix("willRestore") == true)
        await one.settle(system)
        let other = PeripheralProbe(system, options: peripheral)
        try await other.wait(for: "state poweredOn")
        #expect(other.lines.first?.hasPrefix("willRestore") == true)
    }

    @Test("an app that was suspended over a reset finds nothing published, and may publish again (SPEC FGO-5, 2.4)")
    func suspendedOverReset() async throws {
        let stage = try Stage { _ in }
        let probe = PeripheralProbe(stage.launch(log: { [said] line in said.with { $0.append(line) } }))
        try await probe.publish("FFF0", [("FFF1", .read, .readable, Data([1]))])
        let central = CentralProbe(probe.system)
        try await central.wait(for: "state poweredOn")
        await central.run { central.manager.scanForPeripherals(withServices: nil) }
        for probe in [probe, central] as [Probe] {
            await probe.settle(central.system)
            probe.clear()
        }
        // A third app, in front, sees the reset through.
        let witness = CentralProbe(stage.launch("org.example.witness"))
        try await witness.wait(for: "state poweredOn")
        probe.system.move(.suspended)
        await probe.settle(probe.system)
        await stage.failHardware()
        try await witness.wait(for: "state poweredOn", count: 2)
        try await waitUntil("the controller") { await probe.system.isControllerReady }
        #expect(probe.lines == [] && central.lines == [])
        probe.system.move(.foreground)
        #expect(try await probe.wait(for: "state") == "state poweredOn")
        #expect(try await central.wait(for: "state") == "state poweredOn")
        #expect(await probe.run { !probe.manager.isAdvertising })
        #expect(await central.run { !central.manager.isScanning })
        await probe.run { probe.manager.add(probe.services[0]) }
        try await probe.wait(for: "added FFF0 nil")
        #expect(said.current == [])
    }
}

extension LocalSystem {
    fileprivate var isControllerReady: Bool { engine.apps.runtime.bluetooth.controller == .ready }
}
