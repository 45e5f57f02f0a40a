import BLEAppLifecycle
import BLESimulator
import BLETransport
import Foundation
import Testing

@testable import CoreBluetooth

/// What the system says of an app that uses the API wrongly, word for word (SPEC 2.3, 2.4).
@Suite("Misuse is reported as Apple reports it")
struct MisuseTests {
    /// The lines that one app was told.
    private let said = Locked<[String]>([])

    private func launch(
        _ stage: Stage, _ name: String = "org.example.app", modes: [String] = [], hasBluetooth: Bool = true
    ) -> LocalSystem {
        stage.launch(
            name, modes: modes,
            configure: { adapter in
                guard !hasBluetooth else { return }
                adapter.makeVirtualTransport = { address throws(TransportError) in throw .connectionRefused(address) }
            }, log: { [said] line in said.with { $0.append(line) } })
    }

    /// What was said by when so many lines were, and all that was asked for before has been carried out; without what
    /// the system says of itself.
    private func misuse(_ system: LocalSystem, count: Int = 1) async -> [String] {
        var lines: [String] { said.current.filter { !$0.hasPrefix("no Bluetooth") } }
        try? await waitUntil("\(count) lines") { lines.count >= count }
        await system.barrier()
        return lines
    }

    /// An app that has found the heart rate sensor.
    private func found(_ stage: Stage, modes: [String] = [], options: [String: Any]? = nil) async throws -> CentralProbe
    {
        let probe = CentralProbe(launch(stage, modes: modes), options: options)
        try await probe.find("180D")
        await probe.run { probe.manager.stopScan() }
        return probe
    }

    private func explored(_ stage: Stage) async throws -> CentralProbe {
        let probe = try await found(stage)
        await probe.run { probe.manager.connect(probe.peripheral) }
        try await probe.wait(for: "connected")
        try await probe.explore("180D")
        return probe
    }

