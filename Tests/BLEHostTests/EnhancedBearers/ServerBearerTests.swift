import BLEPackets
import Testing

@testable import BLEHost

/// The attribute server with several bearers of one client (Core 5.4, Vol 3, Part F, 3.2.11).
@Suite("Server with enhanced bearers")
struct ServerBearerTests {
    private let link = ServerBench.link(1)

    /// A client with the bearers 0, 1 and 2, and a service with a value of the app and two that the server keeps.
    private func served(
        features: UInt8 = 0, settings: GATTServerSettings = GATTServerSettings()
    ) throws -> (ServerBench, GATTPublishedService, GATTPublishedService) {
        let bench = ServerBench(mtu: 23, settings: settings)
        try bench.server.publishGenericServices(
            deviceName: "x", hasDatabaseHash: true, hasEnhancedBearers: true, at: bench.now)
        func characteristic(
            _ uuid: UInt16, _ properties: CharacteristicProperties
        ) -> GATTCharacteristicDefinition {
            GATTCharacteristicDefinition(
                uuid: BluetoothUUID(uuid), properties: properties, permissions: [.readable, .writeable])
        }
        let service = try bench.publish(
            GATTServiceDefinition(
                uuid: BluetoothUUID(0xFF00 as UInt16),
                characteristics: [
                    characteristic(0xFF01, [.read, .write]),
                    characteristic(0xFF02, [.read, .write]),
                    characteristic(0xFF03, [.read, .notify, .indicate]),
                ]))
        // The server keeps this value and lets clients write it, as in a table that is given attribute by attribute.
        let kept = try #require(bench.server.database.table.position(of: service.characteristics[1].valueHandle))
        bench.server.database.table.setValue(.stored([UInt8](repeating: 7, count: 100)), at: kept)
        let own = try bench.publish(GATTServiceDefinition(uuid: BluetoothUUID(0xFF10 as UInt16), characteristics: []))
        bench.open(1, mtu: 64)
        bench.open(2, mtu: 100)
        if features != 0 { _ = bench.ask("12" + hex(try handle(of: 0x2B29, bench)) + hex([features])) }
        bench.events = []
        _ = bench.take(link)
        // What the table was before the client came is nothing new to it.
        _ = bench.ask("08 01 00 ff ff 2a 2b")
        if let hash = bench.hashes.last {
            bench.server.databaseHash([UInt8](repeating: 1, count: 16), revision: hash.revision, at: bench.now)
            bench.drain()
        }
        _ = bench.ask("0a 03 00")
        _ = bench.take(link)
        return (bench, service, own)
    }

    private func handle(of uuid: UInt16, _ bench: ServerBench) throws -> [UInt8] {
        let handle = try #require(bench.server.database.table.handles(of: BluetoothUUID(uuid)).first)
        return octets(handle)
    }

    private func octets(_ handle: AttributeHandle) -> [UInt8] {
        [UInt8(truncatingIfNeeded: handle.rawValue), UInt8(truncatingIfNeeded: handle.rawValue >> 8)]
    }

    private func read(_ handle: AttributeHandle) -> String { "0a" + hex(octets(handle)) }

    @Test("each bearer has a transaction of its own: a request that the app has not answered delays no other bearer")
    func transactions() throws {
        let (bench, service, _) = try served()
        let dynamic = service.characteristics[0].valueHandle
        let stored = service.characteristics[1].valueHandle
        #expect(bench.ask(read(dynamic), on: 1).isEmpty)
        #expect(bench.ask(read(dynamic)).isEmpty)
        #expect(bench.ask(read(stored), on: 2).count == 1)
        let questions = bench.takeEvents().compactMap(\.readRequest)
        #expect(questions.count == 2)
        bench.respond(questions[1].id, .value([2]))
        #expect(bench.take(link) == ["0b02"] && bench.take(1).isEmpty)
        bench.respond(questions[0].id, .value([1]))
        #expect(bench.take(1) == ["0b01"] && bench.take(link).isEmpty)
        #expect(!bench.respond(questions[0].id, .value([1])), "answered once")
    }

