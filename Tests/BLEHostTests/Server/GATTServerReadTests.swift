import BLEPackets
import Testing

@testable import BLEHost

/// Reads, their errors and the order of the checks.
@Suite("GATT server reads")
struct GATTServerReadTests {
    /// A service at 1, a dynamic characteristic with its value at 3, a cached one with its value at 6.
    func bench(mtu: UInt16 = 23, value: [UInt8] = [1, 2, 3]) throws -> ServerBench {
        let bench = ServerBench(mtu: mtu)
        _ = try bench.publish(.of(0x180D, [.dynamic(0x2A37), .cached(0x2A38, value)]))
        return bench
    }

    @Test("a cached value is answered without the app (SPEC PER-3)")
    func cached() throws {
        let bench = try bench()
        #expect(bench.ask("0a0600") == ["0b010203"])
        #expect(bench.events.isEmpty)
    }

    @Test("the app is asked for a dynamic value, with the offset, and answers once (SPEC PER-13, PER-15, PER-16)")
    func dynamic() throws {
        let bench = try bench()
        #expect(bench.ask("0a0300").isEmpty)
        let first = try #require(bench.takeEvents().first?.readRequest)
        #expect(first.handle == 3 && first.offset == 0 && first.owner == .local)
        #expect(bench.respond(first.id, .value([7, 8])))
        #expect(bench.take() == ["0b0708"])
        #expect(!bench.respond(first.id, .value([9])))
        #expect(bench.take().isEmpty)
        #expect(bench.server.counters.lateAnswers == 1)

        #expect(bench.ask("0c03000500").isEmpty)
        let second = try #require(bench.takeEvents().first?.readRequest)
        #expect(second.offset == 5 && second.id != first.id)
        bench.respond(second.id, .value([6]))
        #expect(bench.take() == ["0d06"])
    }

    @Test("an offset at the end of the value is legal, one beyond it is Invalid Offset (SPEC PER-14)")
    func offsets() throws {
        let bench = try bench()
        #expect(bench.ask("0c06000300") == ["0d"])
        #expect(bench.ask("0c06000400") == ["010c060007"])
        #expect(bench.ask("0c06000100") == ["0d0203"])
    }

