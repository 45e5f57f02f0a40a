import BLEPackets
import Testing

@testable import BLEHost

/// The server's own services, and what clients hear when the table changes.
@Suite("GATT server changes")
struct GATTServerChangeTests {
    static let one = ServerBench.link(1)

    /// Generic Access at 1 to 5, Generic Attribute from 6: Service Changed at 8, its configuration at 9, Client
    /// Supported Features at 11, Database Hash at 13; a service of an app at 14 to 17.
    func bench(hasDatabaseHash: Bool = true) throws -> ServerBench {
        let bench = ServerBench()
        try bench.server.publishGenericServices(deviceName: "Jelling", hasDatabaseHash: hasDatabaseHash, at: .zero)
        _ = try bench.publish(.of(0x180D, [.dynamic(0x2A37)]))
        bench.connect(Self.one, mtu: 100)
        return bench
    }

    @Test("the services that each device has: name, appearance, Service Changed (SPEC 2.3)")
    func ownServices() throws {
        let bench = try bench()
        #expect(bench.ask("100100ffff0028") == ["1106" + "010005000018" + "06000d000118" + "0e0011000d18"])
        #expect(bench.ask("080100ffff002a") == ["0909" + "03004a656c6c696e67"])
        #expect(bench.ask("080100ffff012a") == ["0904" + "05000000"])
        #expect(bench.ask("0a0800") == ["010a080002"])
        bench.server.setDeviceName("ß" + String(repeating: "ü", count: 124))
        #expect(bench.ask("0c0300f700") == ["0d" + "bc"])
        let plain = try self.bench(hasDatabaseHash: false)
        #expect(plain.ask("100600ffff0028") == ["1106" + "060009000118" + "0a000d000d18"])
        for handle: AttributeHandle in [1, 6] {
            do throws(GATTPublishError) {
                try plain.server.remove(handle, at: .zero)
                Issue.record("removed")
            } catch {
                #expect(error == .unknownService(handle))
            }
        }
    }

    @Test("a client that configured Service Changed gets the range, one indication for changes that wait (pain 13)")
    func serviceChanged() throws {
        let bench = try bench()
        let other = ServerBench.link(2)
        bench.connect(other)
        #expect(bench.ask("1209000200") == ["13"])
        #expect(bench.events.isEmpty)
        let added = try bench.publish(.of(0x180F, [.cached(0x2A19, [1])]))
        #expect(bench.take() == ["1d0800" + "12001400"])
        #expect(bench.take(other).isEmpty)
        try bench.remove(added.range.first)
        _ = try bench.publish(.of(0x1811, []))
        #expect(bench.take().isEmpty)
        #expect(bench.ask("1e") == ["1d0800" + "12001500"])
        #expect(bench.ask("1e").isEmpty)
        #expect(bench.events.isEmpty)
        bench.disconnect()
        #expect(bench.events.isEmpty)
    }