    @Test("each bearer has its own ATT_MTU, which a reconfiguration changes")
    func mtus() throws {
        let (bench, service, _) = try served()
        let stored = service.characteristics[1].valueHandle
        #expect(bench.ask(read(stored)).map(\.count) == [2 * 23])
        #expect(bench.ask(read(stored), on: 1).map(\.count) == [2 * 64])
        #expect(bench.ask(read(stored), on: 2).map(\.count) == [2 * 100])
        bench.server.mtuChanged(to: 80, ofBearer: 1, on: link)
        #expect(bench.ask(read(stored), on: 1).map(\.count) == [2 * 80])
        // A request longer than the ATT_MTU of its bearer.
        let long = "12" + hex(octets(stored)) + String(repeating: "00", count: 90)
        #expect(bench.ask(long, on: 1) == ["0112000004"])
        #expect(bench.ask(long, on: 2) == ["13"])
    }

    @Test("each bearer has its own queue of prepared writes")
    func preparedWrites() throws {
        let (bench, service, _) = try served()
        let stored = octets(service.characteristics[1].valueHandle)
        #expect(bench.ask("16" + hex(stored) + "0000" + "aa", on: 1).count == 1)
        #expect(bench.ask("1801", on: 2) == ["19"], "nothing is prepared there")
        #expect(bench.ask("0a" + hex(stored), on: 2).first?.hasPrefix("0b0707") == true)
        #expect(bench.ask("1801", on: 1) == ["19"])
        #expect(bench.ask("0a" + hex(stored), on: 2) == ["0baa"])
    }

    @Test("values go over the bearer on which the client subscribed, in order; after its end over the unenhanced one")
    func updates() throws {
        let (bench, service, _) = try served()
        let value = service.characteristics[2].valueHandle
        let configuration = hex(octets(service.characteristics[2].configuration))
        #expect(bench.ask("12" + configuration + "0100", on: 2) == ["13"])
        guard case .subscribed(let subscription)? = bench.takeEvents().last else {
            Issue.record("no subscription")
            return
        }
        #expect(subscription.maximumUpdateLength == 97)
        bench.update([1], of: value)
        bench.update([2], of: value)
        #expect(bench.take(2) == ["1b" + hex(octets(value)) + "01", "1b" + hex(octets(value)) + "02"])
        #expect(bench.take(link).isEmpty)
        bench.close(2)
        bench.update([3], of: value)
        #expect(bench.take(link) == ["1b" + hex(octets(value)) + "03"])
        #expect(bench.ask("0a" + configuration, on: 1) == ["0b0100"], "shared by all bearers")
    }

    @Test("each bearer waits for its own confirmation; one that never comes ends that bearer only")
    func indications() throws {
        let (bench, service, _) = try served()
        let value = service.characteristics[2].valueHandle
        let configuration = hex(octets(service.characteristics[2].configuration))
        _ = bench.ask("12" + configuration + "0200", on: 1)
        bench.update([1], of: value)
        bench.update([2], of: value)
        #expect(bench.take(1) == ["1d" + hex(octets(value)) + "01"])
        #expect(bench.ask("1e", on: 2).isEmpty, "not its indication")
        #expect(bench.server.counters.unexpectedConfirmations == 1)
        #expect(bench.ask("1e", on: 1) == ["1d" + hex(octets(value)) + "02"])
        bench.advance(seconds: 31)
        #expect(bench.closedBearers == [1] && bench.faults == [.confirmationTimeout])
        bench.close(1)
        #expect(bench.ask(read(service.characteristics[1].valueHandle), on: 2).count == 1)
        #expect(bench.ask(read(service.characteristics[1].valueHandle)).count == 1)
    }

    @Test("an app that never answers ends the bearer that waits, not the others")
    func answerTimeout() throws {
        let (bench, service, _) = try served()
        _ = bench.ask(read(service.characteristics[0].valueHandle), on: 1)
        let question = try #require(bench.takeEvents().first?.readRequest)
        bench.advance(seconds: 31)
        #expect(bench.closedBearers == [1] && bench.faults == [.answerTimeout])
        #expect(bench.takeEvents() == [.requestExpired(question.id, link)])
        #expect(!bench.respond(question.id, .value([1])))
        #expect(bench.ask(read(service.characteristics[1].valueHandle), on: 1).isEmpty, "the bearer is dead")
        #expect(bench.ask(read(service.characteristics[1].valueHandle)).count == 1)
    }

    @Test("a client that does not wait for responses loses that bearer")
    func flood() throws {
        let (bench, service, _) = try served()
        for _ in 0..<8 { _ = bench.ask(read(service.characteristics[0].valueHandle), on: 1) }
        #expect(bench.closedBearers == [1] && bench.faults == [.flooded])
        #expect(bench.ask(read(service.characteristics[1].valueHandle), on: 2).count == 1)
    }

