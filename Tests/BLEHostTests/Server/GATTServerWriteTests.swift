import BLEPackets
import Testing

@testable import BLEHost

/// Writes, commands and prepared writes.
@Suite("GATT server writes")
struct GATTServerWriteTests {
    /// Two dynamic characteristics, values at 3 and 5, and one of another app, value at 8.
    func bench(mtu: UInt16 = 23, settings: GATTServerSettings = GATTServerSettings()) throws -> ServerBench {
        let bench = ServerBench(mtu: mtu, settings: settings)
        let properties: CharacteristicProperties = [.read, .write, .writeWithoutResponse]
        _ = try bench.publish(.of(0x180D, [.dynamic(0x2A37, properties), .dynamic(0x2A38, properties)]))
        _ = try bench.publish(.of(0x180F, [.dynamic(0x2A19, properties)]), owner: ClientID(rawValue: 7))
        return bench
    }

    /// A table whose values are kept here: two that can be written, one that cannot.
    func rawBench(mtu: UInt16 = 23) throws -> ServerBench {
        ServerBench(
            mtu: mtu,
            try GATTDatabase(attributes: [
                .row(1, 0x2A00, [.readable, .writeable], [1, 2, 3, 4, 5]),
                .row(2, 0x2A01, [.readable, .writeable], [9]), .row(3, 0x2A02, .readable, [7]),
            ]))
    }

    func request(_ bench: ServerBench) throws -> GATTWriteRequest {
        try #require(bench.takeEvents().first?.writeRequest)
    }

    @Test("a write of a dynamic value is an array of one, answered once (SPEC PER-17, PER-18)")
    func write() throws {
        let bench = try bench()
        #expect(bench.ask("120300aabb").isEmpty)
        let question = try request(bench)
        #expect(question.writes == [GATTWrite(handle: 3, offset: 0, value: [0xAA, 0xBB])])
        #expect(question.needsAnswer)
        #expect(bench.respond(question.id, .success))
        #expect(bench.take() == ["13"])
        #expect(!bench.respond(question.id, .success))
        #expect(bench.take().isEmpty)

        _ = bench.ask("120300")
        bench.respond(try request(bench).id, .failure(.init(rawValue: 0x81)))
        #expect(bench.take() == ["0112030081"])
    }

    @Test("a command asks the app and is never answered, whatever the app says (SPEC 2.4, CEN-20)")
    func command() throws {
        let bench = try bench()
        #expect(bench.ask("520300aabb").isEmpty)
        let question = try request(bench)
        #expect(!question.needsAnswer && question.writes.first?.value == [0xAA, 0xBB])
        #expect(bench.respond(question.id, .failure(.writeNotPermitted)))
        #expect(bench.ask("52080001").isEmpty)
        #expect(try request(bench).owner == ClientID(rawValue: 7))
        #expect(bench.ask("52ff0001").isEmpty && bench.ask("52010001").isEmpty)
        #expect(bench.events.isEmpty && bench.sent.isEmpty)
        #expect(bench.server.counters.refusedCommands == 2 && bench.server.counters.lateAnswers == 0)
    }

    @Test("a command that arrives while a request waits is passed on at once")
    func commandBesideRequest() throws {
        let bench = try bench()
        _ = bench.ask("0a0300")
        _ = bench.ask("52030001")
        #expect(bench.events.count == 2)
    }