    @Test("of many bonds each is told of a change: who is there at once, who was away when it comes back")
    func manyBonds() throws {
        let bench = try bench()
        let links = (1...60).map { ServerBench.link($0) }
        var records: [GATTClientRecord] = []
        for link in links.dropFirst() { bench.connect(link) }
        // Every third one did not subscribe.
        let subscribers = links.enumerated().filter { $0.offset % 3 != 0 }.map(\.element)
        for link in subscribers { #expect(bench.ask("1209000200", from: link) == ["13"]) }
        for link in links.suffix(30) { records.append(try #require(bench.disconnect(link, isBonded: true))) }
        _ = try bench.publish(.of(0x180F, [.cached(0x2A19, [1])]))
        for link in links.prefix(30) {
            #expect(bench.take(link) == (subscribers.contains(link) ? ["1d0800" + "12001400"] : []))
            if subscribers.contains(link) { #expect(bench.ask("1e", from: link).isEmpty) }
        }
        for (link, record) in zip(links.suffix(30), records) {
            bench.connect(link, restoring: record)
            #expect(bench.take(link) == (subscribers.contains(link) ? ["1d0800" + "0100ffff"] : []))
        }
        // Confirmed or not, nobody is told twice of the same change.
        for link in subscribers {
            _ = bench.ask("1e", from: link)
            #expect(bench.take(link).isEmpty)
        }
        let again = try #require(bench.disconnect(links[31], isBonded: true))
        bench.connect(links[31], restoring: again)
        #expect(bench.take(links[31]).isEmpty == subscribers.contains(links[31]))
    }

    @Test("Service Changed goes before waiting values")
    func priority() throws {
        let bench = try bench()
        let service = try bench.publish(.of(0x1900, [.dynamic(0x2B00, [.indicate])]))
        _ = bench.ask("1209000200")
        _ = bench.ask("1215000200")
        bench.update([1], of: 0x14)
        bench.update([2], of: 0x14)
        _ = try bench.publish(.of(0x1901, []))
        #expect(bench.take() == ["1d140001"])
        #expect(bench.ask("1e") == ["1d0800" + "16001600"])
        try bench.remove(service.range.first)
        #expect(bench.ask("1e") == ["1d0800" + "12001500"])
        #expect(bench.ask("1e").isEmpty)
    }

    @Test("a question about a removed service is answered for the app, whose answer is late")
    func removedWhileAsked() throws {
        let bench = try bench()
        _ = bench.ask("0a1000")
        let id = try #require(bench.takeEvents().first?.readRequest).id
        try bench.remove(14)
        #expect(bench.take() == ["010a100001"])
        #expect(!bench.respond(id, .value([1])))
        #expect(bench.ask("0a1000") == ["010a100001"])
    }

    // MARK: Hash

    /// The table of the specification's own example (Core 5.4, Vol 3, Part G, Appendix B).
    static func exampleTable() throws -> GATTDatabase {
        let rows: [(UInt16, UInt16, [UInt8])] = [
            (1, 0x2800, [0x00, 0x18]), (2, 0x2803, [0x0A, 3, 0, 0x00, 0x2A]), (3, 0x2A00, [1, 2]),
            (4, 0x2803, [0x02, 5, 0, 0x01, 0x2A]), (5, 0x2A01, [0, 0]), (6, 0x2800, [0x01, 0x18]),
            (7, 0x2803, [0x20, 8, 0, 0x05, 0x2A]), (8, 0x2A05, []), (9, 0x2902, [0, 0]),
            (10, 0x2803, [0x0A, 11, 0, 0x29, 0x2B]), (11, 0x2B29, [0]), (12, 0x2803, [0x02, 13, 0, 0x2A, 0x2B]),
            (13, 0x2B2A, []), (14, 0x2800, [0x08, 0x18]), (15, 0x2802, [0x14, 0, 0x16, 0, 0x0F, 0x18]),
            (16, 0x2803, [0xA2, 0x11, 0, 0x18, 0x2A]), (17, 0x2A18, []), (18, 0x2902, [0, 0]),
            (19, 0x2900, [0, 0]), (20, 0x2801, [0x0F, 0x18]), (21, 0x2803, [0x02, 0x16, 0, 0x19, 0x2A]),
            (22, 0x2A19, []),
        ]
        return try GATTDatabase(attributes: rows.map { .row($0.0, $0.1, .readable, $0.2) })
    }

    @Test("the message of the database hash is the specification's example (Core 5.4, Vol 3, Part G, Appendix B)")
    func hashMessage() throws {
        #expect(
            hex(try Self.exampleTable().hashMessage)
                == "0100002800180200032 80a0300002a0400032802 0500012a".compact
                + "06000028011807000328200800052a090002290a0003280a0b00292b0c0003 28020d002a2b".compact
                + "0e00002808180f000228140016000f181000 0328a21100182a12000229130000290000".compact
                + "14000128 0f181500032802 1600192a".compact)
    }

    @Test(
        "the hash is computed once, readers wait for it, and a change has it computed again (Core 5.4, Vol 3, Part G, 7.3)"
    )
    func hash() throws {
        let bench = try bench()
        let other = ServerBench.link(2)
        bench.connect(other)
        #expect(bench.ask("0a0d00").isEmpty && bench.ask("080100ffff2a2b", from: other).isEmpty)
        #expect(bench.hashes.count == 1)
        let question = try #require(bench.hashes.first)
        bench.server.databaseHash([1], revision: question.revision, at: .zero)
        bench.server.databaseHash(Array(0..<16), revision: question.revision &- 1, at: .zero)
        bench.drain()
        #expect(bench.sent.isEmpty)
        bench.server.databaseHash(Array(0..<16), revision: question.revision, at: .zero)
        bench.drain()
        let hash = "0f0e0d0c0b0a09080706050403020100"
        #expect(bench.take() == ["0b" + hash] && bench.take(other) == ["0912" + "0d00" + hash])
        #expect(bench.ask("0a0d00") == ["0b" + hash])
        _ = try bench.publish(.of(0x1811, []))
        #expect(bench.ask("0a0d00").isEmpty)
        #expect(bench.hashes.count == 2)
        bench.advance(seconds: 30)
        #expect(bench.faults == [.answerTimeout])
    }

    @Test(
        "a reader of a hash that cannot be computed gets an error at once, and the next read asks for it again (SPEC 2.4)"
    )
    func hashFails() throws {
        let bench = try bench()
        let other = ServerBench.link(2)
        bench.connect(other)
        #expect(bench.ask("0a0d00").isEmpty && bench.ask("080100ffff2a2b", from: other).isEmpty)
        bench.server.databaseHash(nil, revision: try #require(bench.hashes.last).revision, at: .zero)
        bench.drain()
        #expect(bench.take() == ["010a0d000e"] && bench.take(other) == ["01080d000e"])
        #expect(bench.ask("0a0300") == ["0b4a656c6c696e67"])
        #expect(bench.ask("0a0d00").isEmpty && bench.hashes.count == 2)
        bench.server.databaseHash(Array(0..<16), revision: try #require(bench.hashes.last).revision, at: .zero)
        bench.drain()
        #expect(bench.take() == ["0b" + "0f0e0d0c0b0a09080706050403020100"])
    }

    @Test("a reader that waits while the table changes gets the new table's hash (Core 5.4, Vol 3, Part G, 7.3)")
    func hashOfChangedTable() throws {
        let bench = try bench()
        #expect(bench.ask("0a0d00").isEmpty)
        let outdated = try #require(bench.hashes.last).revision
        _ = try bench.publish(.of(0x1811, []))
        bench.server.databaseHash(Array(0..<16), revision: outdated, at: .zero)
        bench.drain()
        #expect(bench.take().isEmpty && bench.hashes.count == 2)
        bench.server.databaseHash(Array(16..<32), revision: try #require(bench.hashes.last).revision, at: .zero)
        bench.drain()
        #expect(bench.take() == ["0b" + "1f1e1d1c1b1a19181716151413121110"])
    }

    // MARK: Robust caching

    @Test("a change-unaware client is refused once, commands are ignored (Core 5.4, G, 2.5.2.1)")
    func outOfSync() throws {
        let bench = try bench()
        #expect(bench.ask("120b0001") == ["13"])
        #expect(bench.ask("0a0b00") == ["0b01"])
        #expect(bench.ask("120b0000") == ["01120b0013"])
        #expect(bench.ask("120b00") == ["01120b000d"])
        #expect(bench.ask("1211000100") == ["13"])
        _ = bench.takeEvents()
        #expect(bench.ask("160900000002") == ["170900000002"])
        _ = try bench.publish(.of(0x1811, []))
        #expect(bench.update([1], of: 0x10))
        #expect(bench.ask("52100001").isEmpty && bench.events.isEmpty)
        #expect(bench.ask("0a0300") == ["010a030012"])
        #expect(bench.update([1], of: 0x10) && bench.sent.isEmpty)
        // The next request shows that the client has understood.
        #expect(bench.ask("0a0300") == ["0b4a656c6c696e67"])
        #expect(bench.update([1], of: 0x10))
        #expect(bench.take() == ["1b100001"])
        // What was prepared before is not carried out.
        #expect(bench.ask("1801") == ["19"] && bench.ask("0a0900") == ["0b0000"])
    }

    @Test(
        "reading the hash, or confirming Service Changed, makes a client change-aware (Core 5.4, Vol 3, Part G, 2.5.2.1)"
    )
    func becomesAware() throws {
        let bench = try bench()
        _ = bench.ask("120b0001")
        let first = try bench.publish(.of(0x1811, []))
        _ = bench.ask("080100ffff2a2b")
        bench.server.databaseHash(
            Array(0..<16), revision: try #require(bench.hashes.first).revision, at: .zero)
        bench.drain()
        #expect(bench.take().first?.hasPrefix("0912") == true)
        #expect(bench.ask("0a0300") == ["0b4a656c6c696e67"])
        _ = bench.ask("1209000200")
        try bench.remove(first.range.first)
        #expect(bench.take() == ["1d0800" + "12001200"])
        _ = bench.ask("1e")
        #expect(bench.ask("0a0300") == ["0b4a656c6c696e67"])
        // Without the feature nobody is refused.
        let plain = try self.bench()
        _ = try plain.publish(.of(0x1811, []))
        #expect(plain.ask("0a0300") == ["0b4a656c6c696e67"])
    }

    @Test("a client becomes change-aware with its next request, not by waiting for the hash (Core 5.4, G, 2.5.2.1)")
    func waitingForHashIsNoKnowledge() throws {
        let bench = try bench()
        _ = bench.ask("120b0001")
        _ = bench.ask("1211000100")
        _ = bench.takeEvents()
        _ = try bench.publish(.of(0x1811, []))
        #expect(bench.ask("080100ffff2a2b").isEmpty)
        let outdated = try #require(bench.hashes.last).revision
        _ = try bench.publish(.of(0x1812, []))
        bench.server.databaseHash(Array(0..<16), revision: outdated, at: .zero)
        bench.drain()
        bench.server.databaseHash(Array(0..<16), revision: try #require(bench.hashes.last).revision, at: .zero)
        bench.drain()
        #expect(bench.take() == ["0912" + "0d00" + "0f0e0d0c0b0a09080706050403020100"])
        // Until then its commands mean the old table, and it gets no values.
        #expect(bench.ask("52100001").isEmpty && bench.events.isEmpty)
        #expect(bench.update([1], of: 0x10) && bench.sent.isEmpty)
        #expect(bench.ask("0a0300") == ["0b4a656c6c696e67"])
        #expect(bench.update([2], of: 0x10))
        #expect(bench.take() == ["1b100002"])
    }

    /// A client with robust caching that subscribed to the indications of 0x14, not to Service Changed.
    private func cachingBench() throws -> ServerBench {
        let bench = try bench()
        _ = try bench.publish(.of(0x1900, [.dynamic(0x2B00, [.indicate])]))
        bench.disconnect()
        bench.connect(Self.one, mtu: 100)
        _ = bench.ask("120b0001")
        #expect(bench.ask("1215000200") == ["13"])
        _ = bench.takeEvents()
        return bench
    }

    @Test("indications held for a change-unaware client follow its next request (SPEC PER-22)")
    func heldIndications() throws {
        let bench = try cachingBench()
        #expect(bench.update([0], of: 0x14) && bench.update([1], of: 0x14) && bench.update([2], of: 0x14))
        #expect(bench.take() == ["1d140000"])
        _ = try bench.publish(.of(0x1811, []))
        #expect(bench.ask("1e").isEmpty)
        #expect(bench.ask("0a0300") == ["010a030012"])
        #expect(bench.ask("0a0300") == ["0b4a656c6c696e67", "1d140001"])
        #expect(bench.ask("1e") == ["1d140002"])
    }

    @Test("a change-unaware client keeps no app waiting for room (SPEC PER-22)")
    func outOfSyncBlocksNobody() throws {
        let bench = try cachingBench()
        let limit = bench.server.settings.updateLimit
        for _ in 0...limit { #expect(bench.update([1], of: 0x14)) }
        #expect(!bench.update([2], of: 0x14))
        _ = try bench.publish(.of(0x1811, []))
        #expect(bench.takeEvents() == [.readyToUpdate])
        // It is left out now, so the value is taken.
        #expect(bench.update([2], of: 0x14))
        _ = bench.ask("1e")
        _ = bench.ask("0a0300")
        #expect(bench.ask("0a0300").last == "1d140001")
        // It is full no more, and is told of room once where it was full again.
        #expect(bench.update([3], of: 0x14) && !bench.update([4], of: 0x14))
        _ = bench.takeEvents()
        for _ in 0...limit { _ = bench.ask("1e") }
        #expect(bench.events.count { $0 == .readyToUpdate } == 1)
        #expect(bench.update([4], of: 0x14))
    }

    // MARK: Bonds

    @Test("a bonded client finds its configuration again, and is told what has changed (pains 12 and 13)")
    func bonds() throws {
        let bench = try bench()
        _ = bench.ask("1211000100")
        _ = bench.ask("1209000200")
        _ = bench.ask("120b0001")
        _ = bench.takeEvents()
        let record = try #require(bench.disconnect(isBonded: true))
        // The subscription goes on.
        #expect(bench.events.isEmpty)
        #expect(record.configurations.map(\.handle) == [9, 0x11] && record.features == 1)
        let again = ServerBench.link(5)
        bench.connect(again, restoring: record)
        #expect(
            bench.takeEvents() == [
                .subscribed(
                    GATTSubscription(
                        link: again, handle: 0x10, modes: .notifications, maximumUpdateLength: 20, owner: .local))
            ])
        #expect(bench.sent.isEmpty)
        #expect(bench.update([1], of: 0x10))
        #expect(bench.take(again) == ["1b100001"])
        let kept = try #require(bench.disconnect(again, isBonded: true))
        #expect(kept == record)
        _ = try bench.publish(.of(0x1811, []))
        bench.connect(again, restoring: kept)
        #expect(bench.take(again) == ["1d0800" + "0100ffff"])
        #expect(bench.ask("0a0300", from: again) == ["010a030012"])
        #expect(bench.disconnect(again, isBonded: true)?.knownTable != bench.server.database.digest)
    }

    @Test(
        "a bonded client's configuration of an absent service is kept, and applies when the service is there (pain 12)")
    func absentService() throws {
        let bench = try bench()
        _ = bench.ask("1211000100")
        let record = try #require(bench.disconnect(isBonded: true))
        #expect(record.configurations.map(\.handle) == [0x11])
        try bench.remove(14)
        _ = bench.takeEvents()
        bench.connect(Self.one, restoring: record)
        // A link without the service takes nothing away.
        #expect(bench.events.isEmpty)
        let without = try #require(bench.disconnect(isBonded: true))
        #expect(without.configurations == record.configurations)
        bench.connect(Self.one, restoring: without)
        #expect(try bench.publish(.of(0x180D, [.dynamic(0x2A37)])).range.first == 14)
        #expect(
            bench.takeEvents() == [
                .subscribed(
                    GATTSubscription(
                        link: Self.one, handle: 0x10, modes: .notifications, maximumUpdateLength: 20, owner: .local))
            ])
        #expect(bench.ask("0a1100") == ["0b0100"])
        #expect(bench.disconnect(isBonded: true)?.configurations == record.configurations)
        #expect(bench.disconnect(isBonded: true) == nil)
    }

    @Test(
        "a configuration does not apply to another characteristic at its handle (pain 12)",
        arguments: [(0x180D, 0x2A38), (0x180E, 0x2A37), (0x180D, 0x2A37)] as [(UInt16, UInt16)])
    func anotherCharacteristic(service: UInt16, characteristic: UInt16) throws {
        let bench = try bench()
        _ = bench.ask("1211000100")
        let record = try #require(bench.disconnect(isBonded: true))
        // The next image of a gateway.
        let next = ServerBench()
        try next.server.publishGenericServices(deviceName: "Jelling", hasDatabaseHash: true, at: .zero)
        let isFirst = service == 0x180D && characteristic == 0x2A37
        if isFirst { next.connect(Self.one, restoring: record) }
        _ = try next.publish(.of(isFirst ? 0x1900 : service, [.dynamic(isFirst ? 0x2B00 : characteristic)]))
        if !isFirst { next.connect(Self.one, restoring: record) }
        #expect(next.takeEvents().isEmpty)
        #expect(next.ask("0a1100") == ["0b0000"])
        #expect(next.update([1], of: 0x10) && next.take().isEmpty)
        #expect(next.disconnect(isBonded: true)?.configurations.isEmpty == true)
    }

    @Test("a record that does not say whose its configurations are holds by handle; absent ones are bounded")
    func oldAndLongRecords() throws {
        let bench = try bench()
        var record = GATTClientRecord(
            configurations: [.init(handle: 0x11, modes: .notifications), .init(handle: 0x51, modes: .notifications)],
            features: 0, knownTable: bench.server.database.digest)
        let again = ServerBench.link(3)
        bench.connect(again, restoring: record)
        #expect(bench.takeEvents().count == 1)
        #expect(bench.disconnect(again, isBonded: true)?.configurations.map(\.handle) == [0x11])
        record.configurations = (0x100...0x400).map {
            .init(handle: AttributeHandle(rawValue: $0), modes: .notifications, owner: 1)
        }
        bench.connect(again, restoring: record)
        #expect(bench.disconnect(again, isBonded: true)?.configurations.count == 64)
    }
}