    @Test("every command of a central below poweredOn is dropped and logged; retrieving is not (SPEC 2.3, SPR-34)")
    func centralBelowPoweredOn() async throws {
        let stage = try Stage()
        let identifier = [CBCentralManagerOptionRestoreIdentifierKey: "central"]
        let first = try await found(stage, modes: ["bluetooth-central"], options: identifier)
        await first.run { first.manager.connect(first.peripheral) }
        try await first.wait(for: "connected")
        await first.system.kill()
        #expect(said.current.isEmpty)
        defer { withExtendedLifetime(first) {} }

        let probe = CentralProbe(
            launch(stage, modes: ["bluetooth-central"], hasBluetooth: false), options: identifier)
        try await probe.wait(for: "state unsupported")
        #expect(probe.lines[0].hasPrefix("willRestore"))
        let commands: [@Sendable (CentralProbe) -> Void] = [
            { $0.manager.scanForPeripherals(withServices: nil) },
            { $0.manager.stopScan() },
            { $0.manager.connect($0.peripheral) },
            { $0.manager.cancelPeripheralConnection($0.peripheral) },
            { $0.manager.registerForConnectionEvents(options: nil) },
            { $0.peripheral.discoverServices(nil) },
            { $0.peripheral.readRSSI() },
            { $0.peripheral.openL2CAPChannel(0x80) },
        ]
        for command in commands { await probe.run { command(probe) } }
        let lines = await misuse(probe.system, count: commands.count)
        #expect(
            lines
                == Array(
                    repeating:
                        "API MISUSE: <CBCentralManager> can only accept this command while in the powered on state",
                    count: commands.count))
        let facts = await probe.run {
            let known = probe.manager.retrievePeripherals(withIdentifiers: [probe.peripheral.identifier])
            probe.peripherals += known
            return (probe.manager.isScanning, known.count)
        }
        #expect(facts == (false, 1))
        let after = await misuse(probe.system)
        #expect(after.count == commands.count)
        // What was dropped had no effect: the wish for a connection that was preserved is still there.
        await probe.system.kill()
        let last = CentralProbe(launch(stage, modes: ["bluetooth-central"]), options: identifier)
        try await last.wait(for: "connected")
    }

    @Test("every command of a peripheral manager below poweredOn is dropped and logged (SPEC 2.3, 2.4)")
    func peripheralBelowPoweredOn() async throws {
        let stage = try Stage { _ in }
        let probe = PeripheralProbe(launch(stage, hasBluetooth: false))
        try await probe.wait(for: "state unsupported")
        let isTaken = await probe.run {
            let characteristic = CBMutableCharacteristic(
                type: CBUUID(string: "FFF1"), properties: .notify, value: nil, permissions: .readable)
            let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
            service.characteristics = [characteristic]
            probe.manager.add(service)
            probe.manager.startAdvertising(nil)
            probe.manager.stopAdvertising()
            probe.manager.removeAllServices()
            probe.manager.publishL2CAPChannel(withEncryption: false)
            probe.services = [service]
            return probe.manager.isAdvertising
        }
        #expect(!isTaken)
        let lines = await misuse(probe.system, count: 5)
        #expect(
            lines
                == Array(
                    repeating:
                        "API MISUSE: <CBPeripheralManager> can only accept this command while in the powered on state",
                    count: 5))
        #expect(!probe.lines.contains { $0.hasPrefix("added") || $0.hasPrefix("advertising") })
    }

    @Test("a request to a peripheral that is not connected is dropped and logged (SPEC 2.3)")
    func notConnected() async throws {
        let probe = try await found(try Stage())
        let identifier = await probe.run {
            probe.peripheral.discoverServices(nil)
            return probe.peripheral.identifier
        }
        let lines = await misuse(probe.system)
        #expect(
            lines == [
                "API MISUSE: <CBPeripheral \(identifier)> can only accept commands while in the connected state"
            ])
    }

    @Test("releasing a connected peripheral is logged, and ends the connection (SPEC CEN-6, 2.3)")
    func unusedPeripheral() async throws {
        let probe = try await found(try Stage())
        await probe.run { probe.manager.connect(probe.peripheral) }
        try await probe.wait(for: "connected")
        let identifier = await probe.run {
            let identifier = probe.peripheral.identifier
            probe.peripherals = []
            return identifier
        }
        await probe.settle(probe.system)
        let lines = await misuse(probe.system)
        #expect(
            lines == [
                "API MISUSE: Cancelling connection for unused peripheral <CBPeripheral \(identifier)>, "
                    + "Did you forget to keep a reference to it?"
            ])
    }

    @Test("delivering each packet on the main queue gives a warning; on another queue it does not (SPEC 2.3)")
    func duplicatesOnMainQueue() async throws {
        let stage = try Stage()
        let options = [CBCentralManagerScanOptionAllowDuplicatesKey: true]
        let probe = CentralProbe(launch(stage))
        try await probe.wait(for: "state poweredOn")
        await probe.run { probe.manager.scanForPeripherals(withServices: nil, options: options) }
        await probe.settle(probe.system)
        #expect(said.current == [])
        for queue in [nil, DispatchQueue.main] {
            let manager = CurrentSystem.$override.withValue(probe.system) {
                CBCentralManager(delegate: nil, queue: queue)
            }
            manager.scanForPeripherals(withServices: nil)
            manager.scanForPeripherals(withServices: nil, options: options)
        }
        _ = await misuse(probe.system, count: 2)
        #expect(
            said.current.filter { $0.hasPrefix("WARNING") }
                == Array(
                    repeating: "WARNING: <CBCentralManager> is disabling duplicate filtering, but is using the default "
                        + "queue (main thread) for delegate events", count: 2))
    }

    @Test("a restore identifier without the background mode of its role is logged and preserves nothing (SPEC SPR-32)")
    func restorationWithoutMode() async throws {
        let stage = try Stage()
        let options = [CBCentralManagerOptionRestoreIdentifierKey: "central"]
        let first = try await found(stage, modes: ["bluetooth-peripheral"], options: options)
        await first.run { first.manager.connect(first.peripheral) }
        try await first.wait(for: "connected")
        let lines = await misuse(first.system)
        #expect(
            lines == [
                "State restoration of CBCentralManager is only allowed for applications that have specified the "
                    + "\"bluetooth-central\" background mode"
            ])
        await first.system.kill()
        said.with { $0 = [] }
        let second = PeripheralProbe(
            launch(stage, modes: ["bluetooth-central"]),
            options: [CBPeripheralManagerOptionRestoreIdentifierKey: "peripheral"])
        try await second.wait(for: "state poweredOn")
        let others = await misuse(second.system)
        #expect(
            others == [
                "State restoration of CBPeripheralManager is only allowed for applications that have specified the "
                    + "\"bluetooth-peripheral\" background mode"
            ])
        let third = CentralProbe(launch(stage, modes: ["bluetooth-central"]), options: options)
        try await third.wait(for: "state poweredOn")
        #expect(third.lines == ["state poweredOn"])
    }

    @Test("a second manager with the same restore identifier is logged and not preserved (SPEC SPR-2)")
    func duplicateIdentifier() async throws {
        let stage = try Stage()
        let options = [CBCentralManagerOptionRestoreIdentifierKey: "central"]
        let first = CentralProbe(launch(stage, modes: ["bluetooth-central"]), options: options)
        try await first.wait(for: "state poweredOn")
        let second = CentralProbe(first.system, options: options)
        try await second.wait(for: "state poweredOn")
        let lines = await misuse(first.system)
        #expect(
            lines == [
                "API MISUSE: another CBCentralManager has the restore identifier \"central\". "
                    + "Restoring will not be supported"
            ])
    }

    @Test("a delegate that does not restore is logged when there was something to restore (SPEC SPR-9)")
    func restorationNotImplemented() async throws {
        final class Deaf: NSObject, CBCentralManagerDelegate, CBPeripheralManagerDelegate, @unchecked Sendable {
            // @unchecked Sendable is safe because there is nothing in it.
            func centralManagerDidUpdateState(_ central: CBCentralManager) {}
            func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
        }
        let stage = try Stage()
        let modes = ["bluetooth-central", "bluetooth-peripheral"]
        let central = [CBCentralManagerOptionRestoreIdentifierKey: "central"]
        let peripheral = [CBPeripheralManagerOptionRestoreIdentifierKey: "peripheral"]
        let first = CentralProbe(launch(stage, modes: modes), options: central)
        let server = PeripheralProbe(first.system, options: peripheral)
        try await first.wait(for: "state poweredOn")
        await first.run { first.manager.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
        try await server.publish("FFF0", [("FFF1", .read, .readable, Data([1]))])
        await first.system.kill()
        #expect(said.current.isEmpty)
        defer { withExtendedLifetime((first, server)) {} }
        let system = launch(stage, modes: modes)
        let deaf = Deaf()
        let queue = DispatchQueue(label: "deaf")
        let managers = CurrentSystem.$override.withValue(system) {
            (
                CBCentralManager(delegate: deaf, queue: queue, options: central),
                CBPeripheralManager(delegate: deaf, queue: queue, options: peripheral)
            )
        }
        await system.barrier()
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        let lines = await misuse(system, count: 2)
        #expect(
            lines.sorted() == [
                "API MISUSE: CBCentralManager has a restore identifier but the delegate does not implement the "
                    + "centralManager:willRestoreState: method",
                "API MISUSE: CBPeripheralManager has a restore identifier but the delegate does not implement the "
                    + "peripheralManager:willRestoreState: method",
            ])
        withExtendedLifetime((managers, deaf)) {}
    }

    @Test("an attribute that is not the peripheral's, or no longer, is logged (SPEC 2.3)")
    func foreignAttribute() async throws {
        let stage = try Stage()
        let probe = try await explored(stage)
        let foreign = UncheckedBox(
            CBMutableCharacteristic(
                type: CBUUID(string: "2A38"), properties: .read, value: nil, permissions: .readable))
        await probe.run { probe.peripheral.readValue(for: foreign.value) }
        let lines = await misuse(probe.system)
        #expect(lines == ["API MISUSE: the attribute does not belong to this peer any more"])
        #expect(!probe.lines.contains { $0.hasPrefix("value") })
    }

    @Test("a request that is answered twice is logged (SPEC PER-16, PER-18)")
    func answeredTwice() async throws {
        let stage = try Stage { _ in }
        let server = PeripheralProbe(launch(stage, "org.example.server"))
        server.onRead = { manager, request in
            request.value = Data([7])
            manager.respond(to: request, withResult: .success)
            manager.respond(to: request, withResult: .unlikelyError)
        }
        try await server.publish("FFF0", [("FFF1", .read, .readable, nil)])
        let client = try await reader(stage)
        await client.run { client.peripheral.readValue(for: client.characteristic("FFF1")) }
        #expect(try await client.wait(for: "value") == "value FFF1 07")
        await server.settle(server.system)
        let lines = await misuse(server.system)
        #expect(lines == ["API MISUSE: the request is not waiting for an answer"])
    }

    /// An app that has explored what another one publishes.
    private func reader(_ stage: Stage) async throws -> CentralProbe {
        let client = CentralProbe(stage.launch("org.example.client"))
        try await client.find("FFF0")
        try await client.connect(stopsScan: false)
        try await client.explore("FFF0")
        return client
    }

    @Test("a key that an advertisement cannot have is named (SPEC PER-10, 2.4)")
    func advertisementKey() async throws {
        let stage = try Stage { _ in }
        let probe = PeripheralProbe(launch(stage))
        try await probe.wait(for: "state poweredOn")
        await probe.run { probe.manager.startAdvertising([CBAdvertisementDataTxPowerLevelKey: 4]) }
        #expect(try await probe.wait(for: "advertising") == "advertising CBErrorDomain 1 false")
        let lines = await misuse(probe.system)
        #expect(lines == ["The advertisement key 'kCBAdvDataTxPowerLevel' is not allowed"])
    }

    @Test("a service that is published already is logged, and stays as it is (SPEC PER-7)")
    func publishedTwice() async throws {
        let stage = try Stage { _ in }
        let probe = PeripheralProbe(launch(stage))
        try await probe.publish("FFF0", [("FFF1", .read, .readable, Data([1]))])
        await probe.run { probe.manager.add(probe.services[0]) }
        await probe.settle(probe.system)
        let lines = await misuse(probe.system)
        #expect(lines == ["API MISUSE: the service is published already"])
        #expect(probe.lines.filter { $0.hasPrefix("added") }.count == 1)
    }

    @Test("a scan in the background that names no service is logged (SPEC BGC-5)")
    func backgroundScan() async throws {
        let probe = CentralProbe(launch(try Stage(), modes: ["bluetooth-central"]))
        try await probe.wait(for: "state poweredOn")
        probe.system.move(.background)
        await probe.run { probe.manager.scanForPeripherals(withServices: nil) }
        let lines = await misuse(probe.system)
        #expect(lines == ["A background scan must name services; this scan finds nothing"])
    }

    @Test("the configuration of a characteristic cannot be written: the program ends and says why (SPEC 2.3)")
    func configurationWritten() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stage = try Stage()
            let probe = try await MisuseTests().explored(stage)
            await probe.run {
                probe.peripheral.discoverDescriptors(for: probe.characteristic("2A37"))
            }
            try await probe.wait(for: "descriptors")
            await probe.run {
                let descriptors = probe.characteristic("2A37").descriptors ?? []
                for descriptor in descriptors { probe.peripheral.writeValue(Data([1, 0]), for: descriptor) }
            }
        }
        expectLine(
            "Client Characteristic Configuration descriptors must be configured using setNotifyValue:forCharacteristic:",
            result)
    }

    @Test("a cached value that could be written ends the program, which says why (SPEC PER-3, 2.4)")
    func cachedValue() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stage = try Stage { _ in }
            let server = PeripheralProbe(stage.launch())
            let service = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
            service.characteristics = [
                CBMutableCharacteristic(
                    type: CBUUID(string: "FFF1"), properties: [.read, .write], value: Data([1]),
                    permissions: [.readable, .writeable])
            ]
            server.manager.add(service)
        }
        expectLine("Characteristics with cached values must be read-only", result)
    }

    private func expectLine(_ text: String, _ result: ExitTest.Result?) {
        let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(said.contains(text), "\(said)")
    }

    @Test("messages about the life of an app have these words (SPEC BGX-5, PER-16, SPR-33)")
    func texts() {
        #expect(
            LogMessage.wakeBudgetExceeded(strikes: 2).text == "The time in the background is over (strike 2)")
        #expect(
            LogMessage.requestNotAnswered.text == "A request was not answered in time; the central is disconnected")
        #expect(
            LogMessage.restorationWithoutIdentifier(.peripheral).text
                == "API MISUSE: CBPeripheralManager has no restore identifier but the delegate implements the "
                + "peripheralManager:willRestoreState: method. Restoring will not be supported")
    }

    @Test("an app may take the lines itself")
    func redirection() {
        let lines = Locked<[String]>([])
        CBApplication.shared.onLog { line in lines.with { $0.append(line) } }
        MisuseLog.write("a line of this test")
        CBApplication.shared.onLog(nil)
        #expect(lines.current.contains("a line of this test"))
    }
}