    @Test("Database Out Of Sync comes once on each bearer, and only reading the hash ends it (Part G, 2.5.2.1)")
    func robustCaching() throws {
        let (bench, service, own) = try served(features: 0x01)
        let stored = service.characteristics[1].valueHandle
        let value = service.characteristics[2].valueHandle
        _ = bench.ask("12" + hex(octets(service.characteristics[2].configuration)) + "0100", on: 1)
        try bench.remove(own.range.first)
        let refusal = "010a" + hex(octets(stored)) + "12"
        #expect(bench.ask(read(stored), on: 1) == [refusal])
        #expect(bench.ask(read(stored), on: 2) == [refusal])
        #expect(bench.ask(read(stored)) == [refusal])
        // Told on this bearer: performed, but the client is still unaware.
        #expect(bench.ask(read(stored), on: 1).first?.hasPrefix("0b") == true)
        bench.update([1], of: value)
        #expect(bench.take(1).isEmpty, "no values for a client that is unaware")
        // The hash, and then any request on any bearer.
        let hash = "08 01 00 ff ff 2a 2b"
        _ = bench.ask(hash, on: 2)
        let asked = try #require(bench.hashes.last)
        bench.server.databaseHash([UInt8](repeating: 2, count: 16), revision: asked.revision, at: bench.now)
        bench.drain()
        #expect(bench.take(2).first?.hasPrefix("0912") == true)
        bench.update([1], of: value)
        #expect(bench.take(1).isEmpty)
        #expect(bench.ask(read(stored)).first?.hasPrefix("0b") == true)
        bench.update([2], of: value)
        #expect(bench.take(1) == ["1b" + hex(octets(value)) + "02"])
    }