    @Test("a value that the server keeps is written, read back and reported")
    func stored() throws {
        let bench = try rawBench()
        #expect(bench.ask("120100aa") == ["13"])
        #expect(bench.ask("0a0100") == ["0baa"])
        #expect(bench.ask("520100bbcc").isEmpty)
        #expect(bench.ask("0a0100") == ["0bbbcc"])
        #expect(bench.ask("120300aa") == ["0112030003"])
        #expect(bench.ask("120400aa") == ["0112040001"])
        let link = ServerBench.link(1)
        #expect(
            bench.takeEvents() == [
                .stored(link, GATTWrite(handle: 1, offset: 0, value: [0xAA])),
                .stored(link, GATTWrite(handle: 1, offset: 0, value: [0xBB, 0xCC])),
            ])
    }

    @Test("a value of more than 512 octets is refused before the app is asked")
    func tooLong() throws {
        let bench = try bench(mtu: 600)
        #expect(bench.ask("120300" + String(repeating: "00", count: 513)) == ["011203000d"])
        #expect(bench.ask("120300" + String(repeating: "00", count: 512)).isEmpty)
        #expect(bench.events.count == 1)
    }

    // MARK: Prepared writes

    @Test("prepared writes reach the app as one array in their order, which answers once (SPEC PER-17 to PER-19)")
    func prepared() throws {
        let bench = try bench()
        #expect(bench.ask("160300000001 02".compact) == ["17030000000102"])
        #expect(bench.ask("160500000009") == ["170500000009"])
        #expect(bench.ask("160300020003") == ["170300020003"])
        #expect(bench.events.isEmpty)
        #expect(bench.ask("1801").isEmpty)
        let question = try request(bench)
        #expect(
            question.writes == [
                GATTWrite(handle: 3, offset: 0, value: [1, 2]), GATTWrite(handle: 5, offset: 0, value: [9]),
                GATTWrite(handle: 3, offset: 2, value: [3]),
            ])
        bench.respond(question.id, .success)
        #expect(bench.take() == ["19"])
        // The queue is empty: there is nothing to ask.
        #expect(bench.ask("1801") == ["19"])
    }

    @Test("an array that the app refuses is refused completely, with the attribute at fault (SPEC PER-19)")
    func preparedRefused() throws {
        let bench = try bench()
        _ = bench.ask("160300000001")
        _ = bench.ask("160500050009")
        _ = bench.ask("1801")
        bench.respond(try request(bench).id, .failure(.invalidOffset, handle: 5))
        #expect(bench.take() == ["0118050007"])
    }

    @Test("a write that the app refuses changes no value of the server and makes no subscription (SPEC PER-19)")
    func preparedBesideConfiguration() throws {
        let bench = ServerBench(mtu: 23)
        _ = try bench.publish(.of(0x180D, [.dynamic(0x2A37, [.read, .write, .notify])]))
        for answer in [GATTAnswer.failure(.unlikelyError), .success] {
            #expect(bench.ask("160300000001") == ["170300000001"])
            #expect(bench.ask("16040000000100") == ["17040000000100"])
            #expect(bench.ask("1801").isEmpty)
            #expect(bench.server.subscriptions(to: 3).isEmpty)
            bench.respond(try request(bench).id, answer)
            #expect(bench.take() == [answer == .success ? "19" : "011803000e"])
            #expect(bench.server.subscriptions(to: 3).isEmpty == (answer != .success))
        }
    }

    @Test("prepared writes for two apps ask one after the other, and the first refusal ends it")
    func preparedForTwoApps() throws {
        let bench = try bench()
        for _ in 0..<2 {
            _ = bench.ask("160300000001")
            _ = bench.ask("160800000002")
            _ = bench.ask("160300010003")
        }
        _ = bench.ask("1801")
        let first = try request(bench)
        #expect(first.owner == .local && first.writes.count == 4)
        bench.respond(first.id, .success)
        #expect(bench.take().isEmpty)
        let second = try request(bench)
        #expect(second.owner == ClientID(rawValue: 7) && second.writes.count == 2)
        bench.respond(second.id, .failure(.unlikelyError))
        #expect(bench.take() == ["011808000e"])
    }

    @Test("prepared writes to values kept here are executed completely or not at all (SPEC PER-19, pain 17)")
    func atomic() throws {
        let bench = try rawBench()
        _ = bench.ask("16010000000a")
        _ = bench.ask("160200050001")
        #expect(bench.ask("1801") == ["0118020007"])
        #expect(bench.ask("0a0100") == ["0b0102030405"])
        // The queue is gone with the failure.
        #expect(bench.ask("1801") == ["19"])
        #expect(bench.ask("0a0100") == ["0b0102030405"])
        _ = bench.ask("16010000000a")
        _ = bench.ask("16020000000b0c")
        _ = bench.ask("16010001000d")
        #expect(bench.ask("1801") == ["19"])
        #expect(bench.ask("0a0100") == ["0b0a0d"])
        #expect(bench.ask("0a0200") == ["0b0b0c"])
    }

    @Test(
        "wrong offsets and gaps are Invalid Offset at execution, too much is Invalid Length (pain 17)",
        arguments: [
            (["160100060001"], "0118010007", "0b0102030405"), (["160100050006"], "19", "0b010203040506"),
            (["160100020009"], "19", "0b0102090405"), (["160100000001", "160100020003"], "19", "0b0102030405"),
            (["160100000009", "160100030008"], "19", "0b0902030805"),
            (["160100000001", "160100060003"], "0118010007", "0b0102030405"),
            (["160100000001", "160100010002", "160100010003"], "19", "0b0103"),
            (["160100ffff01"], "0118010007", "0b0102030405"), (["16010000000102", "1601000100"], "19", "0b0102"),
            (["1601000000"], "19", "0b"),
        ])
    func gaps(parts: [String], answer: String, value: String) throws {
        let bench = try rawBench()
        for part in parts { #expect(bench.ask(part) == ["17" + part.dropFirst(2)]) }
        #expect(bench.ask("1801") == [answer])
        #expect(bench.ask("0a0100") == [value])
    }

    @Test("a prepared value of more than 512 octets is refused, kept here or by the app")
    func preparedTooLong() throws {
        let raw = try rawBench(mtu: 300)
        let half = String(repeating: "11", count: 290)
        _ = raw.ask("16010000 00".compact + half)
        _ = raw.ask("1601002201" + half)
        #expect(raw.ask("1801") == ["011801000d"])
        let bench = try bench(mtu: 300)
        _ = bench.ask("1603002201" + half)
        #expect(bench.ask("1801") == ["011803000d"])
        _ = bench.ask("1603000102" + "01")
        #expect(bench.ask("1801") == ["0118030007"])
        #expect(bench.events.isEmpty)
    }

    @Test("too many prepared writes, or too long ones, end with Prepare Queue Full and the queue stays (pain 17)")
    func queueLimits() throws {
        var settings = GATTServerSettings()
        settings.preparedWriteLimit = 3
        settings.preparedOctetLimit = 40
        let bench = try bench(settings: settings)
        for count in 0..<3 { #expect(bench.ask("16030000000\(count)") == ["17030000000\(count)"]) }
        #expect(bench.ask("160300000003") == ["0116030009"])
        #expect(bench.ask("1801").isEmpty)
        #expect(try request(bench).writes.count == 3)
        let other = try self.bench(mtu: 100, settings: settings)
        let part = String(repeating: "22", count: 39)
        #expect(other.ask("1603000000" + part) == ["1703000000" + part])
        #expect(other.ask("16030027000102") == ["0116030009"])
        #expect(other.ask("160300270001") == ["170300270001"])
    }

    @Test("a prepared write is checked when it arrives: handle, permission, security")
    func preparedChecks() throws {
        let bench = try rawBench()
        #expect(bench.ask("160400000001") == ["0116040001"])
        #expect(bench.ask("160300000001") == ["0116030003"])
        #expect(bench.ask("16030000") == ["0116000004"])
        let secret = ServerBench(
            mtu: 23,
            try GATTDatabase(attributes: [
                .row(1, 0x2A00, .writeEncryption), .row(2, 0x2A01, [.writeable, .writeAuthentication]),
            ]))
        #expect(secret.ask("160100000001") == ["0116010005"])
        #expect(secret.ask("12020001") == ["0112020005"])
        secret.server.securityChanged(
            to: GATTLinkSecurity(keys: .unauthenticated, isEncrypted: true), on: ServerBench.link(1))
        #expect(secret.ask("160100000001") == ["170100000001"])
        #expect(secret.ask("160200000001") == ["0116020005"])
        secret.server.securityChanged(to: GATTLinkSecurity(keys: .unauthenticated), on: ServerBench.link(1))
        #expect(secret.ask("1801") == ["011801000f"])
    }

    @Test("cancelled prepared writes are forgotten, and so are those of a link that ends (pain 17)")
    func cancelled() throws {
        let bench = try rawBench()
        _ = bench.ask("16010000000a")
        #expect(bench.ask("1800") == ["19"])
        #expect(bench.ask("1801") == ["19"])
        _ = bench.ask("16010000000a")
        bench.disconnect()
        bench.connect(ServerBench.link(1))
        #expect(bench.ask("1801") == ["19"])
        #expect(bench.ask("0a0100") == ["0b0102030405"])
        #expect(bench.events.isEmpty)
    }

    @Test("two clients have queues of their own (pain 17)")
    func twoClients() throws {
        let bench = try rawBench()
        let other = ServerBench.link(2)
        bench.connect(other)
        _ = bench.ask("16010000000a")
        _ = bench.ask("16010000000b", from: other)
        _ = bench.ask("16010001000c", from: other)
        #expect(bench.ask("1801") == ["19"])
        #expect(bench.ask("0a0100", from: other) == ["0b0a"])
        #expect(bench.ask("1801", from: other) == ["19"])
        #expect(bench.ask("0a0100") == ["0b0b0c"])
    }

    @Test("while the app decides about one client's write, another is served")
    func oneWaitsOtherDoesNot() throws {
        let bench = try bench()
        let other = ServerBench.link(2)
        bench.connect(other)
        #expect(bench.ask("12030001").isEmpty)
        let first = try request(bench)
        #expect(bench.ask("12030002", from: other).isEmpty)
        let second = try request(bench)
        #expect(first.link == ServerBench.link(1) && second.link == other)
        bench.respond(second.id, .success)
        #expect(bench.take(other) == ["13"] && bench.take().isEmpty)
        bench.respond(first.id, .success)
        #expect(bench.take() == ["13"])
    }
}

extension String {
    var compact: String { filter { $0 != " " } }
}
