import BLESimulator
import Foundation
import Testing

@testable import CoreBluetooth

/// Two apps on one air, each with a controller of its own: one publishes, the other uses.
@Suite("The peripheral role")
struct PeripheralTests {
    private static let service = "FFF0"

    /// A peripheral that offers some characteristics, and a central that has explored them.
    private func pair(
        _ offered: [(String, CBCharacteristicProperties, CBAttributePermissions, Data?)], attMTU: UInt16 = 517,
        prepare: (PeripheralProbe) -> Void = { _ in }
    ) async throws -> (PeripheralProbe, CentralProbe) {
        let stage = try Stage { _ in }
        let server = PeripheralProbe(stage.launch("org.example.server"))
        prepare(server)
        try await server.publish(Self.service, offered)
        let client = CentralProbe(stage.launch("org.example.client") { $0.timing.attMTU = attMTU })
        try await client.wait(for: "state poweredOn")
        await client.run { client.manager.scanForPeripherals(withServices: [CBUUID(string: Self.service)]) }
        try await client.wait(for: "discovered")
        await client.run {
            client.manager.stopScan()
            client.manager.connect(client.peripheral)
        }
        try await client.wait(for: "connected")
        await client.run { client.peripheral.discoverServices([CBUUID(string: Self.service)]) }
        try await client.wait(for: "services")
        await client.run { client.peripheral.discoverCharacteristics(nil, for: client.service(Self.service)) }
        try await client.wait(for: "characteristics")
        return (server, client)
    }