    @Test("values that wait for the controller share a PDU where the client takes that, in order (Part F, 3.4.7.4)")
    func severalValues() throws {
        var settings = GATTServerSettings()
        settings.sharesNotifications = true
        for (features, expected) in [(0x06 as UInt8, 2), (0x02, 3)] {
            let (bench, service, _) = try served(features: features, settings: settings)
            let value = service.characteristics[2].valueHandle
            let name = hex(octets(value))
            _ = bench.ask("12" + hex(octets(service.characteristics[2].configuration)) + "0100", on: 1)
            bench.holdsBack = true
            for octet in 1...3 as ClosedRange<UInt8> { bench.update([octet], of: value) }
            bench.release()
            bench.release()
            bench.release()
            let sent = bench.take(1)
            #expect(sent.count == expected && sent.first == "1b" + name + "01")
            if expected == 2 { #expect(sent.last == "23" + name + "010002" + name + "010003") }
            #expect(bench.unsentOnBearers.isEmpty)
            for octet in 4...12 as ClosedRange<UInt8> { #expect(bench.update([octet], of: value)) }
            for _ in 0..<12 { bench.release() }
            bench.holdsBack = false
            #expect(bench.update([13], of: value))
        }
    }

    @Test("indications that were held for an unaware client follow on each bearer, whichever its next request comes on")
    func heldIndications() throws {
        let (bench, service, own) = try served(features: 0x01)
        let value = service.characteristics[2].valueHandle
        _ = bench.ask("12" + hex(octets(service.characteristics[2].configuration)) + "0200", on: 1)
        for _ in 0...bench.server.settings.updateLimit { #expect(bench.update([1], of: value)) }
        #expect(bench.take(1).count == 1)
        try bench.remove(own.range.first)
        #expect(bench.ask("1e", on: 1).isEmpty)
        _ = bench.ask("08 01 00 ff ff 2a 2b")
        let asked = try #require(bench.hashes.last)
        bench.server.databaseHash([UInt8](repeating: 2, count: 16), revision: asked.revision, at: bench.now)
        bench.drain()
        #expect(bench.take(1).isEmpty)
        #expect(bench.ask(read(service.characteristics[1].valueHandle)).last?.hasPrefix("0b") == true)
        #expect(bench.take(1) == ["1d" + hex(octets(value)) + "01"])
        #expect(bench.update([2], of: value))
    }

    @Test("a client that does not know of a change may discover; what names handles is refused (Part G, 2.5.2.1)")
    func discoveryWhileUnaware() throws {
        let (bench, service, own) = try served(features: 0x01)
        try bench.remove(own.range.first)
        for number in [1, 2] as [UInt32] {
            #expect(bench.ask("10 01 00 ff ff 00 28", on: number).first?.hasPrefix("11") == true)
            #expect(bench.ask("06 01 00 ff ff 00 28 00 ff", on: number).first?.hasPrefix("07") == true)
            #expect(bench.ask("04 01 00 05 00", on: number).first?.hasPrefix("05") == true)
            #expect(bench.ask("08 01 00 05 00 03 28", on: number).first?.hasPrefix("09") == true)
            #expect(bench.ask("08 01 00 05 00 02 28", on: number) == ["010801000a"])
            #expect(bench.ask("08 01 00 ff ff 00 2a", on: number).first?.hasPrefix("09") == true)
        }
        #expect(bench.ask("08 01 00 05 00 00 2a", on: 1) == ["0108010012"])
        let stored = service.characteristics[1].valueHandle
        #expect(bench.ask(read(stored), on: 2) == ["010a" + hex(octets(stored)) + "12"])
    }

    @Test("values that wait to share a PDU are dropped when the client unsubscribes: none follows the response")
    func unsubscribesWhileGathered() throws {
        var settings = GATTServerSettings()
        settings.sharesNotifications = true
        let (bench, service, _) = try served(features: 0x06, settings: settings)
        let value = service.characteristics[2].valueHandle
        let configuration = hex(octets(service.characteristics[2].configuration))
        _ = bench.ask("12" + configuration + "0100", on: 1)
        bench.holdsBack = true
        for octet in 1...3 as ClosedRange<UInt8> { bench.update([octet], of: value) }
        #expect(bench.ask("12" + configuration + "0000", on: 1) == ["1b" + hex(octets(value)) + "01", "13"])
        for _ in 0..<4 { bench.release() }
        #expect(bench.take(1).isEmpty)
        // Their room is free again.
        _ = bench.ask("12" + configuration + "0100", on: 1)
        for _ in 0..<settings.updateLimit { #expect(bench.update([9], of: value)) }
        #expect(!bench.update([9], of: value))
    }

    @Test("everything that a bearer has of its own comes back with it, and nothing of it stays with another")
    func exchange() {
        var bearer = ServerBearer(number: 1, mtu: 100)
        bearer.transaction = ServerClient.Transaction(
            request: .readRequest, handle: AttributeHandle(rawValue: 1), question: nil, deadline: .zero, work: .read)
        bearer.early.append([1])
        _ = bearer.prepared.append(
            GATTWrite(handle: AttributeHandle(rawValue: 1), offset: 0, value: [1]), GATTServerSettings())
        bearer.wasToldOutOfSync = true
        bearer.unsentResponses = 1
        bearer.unsentNotifications = 2
        bearer.gathered = [ServerClient.Indication(handle: AttributeHandle(rawValue: 1), value: [1])]
        bearer.shares.append(3)
        bearer.indications.append(ServerClient.Indication(handle: AttributeHandle(rawValue: 2), value: [1]))
        bearer.unconfirmed = AttributeHandle(rawValue: 4)
        bearer.confirmationDeadline = .zero
        bearer.isGivenUp = true
        func texts(_ bearer: ServerBearer) -> [String: String] {
            Dictionary(
                uniqueKeysWithValues: Mirror(reflecting: bearer).children.map {
                    ($0.label ?? "", String(reflecting: $0.value))
                })
        }
        let empty = texts(ServerBearer(number: 0, mtu: 23))
        for (label, text) in texts(bearer) { #expect(text != empty[label], "set \(label) above") }
        var client = ServerClient(link: link, mtu: 23, security: .none)
        client.others = [bearer]
        client.turn(to: 1)
        #expect(texts(client.others[0]) == empty)
        client.turn(to: 0)
        #expect(texts(client.others[0]) == texts(bearer))
    }

    @Test("a bearer that does not exist takes nothing, and the end of the link ends all")
    func ends() throws {
        let (bench, service, _) = try served()
        let handle = service.characteristics[1].valueHandle
        #expect(bench.ask(read(handle), on: 9).isEmpty && bench.server.counters.strayPDUs == 1)
        _ = bench.ask(read(service.characteristics[0].valueHandle), on: 1)
        let question = try #require(bench.takeEvents().first?.readRequest)
        bench.disconnect()
        #expect(!bench.respond(question.id, .value([1])))
        #expect(bench.ask(read(handle), on: 1).isEmpty)
    }
}
