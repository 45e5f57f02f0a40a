import BLESimulator
import Foundation
import Testing

@testable import CoreBluetooth

@Suite("The central role")
struct CentralTests {
    /// An app that has found the heart rate sensor.
    private func found(_ stage: Stage) async throws -> CentralProbe {
        let probe = CentralProbe(stage.launch())
        try await probe.wait(for: "state poweredOn")
        await probe.run { probe.manager.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
        try await probe.wait(for: "discovered Jelling Heart")
        await probe.run { probe.manager.stopScan() }
        return probe
    }

    private func connected(_ stage: Stage) async throws -> CentralProbe {
        let probe = try await found(stage)
        await probe.run { probe.manager.connect(probe.peripheral) }
        try await probe.wait(for: "connected connected")
        return probe
    }

    /// Everything discovered.
    private func explored(_ stage: Stage) async throws -> CentralProbe {
        let probe = try await connected(stage)
        await probe.run { probe.peripheral.discoverServices(nil) }
        try await probe.wait(for: "services")
        let count = await probe.run {
            for service in probe.peripheral.services ?? [] {
                probe.peripheral.discoverCharacteristics(nil, for: service)
            }
            return probe.peripheral.services?.count ?? 0
        }
        try await probe.wait(for: "characteristics", count: count)
        return probe
    }

    @Test(
        "the state comes after the initialiser, on the queue given, and is poweredOn in the end (SPEC CEN-1 to CEN-3)")
    func state() async throws {
        let stage = try Stage()
        let probe = CentralProbe(stage.launch())
        #expect(probe.lines.isEmpty)
        try await probe.wait(for: "state poweredOn")
        #expect(await probe.run { probe.manager.state } == .poweredOn)
        #expect(!probe.lines.contains { $0.hasPrefix("wrong queue") })
        #expect(CBManager.authorization == .allowedAlways)
    }

    @Test("a scan by service finds the device with all that it advertises; stopScan ends it (SPEC CEN-4, CEN-5, CEN-7)")
    func scan() async throws {
        let stage = try Stage { air in
            air.addPeripheral(.jellingHeart)
            air.addBroadcaster(.testBeacon)
        }
        let probe = try await found(stage)
        let facts = await probe.run {
            let data = probe.advertisements[0]
            return (
                data[CBAdvertisementDataServiceUUIDsKey] as? [CBUUID] == ["180D", "180F"].map { CBUUID(string: $0) },
                data[CBAdvertisementDataIsConnectable] as? Bool, probe.manager.isScanning,
                probe.peripheral.name, probe.peripherals.count, probe.peripheral.state
            )
        }
        #expect(facts == (true, true, false, "Jelling Heart", 1, .disconnected))
    }

    @Test("without services every device is found (SPEC CEN-4), each once while it says the same (SPEC CEN-25)")
    func scanAll() async throws {
        let stage = try Stage { air in
            air.addPeripheral(.jellingHeart)
            air.addBroadcaster(.testBeacon)
            air.addBroadcaster(.webBeacon)
        }
        let probe = CentralProbe(stage.launch())
        try await probe.wait(for: "state poweredOn")
        await probe.run { probe.manager.scanForPeripherals(withServices: nil) }
        try await probe.wait(for: "discovered", count: 3)
        await stage.pass(milliseconds: 300)
        await probe.settle(probe.system)
        #expect(probe.lines.filter { $0.hasPrefix("discovered") }.count == 3)
        let beacon = await probe.run {
            probe.advertisements.compactMap { $0[CBAdvertisementDataManufacturerDataKey] as? Data }.first
        }
        #expect(beacon?.prefix(2) == Data([0xFF, 0xFF]))
    }

    @Test(
        "with duplicates allowed there is a call for each packet (SPEC CEN-27), always for the same object (SPEC REC-3)"
    )
    func duplicates() async throws {
        let stage = try Stage()
        let probe = CentralProbe(stage.launch())
        try await probe.wait(for: "state poweredOn")
        await probe.run {
            probe.manager.scanForPeripherals(
                withServices: nil, options: [CBCentralManagerScanOptionAllowDuplicatesKey: true])
        }
        try await probe.wait(for: "discovered", count: 5)
        #expect(await probe.run { probe.peripherals.count } == 1)
    }

    @Test("a change of the advertisement is a discovery of its own (SPEC CEN-26)")
    func changedAdvertisement() async throws {
        let stage = try Stage { _ in }
        let device = await stage.onAir { $0.addPeripheral(.jellingHeart) }
        let probe = CentralProbe(stage.launch())
        try await probe.wait(for: "state poweredOn")
        await probe.run { probe.manager.scanForPeripherals(withServices: nil) }
        try await probe.wait(for: "discovered Jelling Heart")
        await stage.onAir { $0.setAdvertisement(SimulatedAdvertisement(name: "Other Heart"), of: device) }
        try await probe.wait(for: "discovered Other Heart")
        #expect(await probe.run { probe.peripherals.count } == 1)
    }

    @Test("connect, discover services and characteristics, read and disconnect (SPEC CEN-8, CEN-11 to CEN-13, CEN-24)")
    func walk() async throws {
        let stage = try Stage()
        let probe = try await explored(stage)
        let services = await probe.run { probe.peripheral.services!.map(\.uuid.uuidString) }
        #expect(Set(services).isSuperset(of: ["180D", "180F", "180A"]))
        await probe.run { probe.peripheral.readValue(for: probe.characteristic("2A38")) }
        #expect(try await probe.wait(for: "value 2A38") == "value 2A38 01")
        let facts = await probe.run {
            let location: CBCharacteristic = probe.characteristic("2A38")
            return (
                location.value == Data([1]), location.service === probe.service("180D"),
                location.service?.peripheral === probe.peripheral, location.properties == .read,
                probe.service("180D").isPrimary
            )
        }
        #expect(facts == (true, true, true, true, true))
        await probe.run { probe.manager.cancelPeripheralConnection(probe.peripheral) }
        #expect(try await probe.wait(for: "disconnected") == "disconnected nil disconnected")
    }

    @Test("named services and characteristics alone are discovered (SPEC CEN-11, CEN-12, BP-3)")
    func named() async throws {
        let stage = try Stage()
        let probe = try await connected(stage)
        await probe.run { probe.peripheral.discoverServices([CBUUID(string: "180D")]) }
        #expect(try await probe.wait(for: "services") == "services [\"180D\"] nil")
        await probe.run {
            probe.peripheral.discoverCharacteristics([CBUUID(string: "2A38")], for: probe.service("180D"))
        }
        #expect(try await probe.wait(for: "characteristics") == "characteristics 180D [\"2A38\"] nil")
        // Without names it is all of them.
        await probe.run { probe.peripheral.discoverCharacteristics(nil, for: probe.service("180D")) }
        let all = "characteristics 180D [\"2A37\", \"2A38\", \"2A39\"] nil"
        #expect(try await probe.wait(for: "characteristics", count: 2) == all)
        await probe.run { probe.peripheral.discoverServices([]) }
        try await probe.wait(for: "services", count: 2)
        let services = await probe.run { Set(probe.peripheral.services!.map(\.uuid.uuidString)) }
        #expect(services.isSuperset(of: ["180D", "180F", "180A"]))
    }

    @Test("subscribed values arrive by the call that reads use, until unsubscribed (SPEC CEN-15 to CEN-18)")
    func notifications() async throws {
        let stage = try Stage()
        let probe = try await explored(stage)
        await probe.run { probe.peripheral.setNotifyValue(true, for: probe.characteristic("2A37")) }
        #expect(try await probe.wait(for: "notifying") == "notifying 2A37 true nil")
        try await probe.wait(for: "value 2A37 06", count: 2)
        #expect(await probe.run { probe.characteristic("2A37").isNotifying })
        await probe.run { probe.peripheral.setNotifyValue(false, for: probe.characteristic("2A37")) }
        #expect(try await probe.wait(for: "notifying", count: 2) == "notifying 2A37 false nil")
    }

    @Test(
        "reading what cannot be read, and subscribing to what does not notify, end with an error (SPEC CEN-14, CEN-15)")
    func refusals() async throws {
        let stage = try Stage()
        let probe = try await explored(stage)
        await probe.run {
            probe.peripheral.readValue(for: probe.characteristic("2A37"))
            probe.peripheral.setNotifyValue(true, for: probe.characteristic("2A38"))
        }
        #expect(try await probe.wait(for: "value 2A37") == "value 2A37 CBATTErrorDomain 2")
        let line = try await probe.wait(for: "notifying")
        #expect(line.hasPrefix("notifying 2A38 false CB"))
    }

    @Test("a write with response always ends with a call, even if the device refuses it (SPEC CEN-19)")
    func writes() async throws {
        let stage = try Stage()
        let probe = try await explored(stage)
        await probe.run {
            probe.peripheral.writeValue(Data([1]), for: probe.characteristic("2A39"), type: .withResponse)
            probe.peripheral.writeValue(Data([9]), for: probe.characteristic("2A39"), type: .withResponse)
        }
        #expect(try await probe.wait(for: "written", count: 2) == "written 2A39 CBATTErrorDomain 128")
        #expect(probe.lines.filter { $0.hasPrefix("written") }.first == "written 2A39 nil")
    }

    @Test("writes without response have no call; their loop is told when the queue is full (SPEC CEN-20, 2.3)")
    func writesWithoutResponse() async throws {
        let stage = try Stage { air in
            air.addPeripheral(
                SimulatedPeripheral(
                    name: "Jelling Heart", address: .init(value: 0xC0DE_0000_0009, kind: .random),
                    services: [
                        SimulatedService(
                            .init(0x180D as UInt16),
                            characteristics: [
                                SimulatedCharacteristic(.init(0xFFE1 as UInt16), [.writeWithoutResponse], value: [])
                            ])
                    ]))
        }
        let probe = try await explored(stage)
        let written = await probe.run {
            let length = probe.peripheral.maximumWriteValueLength(for: .withoutResponse)
            var count = 0
            while probe.peripheral.canSendWriteWithoutResponse, count < 10_000 {
                probe.peripheral.writeValue(
                    Data(repeating: 7, count: length), for: probe.characteristic("FFE1"), type: .withoutResponse)
                count += 1
            }
            return (count, length)
        }
        #expect(written.0 > 0 && written.0 < 10_000 && written.1 > 20)
        try await probe.wait(for: "ready")
        #expect(await probe.run { probe.peripheral.canSendWriteWithoutResponse })
        #expect(await probe.run { probe.peripheral.maximumWriteValueLength(for: .withResponse) } == 512)
        #expect(!probe.lines.contains { $0.hasPrefix("written") })
    }

    @Test("descriptors have values of the types that Apple gives them (SPEC 2.3)")
    func descriptors() async throws {
        let stage = try Stage()
        let probe = try await explored(stage)
        await probe.run { probe.peripheral.discoverDescriptors(for: probe.characteristic("2A37")) }
        #expect(try await probe.wait(for: "descriptors") == "descriptors [\"2902\"] nil")
        await probe.run { probe.peripheral.readValue(for: probe.characteristic("2A37").descriptors![0]) }
        #expect(try await probe.wait(for: "descriptorValue") == "descriptorValue 2902 0 nil")
        #expect(await probe.run { probe.characteristic("2A37").descriptors![0].value is NSNumber })
    }

    @Test(
        "each characteristic holds a value of its own, which nothing that is read or notified elsewhere changes (SPEC MOD-5)"
    )
    func ownValues() async throws {
        let stage = try Stage()
        let probe = try await explored(stage)
        let texts = ["2A29": "4a656c6c696e67", "2A24": "48656172742031", "2A26": "312e30", "2A25": "30303031"]
        func values() async -> [String: String] {
            await probe.run {
                var values: [String: String] = [:]
                for uuid in ["2A29", "2A24", "2A26", "2A25", "2A38"] {
                    if let value = probe.characteristic(uuid).value { values[uuid] = hex(value) }
                }
                return values
            }
        }
        await probe.run { probe.peripheral.readValue(for: probe.characteristic("2A26")) }
        try await probe.wait(for: "value 2A26 312e30")
        #expect(await values() == ["2A26": "312e30"])
        await probe.run {
            for uuid in ["2A29", "2A24", "2A25"] { probe.peripheral.readValue(for: probe.characteristic(uuid)) }
            probe.peripheral.setNotifyValue(true, for: probe.characteristic("2A37"))
        }
        try await probe.wait(for: "value 2A25")
        try await probe.wait(for: "value 2A37 06")
        #expect(await values() == texts)
    }

    @Test("the strength of the signal can be read while connected (SPEC MOD-3, 2.3)")
    func rssi() async throws {
        let stage = try Stage()
        let probe = try await connected(stage)
        await probe.run { probe.peripheral.readRSSI() }
        #expect(try await probe.wait(for: "rssi").hasSuffix("nil"))
    }

    @Test(
        "a device that goes away ends the connection with a reason (SPEC 2.3), and a pending connect waits for it (CEN-9)"
    )
    func lostAndFound() async throws {
        let stage = try Stage { _ in }
        let device = await stage.onAir { $0.addPeripheral(.jellingHeart) }
        let probe = try await connected(stage)
        await stage.onAir { $0.disconnect(device) }
        #expect(try await probe.wait(for: "disconnected") == "disconnected CBErrorDomain 7 disconnected")
        await stage.onAir { $0.setInRange(false, device) }
        await probe.run { probe.manager.connect(probe.peripheral) }
        await probe.settle(probe.system)
        #expect(await probe.run { probe.peripheral.state } == .connecting)
        await stage.onAir { $0.setInRange(true, device) }
        try await probe.wait(for: "connected", count: 2)
        #expect(await probe.run { probe.peripheral.services == nil })
    }

    @Test("cancelling a pending connection ends it with a call without an error (SPEC CEN-22, CEN-24)")
    func cancelPending() async throws {
        let stage = try Stage { _ in }
        let device = await stage.onAir { $0.addPeripheral(.jellingHeart) }
        let probe = try await found(stage)
        await stage.onAir { $0.setInRange(false, device) }
        await probe.run {
            probe.manager.connect(probe.peripheral)
            probe.manager.cancelPeripheralConnection(probe.peripheral)
        }
        #expect(try await probe.wait(for: "disconnected") == "disconnected nil disconnected")
    }

    @Test(
        "without a delegate nothing of a peripheral is reported; the next event goes to the delegate set by then (SPEC CEN-10)"
    )
    func withoutDelegate() async throws {
        let stage = try Stage { $0.addPeripheral(.jellingHeart) }
        let probe = try await connected(stage)
        await probe.run {
            probe.peripheral.delegate = nil
            probe.peripheral.discoverServices(nil)
        }
        try await waitUntil("services") { await probe.run { probe.peripheral.services != nil } }
        #expect(await probe.run { probe.peripheral.services?.isEmpty == false })
        #expect(!probe.lines.contains { $0.hasPrefix("services") })
        await probe.run {
            probe.peripheral.delegate = probe
            probe.peripheral.discoverServices(nil)
        }
        try await probe.wait(for: "services")
    }

    @Test("after the disconnection the peripheral's delegate gets nothing more (SPEC CEN-22, 2.3)")
    func nothingAfterDisconnection() async throws {
        let stage = try Stage()
        let probe = try await explored(stage)
        await probe.run {
            for _ in 0..<3 { probe.peripheral.readValue(for: probe.characteristic("2A38")) }
            probe.manager.cancelPeripheralConnection(probe.peripheral)
        }
        try await probe.wait(for: "disconnected")
        await stage.pass(milliseconds: 200)
        await probe.settle(probe.system)
        #expect(probe.lines.last == "disconnected nil disconnected")
    }

    @Test("releasing a peripheral ends its connection (SPEC CEN-6, 2.3)")
    func deallocation() async throws {
        let stage = try Stage { _ in }
        let device = await stage.onAir { $0.addPeripheral(.jellingHeart) }
        let probe = try await connected(stage)
        await probe.run { probe.peripherals = [] }
        // The device advertises again once the link is gone.
        await probe.run { probe.manager.scanForPeripherals(withServices: nil) }
        try await probe.wait(for: "discovered Jelling Heart", count: 2)
        #expect(!probe.lines.contains { $0.hasPrefix("disconnected") })
        _ = device
    }

    @Test(
        "known peripherals can be retrieved, always as the same object; unknown ones give nothing (SPEC REC-1 to REC-4)"
    )
    func retrieve() async throws {
        let stage = try Stage()
        let probe = try await found(stage)
        let facts = await probe.run {
            let known = probe.manager.retrievePeripherals(withIdentifiers: [probe.peripheral.identifier])
            let unknown = probe.manager.retrievePeripherals(withIdentifiers: [UUID()])
            return (known.count, known.first === probe.peripheral, unknown.isEmpty)
        }
        #expect(facts == (1, true, true))
    }

    @Test("connected peripherals are retrieved by any of their services, by another manager too (SPEC REC-6, REC-7)")
    func retrieveConnected() async throws {
        let stage = try Stage()
        let probe = try await explored(stage)
        let other = CentralProbe(probe.system)
        try await other.wait(for: "state poweredOn")
        let found = await other.run {
            other.peripherals = other.manager.retrieveConnectedPeripherals(
                withServices: ["FFF0", "180F"].map { CBUUID(string: $0) })
            return (
                other.peripherals.map(\.state),
                other.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "FFF0")]).isEmpty
            )
        }
        #expect(found == ([.disconnected], true))
        await other.run {
            other.peripheral.delegate = other
            other.manager.connect(other.peripheral)
        }
        try await other.wait(for: "connected")
        // One lets go: the other's connection stands (SPEC CEN-23).
        await probe.run { probe.manager.cancelPeripheralConnection(probe.peripheral) }
        try await probe.wait(for: "disconnected nil")
        await other.run { other.peripheral.readRSSI() }
        try await other.wait(for: "rssi")
    }

    @Test("a connection stays pending where the controller gives up at once, and is made in the end (SPEC CEN-9)")
    func establishmentFails() async throws {
        let stage = try Stage()
        let probe = try await found(stage)
        await stage.changeFaults {
            $0.failingConnections = 8
            $0.connectionFailure = .connectionComplete
        }
        await probe.run { probe.manager.connect(probe.peripheral) }
        try await probe.wait(for: "connected connected")
        #expect(!probe.lines.contains { $0.hasPrefix("failed") })
    }

    @Test("every connected peripheral is retrieved by the service that all have (SPEC REC-6)")
    func retrieveByGenericAccess() async throws {
        let stage = try Stage()
        let probe = try await connected(stage)
        let found = await probe.run {
            probe.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "1800")]).map(\.identifier)
                == [probe.peripheral.identifier]
        }
        #expect(found)
        await probe.run { probe.manager.cancelPeripheralConnection(probe.peripheral) }
        try await probe.wait(for: "disconnected")
        #expect(
            await probe.run {
                probe.manager.retrieveConnectedPeripherals(withServices: [CBUUID(string: "1800")]).isEmpty
            })
    }

    @Test("connection events come for services that no app discovers (SPEC 2.3)")
    func watchedServices() async throws {
        let stage = try Stage()
        let probe = try await found(stage)
        let other = CentralProbe(probe.system)
        try await other.wait(for: "state poweredOn")
        await other.run {
            other.manager.registerForConnectionEvents(options: [.serviceUUIDs: [CBUUID(string: "180D")]])
        }
        await probe.run { probe.manager.connect(probe.peripheral) }
        try await other.wait(for: "connectionEvent peerConnected")
        await probe.run { probe.manager.cancelPeripheralConnection(probe.peripheral) }
        try await other.wait(for: "connectionEvent peerDisconnected")
    }

    @Test("commands before poweredOn are dropped (SPEC 2.3)")
    func tooEarly() async throws {
        let stage = try Stage()
        let probe = CentralProbe(stage.launch())
        probe.manager.scanForPeripherals(withServices: nil)
        #expect(!probe.manager.isScanning)
        try await probe.wait(for: "state poweredOn")
        await stage.pass(milliseconds: 200)
        await probe.settle(probe.system)
        #expect(!probe.lines.contains { $0.hasPrefix("discovered") })
    }

    @Test("an app that may not use Bluetooth is told so (SPEC CEN-3)")
    func unauthorized() async throws {
        let stage = try Stage()
        let probe = CentralProbe(stage.launch(authorization: .denied))
        try await probe.wait(for: "state unauthorized")
    }
}