    @Test(
        "what is published and advertised is found, connected to and explored (SPEC PER-6, PER-8, PER-9, PER-11, MOD-11)"
    )
    func publishes() async throws {
        let (server, client) = try await pair([
            ("FFF1", [.read, .notify], .readable, nil), ("FFF2", .read, .readable, Data([1, 2, 3])),
        ])
        #expect(try await client.wait(for: "discovered") == "discovered Jelling Peer")
        #expect(
            try await client.wait(for: "characteristics") == "characteristics FFF0 [\"FFF1\", \"FFF2\"] nil")
        #expect(await server.run { server.manager.isAdvertising })
        #expect(await server.run { server.services[0].characteristics!.count } == 2)
    }

    @Test("a cached value is answered without the app, a dynamic one by it (SPEC PER-3, PER-13, PER-15)")
    func reads() async throws {
        let (server, client) = try await pair([
            ("FFF1", .read, .readable, nil), ("FFF2", .read, .readable, Data([1, 2, 3])),
        ]) { server in
            server.onRead = { manager, request in
                request.value = Data([9, 8, 7]).subdata(in: request.offset..<3)
                manager.respond(to: request, withResult: .success)
            }
        }
        await client.run {
            client.peripheral.readValue(for: client.characteristic("FFF2"))
            client.peripheral.readValue(for: client.characteristic("FFF1"))
        }
        #expect(try await client.wait(for: "value", count: 2) == "value FFF1 090807")
        #expect(client.lines.contains("value FFF2 010203"))
        #expect(server.lines.filter { $0.hasPrefix("read") } == ["read FFF1 0"])
    }

    @Test("a refused read and a value that needs offsets reach the central as they are (SPEC PER-14, PER-15, PER-16)")
    func offsets() async throws {
        let value = Data((0..<400).map { UInt8($0 % 251) })
        let (server, client) = try await pair(
            [("FFF1", .read, .readable, nil), ("FFF2", .read, .readable, nil)], attMTU: 101
        ) { server in
            server.onRead = { manager, request in
                guard request.characteristic.uuid == CBUUID(string: "FFF2") else {
                    return manager.respond(to: request, withResult: .insufficientResources)
                }
                guard request.offset <= value.count else {
                    return manager.respond(to: request, withResult: .invalidOffset)
                }
                request.value = value.suffix(from: request.offset)
                manager.respond(to: request, withResult: .success)
            }
        }
        await client.run {
            client.peripheral.readValue(for: client.characteristic("FFF1"))
            client.peripheral.readValue(for: client.characteristic("FFF2"))
        }
        #expect(try await client.wait(for: "value FFF1") == "value FFF1 CBATTErrorDomain 17")
        // The last part is full: that there is no more behind it, the answer to an offset at the end says.
        #expect(try await client.wait(for: "value FFF2") == "value FFF2 \(hex(value))")
        #expect(
            server.lines.filter { $0.hasPrefix("read") }
                == ["read FFF1 0"] + [0, 100, 200, 300, 400].map { "read FFF2 \($0)" })
    }

    @Test("writes arrive as an array and are answered once, commands need no answer (SPEC PER-17, PER-18)")
    func writes() async throws {
        let (server, client) = try await pair([
            ("FFF1", [.write, .writeWithoutResponse], .writeable, nil)
        ]) { server in
            server.onWrite = { manager, requests in
                let isGood = requests.allSatisfy { $0.value?.first != 0xFF }
                manager.respond(to: requests[0], withResult: isGood ? .success : .writeNotPermitted)
            }
        }
        await client.run {
            client.peripheral.writeValue(Data([1, 2]), for: client.characteristic("FFF1"), type: .withResponse)
            client.peripheral.writeValue(Data([0xFF]), for: client.characteristic("FFF1"), type: .withResponse)
            client.peripheral.writeValue(Data([3]), for: client.characteristic("FFF1"), type: .withoutResponse)
        }
        #expect(try await client.wait(for: "written", count: 2) == "written FFF1 CBATTErrorDomain 3")
        try await server.wait(for: "write FFF1@0=1", count: 2)
        #expect(client.lines.filter { $0.hasPrefix("written") }.count == 2)
    }

    @Test("a long write arrives as one array of its parts, in order (SPEC PER-17 to PER-19)")
    func longWrite() async throws {
        let (server, client) = try await pair([("FFF1", .write, .writeable, nil)], attMTU: 101)
        await client.run {
            client.peripheral.writeValue(
                Data(repeating: 5, count: 250), for: client.characteristic("FFF1"), type: .withResponse)
        }
        #expect(try await client.wait(for: "written") == "written FFF1 nil")
        #expect(try await server.wait(for: "write") == "write FFF1@0=96,FFF1@96=96,FFF1@192=58")
        #expect(server.lines.filter { $0.hasPrefix("write") }.count == 1)
    }

    @Test("a subscription is the cue to send, and ends with a call (SPEC PER-20, PER-21, 2.4)")
    func subscribes() async throws {
        let (server, client) = try await pair([("FFF1", [.read, .notify], .readable, nil)])
        let early = await server.run {
            server.manager.updateValue(Data([0]), for: server.characteristics["FFF1"]!, onSubscribedCentrals: nil)
        }
        #expect(early)
        await client.run { client.peripheral.setNotifyValue(true, for: client.characteristic("FFF1")) }
        try await client.wait(for: "notifying FFF1 true nil")
        let length = try await server.wait(for: "subscribed FFF1")
        #expect(length == "subscribed FFF1 514")
        #expect(await server.run { server.characteristics["FFF1"]!.subscribedCentrals! == server.centrals })
        let isSent = await server.run {
            server.manager.updateValue(
                Data([1, 2, 3]), for: server.characteristics["FFF1"]!, onSubscribedCentrals: [server.centrals[0]])
        }
        #expect(isSent)
        #expect(try await client.wait(for: "value FFF1") == "value FFF1 010203")
        await client.run { client.peripheral.setNotifyValue(false, for: client.characteristic("FFF1")) }
        try await server.wait(for: "unsubscribed FFF1")
        #expect(await server.run { server.characteristics["FFF1"]!.subscribedCentrals!.isEmpty })
    }

    @Test("updates are refused when there is no room, and the app is told when there is again (SPEC PER-22)")
    func backPressure() async throws {
        let (server, client) = try await pair([("FFF1", .notify, .readable, nil)])
        await client.run { client.peripheral.setNotifyValue(true, for: client.characteristic("FFF1")) }
        try await server.wait(for: "subscribed")
        let total = 300
        let sent = Locked(0)
        server.onReady = { @Sendable in
            while sent.current < total {
                let value = Data([UInt8(sent.current % 256), UInt8(sent.current / 256)]) + Data(count: 200)
                guard
                    server.manager.updateValue(
                        value, for: server.characteristics["FFF1"]!, onSubscribedCentrals: nil)
                else { return }
                sent.with { $0 += 1 }
            }
        }
        await server.run { server.onReady?() }
        #expect(sent.current < total)
        try await client.wait(for: "value FFF1", count: total)
        let order = client.lines.filter { $0.hasPrefix("value FFF1") }.map { $0.dropFirst(11).prefix(4) }
        #expect(order == (0..<total).map { Substring(String(format: "%02x%02x", $0 % 256, $0 / 256)) })
        #expect(server.lines.contains("ready"))
    }

    @Test(
        "a key that cannot be advertised is an error, and so is a second start; once stopped it starts again (SPEC PER-8, PER-9, PER-10, PER-12, 2.4)"
    )
    func advertisingErrors() async throws {
        let stage = try Stage { _ in }
        let server = PeripheralProbe(stage.launch())
        try await server.wait(for: "state poweredOn")
        await server.run { server.manager.startAdvertising([CBAdvertisementDataTxPowerLevelKey: 4]) }
        #expect(try await server.wait(for: "advertising") == "advertising CBErrorDomain 1 false")
        await server.run { server.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "A"]) }
        #expect(try await server.wait(for: "advertising", count: 2) == "advertising nil true")
        await server.run { server.manager.startAdvertising(nil) }
        #expect(try await server.wait(for: "advertising", count: 3) == "advertising CBErrorDomain 9 true")
        await server.run { server.manager.stopAdvertising() }
        #expect(await server.run { server.manager.isAdvertising } == false)
        await server.run { server.manager.startAdvertising(nil) }
        #expect(try await server.wait(for: "advertising", count: 4) == "advertising nil true")
    }

    @Test("an app that starts to advertise twice at once is told of the first start first (SPEC PER-9, 2.4)")
    func startedTwice() async throws {
        let stage = try Stage { _ in }
        let server = PeripheralProbe(stage.launch())
        try await server.wait(for: "state poweredOn")
        await server.run {
            server.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "A"])
            server.manager.startAdvertising([CBAdvertisementDataLocalNameKey: "B"])
        }
        try await server.wait(for: "advertising", count: 2)
        #expect(
            server.lines.filter { $0.hasPrefix("advertising") }
                == ["advertising nil true", "advertising CBErrorDomain 9 true"])
    }

    @Test(
        "services of the system cannot be added, nor ones that include what is not published, and the reason is reported (SPEC PER-6, 2.4)"
    )
    func badServices() async throws {
        let stage = try Stage { _ in }
        let server = PeripheralProbe(stage.launch())
        try await server.wait(for: "state poweredOn")
        await server.run {
            server.manager.add(
                CBMutableService(type: CBUUID(string: "7905F431-B5CE-4E99-A40F-4B1E122D00D0"), primary: true))
            server.manager.add(CBMutableService(type: CBUUID(string: "1800"), primary: true))
            let outer = CBMutableService(type: CBUUID(string: "FFF0"), primary: true)
            outer.includedServices = [CBMutableService(type: CBUUID(string: "FFF8"), primary: false)]
            server.manager.add(outer)
        }
        try await server.wait(for: "added", count: 3)
        let lines = server.lines.filter { $0.hasPrefix("added") }
        #expect(lines[0].hasSuffix("CBErrorDomain 8") && lines[1] == "added 1800 CBErrorDomain 8")
        #expect(lines[2].hasPrefix("added FFF0 CBErrorDomain"))
    }

    @Test("what is published cannot be changed; once removed it can (SPEC PER-7)")
    func frozen() async throws {
        let (server, client) = try await pair([("FFF1", .read, .readable, Data([1]))])
        // The system subscribes to changes beside the app's own requests, a step at a time.
        for count in 1...8 {
            await client.run { client.peripheral.readValue(for: client.characteristic("FFF1")) }
            try await client.wait(for: "value FFF1 01", count: count)
        }
        let facts = await server.run {
            let service = server.services[0]
            let characteristic = server.characteristics["FFF1"]!
            service.characteristics = []
            characteristic.properties = .write
            characteristic.permissions = .writeable
            let isKept =
                service.characteristics!.count == 1 && characteristic.properties == .read
                && characteristic.permissions == .readable
            server.manager.remove(service)
            service.characteristics = []
            return (isKept, service.characteristics!.isEmpty)
        }
        #expect(facts == (true, true))
        // The central learns that its services are not what they were (SPEC 2.3).
        #expect(try await client.wait(for: "modified") == "modified [\"FFF0\"]")
    }

    @Test("one app holds both roles at once (SPEC MOD-1, CEN-29)")
    func bothRoles() async throws {
        let stage = try Stage()
        let system = stage.launch()
        let server = PeripheralProbe(system)
        let central = CentralProbe(system)
        try await server.publish("FFF0", [("FFF1", .read, .readable, nil)])
        try await central.wait(for: "state poweredOn")
        await central.run { central.manager.scanForPeripherals(withServices: [CBUUID(string: "180D")]) }
        try await central.wait(for: "discovered Jelling Heart")
        await central.run { central.manager.connect(central.peripheral) }
        try await central.wait(for: "connected")
        #expect(await server.run { server.manager.isAdvertising })
    }

    @Test("a secondary service is found in the service that includes it and nowhere else (SPEC MOD-4, MOD-10)")
    func included() async throws {
        let stage = try Stage { _ in }
        let server = PeripheralProbe(stage.launch("org.example.server"))
        try await server.wait(for: "state poweredOn")
        await server.run {
            let battery = CBMutableService(type: CBUUID(string: "180F"), primary: false)
            battery.characteristics = [
                CBMutableCharacteristic(
                    type: CBUUID(string: "2A19"), properties: .read, value: Data([80]), permissions: .readable)
            ]
            server.services = [battery]
            server.manager.add(battery)
        }
        try await server.publish("180D", [("2A38", .read, .readable, Data([1]))]) {
            $0.includedServices = server.services
        }
        let client = CentralProbe(stage.launch("org.example.client"))
        try await client.find(nil)
        try await client.connect(stopsScan: false)
        await client.run { client.peripheral.discoverServices(nil) }
        try await client.wait(for: "services")
        let primary = await client.run {
            (client.peripheral.services ?? []).map { ($0.uuid.uuidString, $0.isPrimary) }
        }
        #expect(primary.contains { $0 == ("180D", true) })
        #expect(!primary.contains { $0.0 == "180F" || !$0.1 })
        await client.run { client.peripheral.discoverIncludedServices(nil, for: client.service("180D")) }
        #expect(try await client.wait(for: "included") == "included [\"180F\"] nil")
        let isPrimary = await client.run { () -> Bool? in
            guard let battery = client.service("180D").includedServices?.first else { return nil }
            client.peripheral.discoverCharacteristics(nil, for: battery)
            return battery.isPrimary
        }
        #expect(isPrimary == false)
        #expect(try await client.wait(for: "characteristics") == "characteristics 180F [\"2A19\"] nil")
    }

    @Test("when a central disconnects, its subscriptions end with a call (SPEC 2.4)")
    func centralGone() async throws {
        let (server, client) = try await pair([("FFF1", .notify, .readable, nil)])
        await client.run { client.peripheral.setNotifyValue(true, for: client.characteristic("FFF1")) }
        try await server.wait(for: "subscribed")
        await client.run { client.manager.cancelPeripheralConnection(client.peripheral) }
        try await server.wait(for: "unsubscribed FFF1")
    }

    @Test("a service is the app's own again when its manager is gone, and another may publish it (SPEC PER-6, PER-7)")
    func serviceOfGoneManager() async throws {
        let stage = try Stage { _ in }
        let said = Locked<[String]>([])
        let system = stage.launch(log: { line in said.with { $0.append(line) } })
        let first = PeripheralProbe(system)
        try await first.publish("FFF0", [("FFF1", [.read, .notify], .readable, nil)])
        let service = UncheckedBox(first.services[0])
        let second = PeripheralProbe(system)
        // A number of the new manager's own, so that it is not by chance that the old one means nothing to it.
        try await second.publish("FFF8", [("FFF9", [.read, .notify], .readable, nil)])
        await second.run { second.manager.add(service.value) }
        await second.settle(system)
        #expect(said.current == ["API MISUSE: the service is published already"])
        let value = UncheckedBox(first.characteristics["FFF1"]!)
        await second.run { second.manager.updateValue(Data([1]), for: value.value, onSubscribedCentrals: nil) }
        #expect(said.current.last == "API MISUSE: the attribute does not belong to this peer any more")
        await first.run { first.manager = nil }
        #expect(!service.value.isPublished && !value.value.isPublished)
        await second.run { second.manager.add(service.value) }
        try await second.wait(for: "added FFF0 nil")
        #expect(await second.run { second.manager.updateValue(Data([1]), for: value.value, onSubscribedCentrals: nil) })
        #expect(said.current.count == 2)
    }
}