    @Test("the app refuses with its own code, for the attribute it names or the one that was asked (SPEC PER-16)")
    func refusal() throws {
        let bench = try bench()
        _ = bench.ask("0a0300")
        bench.respond(try #require(bench.takeEvents().first?.readRequest).id, .failure(.init(rawValue: 0x80)))
        #expect(bench.take() == ["010a030080"])
        _ = bench.ask("0c0300ffff")
        bench.respond(try #require(bench.takeEvents().first?.readRequest).id, .failure(.invalidOffset))
        #expect(bench.take() == ["010c030007"])
        _ = bench.ask("0a0300")
        bench.respond(try #require(bench.takeEvents().first?.readRequest).id, .failure(.init(rawValue: 0)))
        #expect(bench.take() == ["010a03000e"])
    }

    @Test("a long value comes in parts of MTU − 1 octets, to its end", arguments: [23, 247, 517] as [UInt16])
    func long(mtu: UInt16) throws {
        let value = (0..<512).map { UInt8(truncatingIfNeeded: $0) }
        let bench = try bench(mtu: mtu, value: value)
        var read: [UInt8] = []
        while true {
            let offset = UInt16(read.count)
            let request = ATTReadBlobRequest(handle: 6, offset: offset).encoded()
            let pdu = bytes(try #require(bench.ask(hex(request)).first))
            #expect(pdu.count <= Int(mtu))
            read += pdu.dropFirst()
            if pdu.count < Int(mtu) { break }
        }
        #expect(read == value)
    }

    // MARK: Order of the checks

    static let stranger = GATTLinkSecurity.none
    static let paired = GATTLinkSecurity(keys: .unauthenticated)
    static let encrypted = GATTLinkSecurity(keys: .unauthenticated, isEncrypted: true)
    static let authenticated = GATTLinkSecurity(keys: .authenticated, isEncrypted: true)
    static let authenticatedKey = GATTLinkSecurity(keys: .authenticated)

    @Test(
        "an unreadable value is Read Not Permitted before security is checked, then each kind of it in turn (SEC-1)",
        arguments: [
            ([], stranger, 0x02), ([.writeable, .writeEncryption], stranger, 0x02), ([.readable], stranger, nil),
            ([.readEncryption], stranger, 0x05), ([.readable, .readEncryption], paired, 0x0F),
            ([.readEncryption], encrypted, nil), ([.readAuthentication], stranger, 0x05),
            ([.readAuthentication], paired, 0x05), ([.readAuthentication], encrypted, 0x05),
            ([.readAuthentication], authenticatedKey, 0x0F), ([.readAuthentication], authenticated, nil),
            ([.readEncryption, .readAuthentication], stranger, 0x05),
            ([.readEncryption, .readAuthorization], encrypted, 0x08), ([.readAuthorization], stranger, 0x08),
            ([.readEncryption, .readAuthorization], stranger, 0x05),
        ] as [(AttributePermissions, GATTLinkSecurity, Int?)])
    func permissions(permissions: AttributePermissions, security: GATTLinkSecurity, error: Int?) throws {
        let database = try GATTDatabase(attributes: [.row(1, 0x2800), .row(5, 0x2A00, permissions, [9])])
        let bench = ServerBench(mtu: 23, database, security: security)
        let code = error.map { hex([UInt8($0)]) }
        #expect(bench.ask("0a0500") == [code.map { "010a0500" + $0 } ?? "0b09"])
        // An offset that is wrong, too, is not what the client hears of.
        #expect(bench.ask("0c0500ff00") == ["010c0500" + (code ?? "07")])
        #expect(bench.ask("080100ffff002a") == [code.map { "01080500" + $0 } ?? "0903050009"])
        #expect(bench.ask("0e05000100") == [code.map { "010e0500" + $0 } ?? "0f09"])
        #expect(bench.ask("2005000100") == [code.map { "01200500" + $0 } ?? "210100090000"])
    }

    @Test("a key that is too short is Encryption Key Size Too Short")
    func keySize() throws {
        var secret = GATTCharacteristicDefinition.dynamic(0x2A37, [.read], [.readEncryption])
        secret.minimumKeySize = 16
        let bench = ServerBench(
            mtu: 23, security: GATTLinkSecurity(keys: .unauthenticated, isEncrypted: true, keySize: 7))
        _ = try bench.publish(.of(0x180D, [secret]))
        #expect(bench.ask("0a0300") == ["010a03000c"])
        bench.server.securityChanged(to: Self.encrypted, on: ServerBench.link(1))
        #expect(bench.ask("0a0300").isEmpty)
        #expect(bench.events.count == 1)
    }

    @Test("the error for a client without a key can be set to Insufficient Encryption")
    func errorWithoutKeys() throws {
        var settings = GATTServerSettings()
        settings.errorWithoutKeys = .insufficientEncryption
        let database = try GATTDatabase(attributes: [
            .row(1, 0x2A00, .readEncryption), .row(2, 0x2A01, .readAuthentication),
        ])
        let bench = ServerBench(mtu: 23, database, settings: settings)
        #expect(bench.ask("0a0100") == ["010a01000f"])
        #expect(bench.ask("0a0200") == ["010a020005"])
    }

    @Test("properties and permissions must both allow an access (SPEC PER-2)")
    func propertiesAndPermissions() throws {
        let bench = ServerBench(mtu: 23)
        _ = try bench.publish(
            .of(
                0x180D,
                [
                    .dynamic(0x2A37, [.notify], [.readable, .writeable]), .dynamic(0x2A38, [.read, .write], .readable),
                    .dynamic(0x2A39, [.writeWithoutResponse], .writeable),
                ]))
        #expect(bench.ask("0a0300") == ["010a030002"])
        #expect(bench.ask("12030001") == ["0112030003"])
        #expect(bench.ask("12060001") == ["0112060003"])
        #expect(bench.ask("12080001") == ["0112080003"])
        #expect(bench.ask("52060001").isEmpty && bench.events.isEmpty)
        #expect(bench.ask("52080001").isEmpty && bench.events.count == 1)
    }

    // MARK: Several values

    @Test("Read Multiple concatenates values and asks the app for each of its own, in order")
    func multiple() throws {
        let bench = try bench()
        #expect(bench.ask("0e060003000600").isEmpty)
        bench.respond(try #require(bench.takeEvents().first?.readRequest).id, .value([9]))
        #expect(bench.take() == ["0f01020309010203"])
        #expect(bench.ask("0e06000900") == ["010e090001"])
    }

    @Test("Read Multiple Variable states full lengths, truncates the last value and omits half a length")
    func multipleVariable() throws {
        let long = [UInt8](repeating: 0xAA, count: 19)
        let database = try GATTDatabase(attributes: [
            .row(1, 0x2A00, .readable, [1]), .row(2, 0x2A01, .readable, long), .row(3, 0x2A02, .readable, [2, 3]),
            .row(4, 0x2A03, .readable, [UInt8](repeating: 0xBB, count: 30)),
        ])
        let bench = ServerBench(mtu: 23, database)
        #expect(bench.ask("2001000300") == ["21010001" + "02000203"])
        #expect(bench.ask("2002000300") == ["211300" + hex(long)])
        #expect(bench.ask("2001000400") == ["21010001" + "1e00" + hex([UInt8](repeating: 0xBB, count: 17))])
        #expect(bench.ask("200100") == ["0120000004"])
    }

    @Test("Read By Type gives values of one length; the first refusal counts, a later one ends the list")
    func readByType() throws {
        let database = try GATTDatabase(attributes: [
            .row(1, 0x2A00, .readable, [1]), .row(2, 0x2A00, .readable, [2]), .row(3, 0x2A00, .readable, [3, 3]),
            .row(4, 0x2A00, [], [4]), .row(5, 0x2A00, .readable, [5, 5]),
        ])
        let bench = ServerBench(mtu: 23, database)
        #expect(bench.ask("080100ffff002a") == ["0903" + "010001" + "020002"])
        #expect(bench.ask("080300ffff002a") == ["0904" + "03000303"])
        #expect(bench.ask("080400ffff002a") == ["0108040002"])
        #expect(bench.ask("080600ffff002a") == ["010806000a"])
        #expect(bench.ask("080000ffff002a") == ["0108000001"])
        #expect(bench.ask("0802000100002a") == ["0108020001"])
        #expect(bench.ask("080100ffff" + "fb349b5f80000080001000 00002a0000") == ["0903" + "010001" + "020002"])
    }

    @Test("Read By Type cuts a long first value, and asks the app for a value of its own")
    func readByTypeLong() throws {
        let long = [UInt8](repeating: 7, count: 300)
        let database = try GATTDatabase(attributes: [
            .row(1, 0x2A00, .readable, long), .row(2, 0x2A00, .readable, long),
        ])
        let bench = ServerBench(mtu: 23, database)
        #expect(bench.ask("080100ffff002a") == ["0915" + "0100" + hex(Array(long.prefix(19)))])
        let wide = ServerBench(mtu: 517, database)
        #expect(wide.ask("080100ffff002a") == ["09ff" + "0100" + hex(Array(long.prefix(253)))])

        let dynamic = try self.bench()
        #expect(dynamic.ask("080100ffff372a").isEmpty)
        let request = try #require(dynamic.takeEvents().first?.readRequest)
        #expect(request.handle == 3)
        dynamic.respond(request.id, .value([1, 2]))
        #expect(dynamic.take() == ["0904" + "03000102"])
    }

    // MARK: What comes too soon, too late or not at all

    @Test("the app has 30 s: then the request is over, the bearer is dead, and the answer counts as late (SPEC 2.4)")
    func timeout() throws {
        let bench = try bench()
        _ = bench.ask("0a0300")
        let id = try #require(bench.takeEvents().first?.readRequest).id
        #expect(bench.server.nextDeadline == .zero.advanced(by: .seconds(30)))
        bench.advance(seconds: 29)
        #expect(bench.faults.isEmpty)
        bench.advance(seconds: 1)
        #expect(bench.faults == [.answerTimeout])
        #expect(bench.takeEvents() == [.requestExpired(id, ServerBench.link(1))])
        #expect(!bench.respond(id, .value([1])))
        #expect(bench.server.counters.lateAnswers == 1 && bench.server.counters.expiredRequests == 1)
        #expect(bench.ask("0a0600").isEmpty)
        #expect(bench.server.nextDeadline == nil)
    }

    @Test("a link that ends between request and answer: the late answer is dropped and counted (pain 17)")
    func disconnectBeforeAnswer() throws {
        let bench = try bench()
        _ = bench.ask("0a0300")
        let id = try #require(bench.takeEvents().first?.readRequest).id
        bench.disconnect()
        bench.connect(ServerBench.link(2))
        #expect(!bench.respond(id, .value([1])))
        #expect(bench.sent.isEmpty)
        #expect(bench.server.counters.lateAnswers == 1)
    }

    @Test("requests before the answer wait in order, and a flood of them drops the bearer (pain 17)")
    func flood() throws {
        let bench = try bench()
        for _ in 0..<5 { #expect(bench.ask("0a0300").isEmpty) }
        #expect(bench.events.count == 1)
        for count in 1...5 {
            bench.respond(try #require(bench.takeEvents().first?.readRequest).id, .value([UInt8(count)]))
            #expect(bench.take() == ["0b0\(count)"])
        }
        for _ in 0..<6 { _ = bench.ask("0a0300") }
        #expect(bench.faults == [.flooded])
        for _ in 0..<1000 { _ = bench.ask("0a0300") }
        #expect(bench.faults == [.flooded])
        #expect(bench.server.counters.strayPDUs == 1000)
    }

    @Test("a client that does not read its answers is dropped before they pile up (pain 17)")
    func floodWithoutReading() throws {
        let bench = try bench()
        bench.holdsBack = true
        for _ in 0..<1000 { bench.receive("0a0600") }
        #expect(bench.faults == [.flooded])
        #expect(bench.take().count == bench.server.settings.unsentResponseLimit)
    }

    @Test("unknown requests are not supported, unknown commands ignored, broken requests invalid (pain 17)")
    func unknown() throws {
        let bench = try bench()
        #expect(bench.ask("bf00") == ["01bf000006"])
        #expect(bench.ask("3e") == ["013e000006"])
        #expect(bench.ask("ff00").isEmpty && bench.ask("7f").isEmpty)
        #expect(bench.ask("").isEmpty && bench.ask("0b01").isEmpty && bench.ask("1b0300").isEmpty)
        #expect(bench.ask("0a") == ["010a000004"])
        #expect(bench.ask("0a030001") == ["010a000004"])
        #expect(bench.ask("0401000200ff") == ["0104000004"])
        #expect(bench.ask("080100ffff0028ff") == ["0108000004"])
        #expect(bench.ask("1802") == ["0118000004"])
        #expect(bench.ask("5203").isEmpty)
        // A signed write needs a key: until there is one, nothing is written and nobody answers.
        #expect(bench.ask("d20300" + "01" + "00000000" + "0000000000000000").isEmpty)
        #expect(bench.server.counters.refusedSignedWrites == 1 && bench.events.isEmpty)
    }

    @Test("bytes of any kind are answered by at most one PDU within the MTU, and nothing traps")
    func anyBytes() throws {
        var generator = AdvertisingPackerPropertyTests.Generator(state: 3)
        let bench = try bench()
        let opcodes: [UInt8] = [4, 6, 8, 10, 12, 14, 16, 18, 22, 24, 32, 0x52, 0xD2, 0x1E]
        for _ in 0..<20_000 {
            var pdu = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
                generator.next() & 1 == 0
                    ? UInt8.random(in: 0...9, using: &generator) : UInt8.random(in: 0...255, using: &generator)
            }
            if !pdu.isEmpty, generator.next() & 7 > 0 { pdu[0] = opcodes.randomElement(using: &generator) ?? 0 }
            let answers = bench.ask(hex(pdu))
            #expect(answers.count <= 1 && answers.allSatisfy { $0.count <= 46 })
            for event in bench.takeEvents() {
                if let request = event.readRequest { bench.respond(request.id, .value([1, 2])) }
                if let request = event.writeRequest { bench.respond(request.id, .success) }
            }
            _ = bench.take()
        }
        #expect(bench.faults.isEmpty)
    }
}
