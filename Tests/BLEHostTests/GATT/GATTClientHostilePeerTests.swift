import BLEPackets
import Testing

@testable import BLEHost

@Suite("GATT client and hostile peers")
struct GATTClientHostilePeerTests {
    /// Starts an operation, gives it one answer and checks that it fails, and that the next one works.
    private func expect(
        _ detail: ATTInvalidResponse, _ operation: GATTOperation, answered answer: String,
        _ location: SourceLocation = #_sourceLocation
    ) {
        var bench = ClientBench()
        bench.start(operation)
        #expect(bench.takeSent().count == 1, sourceLocation: location)
        bench.receive(answer)
        #expect(bench.takeResults() == [.failure(.invalidResponse(detail))], sourceLocation: location)
        #expect(bench.sent.isEmpty, sourceLocation: location)
        bench.start(.read(3))
        bench.receive("0b01")
        #expect(bench.takeResults() == [.success(.value([1]))], sourceLocation: location)
        #expect(bench.disconnects == 0, sourceLocation: location)
    }

    @Test("11 00 01 ends the discovery with an error, and the link stays up (pain 16)")
    func zeroLengthGroup() {
        expect(
            .malformed(.invalidValue(0, field: .elementLength)), .discoverServices(uuids: []), answered: "110001")
    }

    @Test("09 00 01 ends the discovery with an error, and the link stays up (pain 16)")
    func zeroLengthType() {
        let malformed = ATTInvalidResponse.malformed(.invalidValue(0, field: .elementLength))
        expect(malformed, .discoverCharacteristics(.all, uuids: []), answered: "090001")
        expect(malformed, .discoverIncludedServices(.all), answered: "090001")
        expect(malformed, .readUsingUUID(BluetoothUUID(UInt16(0x2A00)), .all), answered: "090001")
    }

    @Test("05 03 ends the discovery of descriptors with an error, and the link stays up (pain 16)")
    func unknownFormat() {
        expect(
            .malformed(.invalidValue(3, field: .uuidFormat)), .discoverDescriptors(.all), answered: "05 03 0100 0229")
    }

    @Test("a list with an incomplete last element is an error (pain 16)")
    func rest() {
        expect(
            .malformed(.trailingBytes(2)), .discoverServices(uuids: []), answered: "11 06 0100 0400 0118 0500")
        expect(
            .malformed(.trailingBytes(1)), .discoverServices(uuids: [BluetoothUUID(UInt16(0x180D))]),
            answered: "07 0100 0400 05")
        expect(.malformed(.trailingBytes(3)), .discoverDescriptors(.all), answered: "05 01 0100 0229 020003")
    }

    @Test("elements of a wrong length are an error (pain 16)")
    func wrongLengths() {
        expect(.elementLength(4), .discoverServices(uuids: []), answered: "11 04 0100 0400")
        expect(.elementLength(8), .discoverServices(uuids: []), answered: "11 08 0100 0400 01180000")
        expect(.elementLength(6), .discoverCharacteristics(.all, uuids: []), answered: "09 06 0100 02 0200 01")
        expect(.elementLength(2), .discoverCharacteristics(.all, uuids: []), answered: "09 02 0100")
        expect(.elementLength(7), .discoverIncludedServices(.all), answered: "09 07 0100 0100 0200 01")
    }

    /// Responses that answer another request than one with this opcode: one of each kind, and the Error Responses that
    /// name other requests or none.
    private static func strays(besides opcode: UInt8) -> [String] {
        let responses: [(request: UInt8, response: String)] = [
            (0x02, "03 ff00"), (0x04, "05 01 0100 0229"), (0x06, "07 0100 0400"), (0x08, "09 07 0200 02 0300 002a"),
            (0x0A, "0b 09"), (0x0C, "0d 09"), (0x0E, "0f 0909"), (0x10, "11 06 0100 0400 0118"), (0x12, "13"),
            (0x16, "17 0700 0000 09"), (0x18, "19"), (0x20, "21 0100 09"),
        ]
        let others = responses.filter { $0.request != opcode }
        // 0x22 is no request, and neither are a Write Command and a notification.
        let named = others.map(\.request) + [0x00, 0x22, 0x52, 0x1B]
        return others.map(\.response) + named.map { "01 " + hex([$0]) + " 0300 0a" } + ["01"]
    }

    /// Gives an operation the responses to all other requests, and then its own.
    private func expectPatience(
        _ operation: GATTOperation, sends request: String, answered answer: String, _ result: GATTResult,
        _ location: SourceLocation = #_sourceLocation
    ) {
        var bench = ClientBench()
        bench.start(operation)
        #expect(bench.takeSent() == [request], sourceLocation: location)
        let strays = Self.strays(besides: bytes(request)[0])
        for stray in strays {
            bench.receive(stray)
            #expect(bench.completions.isEmpty && bench.sent.isEmpty, "\(stray)", sourceLocation: location)
        }
        #expect(bench.client.counters.unexpectedResponses == UInt64(strays.count), sourceLocation: location)
        #expect(bench.client.mtu == 23, sourceLocation: location)
        bench.receive(answer)
        #expect(bench.takeResults() == [.success(result)], sourceLocation: location)
        #expect(bench.disconnects == 0, sourceLocation: location)
    }

    @Test("a response that does not answer the request in progress is counted, and the request waits (pain 16)")
    func strayResponses() {
        let rate = BluetoothUUID(UInt16(0x180D))
        let services = [DiscoveredService(uuid: rate, range: AttributeHandleRange(5, .last), isPrimary: true)]
        let descriptors = [DiscoveredDescriptor(handle: 8, uuid: .clientCharacteristicConfiguration)]
        let values = [AttributeValue(handle: 8, value: [1])]
        expectPatience(.exchangeMTU(preferred: 100), sends: "026400", answered: "03 1700", .mtu(23))
        expectPatience(
            .discoverDescriptors(.init(8, 8)), sends: "0408000800", answered: "05 01 0800 0229",
            .descriptors(descriptors))
        expectPatience(
            .discoverServices(uuids: [rate]), sends: "060100ffff00280d18", answered: "07 0500 ffff",
            .services(services))
        expectPatience(
            .readUsingUUID(BluetoothUUID(UInt16(0x2A00)), .init(8, 8)), sends: "0808000800002a",
            answered: "09 03 0800 01", .attributeValues(values))
        expectPatience(.read(3), sends: "0a0300", answered: "0b 01", .value([1]))
        expectPatience(.readLong(3, offset: 1), sends: "0c03000100", answered: "0d 01", .value([1]))
        expectPatience(.readMultiple([1, 2]), sends: "0e01000200", answered: "0f 0102", .value([1, 2]))
        expectPatience(
            .discoverServices(uuids: []), sends: "100100ffff0028", answered: "11 06 0500 ffff 0d18",
            .services(services))
        expectPatience(.write(3, value: [1]), sends: "12030001", answered: "13", .written)
        expectPatience(
            .subscribe(3, configuration: 4, mode: .notifications), sends: "1204000100", answered: "13", .subscribed)
        expectPatience(
            .readMultipleVariable([1, 2]), sends: "2001000200", answered: "21 0100 01 0100 02", .values([[1], [2]]))
    }

    @Test("a second answer to the exchange of ATT_MTU does not end the discovery that follows it (pain 16)")
    func repeatedExchange() {
        var bench = ClientBench()
        bench.start(.exchangeMTU(preferred: 100))
        bench.start(.read(3))
        bench.receive("03 1700")
        bench.receive("03 1700")
        bench.receive("01 02 0000 06")
        #expect(bench.takeResults() == [.success(.mtu(23))])
        bench.receive("0b01")
        #expect(bench.takeResults() == [.success(.value([1]))])
        #expect(bench.client.counters.unexpectedResponses == 2)
    }

    @Test("responses to other requests do not interrupt a prepared write (pain 16)")
    func straysInPreparedWrite() {
        var bench = ClientBench()
        bench.start(.writeLong(7, value: [1]))
        #expect(bench.takeSent() == ["160700000001"])
        for stray in Self.strays(besides: 0x16) { bench.receive(stray) }
        #expect(bench.sent.isEmpty)
        bench.receive("17 0700 0000 01")
        #expect(bench.takeSent() == ["1801"])
        for stray in Self.strays(besides: 0x18) { bench.receive(stray) }
        #expect(bench.sent.isEmpty && bench.completions.isEmpty)
        bench.receive("19")
        #expect(bench.takeResults() == [.success(.written)])
    }

    @Test("a request that gets only responses to others ends the bearer after its time (Core 5.4, Part F, 3.3.3)")
    func onlyStrays() {
        var bench = ClientBench()
        bench.start(.read(3))
        for _ in 0..<29 {
            bench.pass(.seconds(1))
            bench.receive("13")
        }
        #expect(bench.completions.isEmpty && bench.disconnects == 0)
        bench.pass(.seconds(1))
        #expect(bench.takeResults() == [.failure(.transactionTimeout)])
        #expect(bench.disconnects == 1)
    }

    @Test("an error response with a wrong length fails only the operation that it names (pain 16)")
    func cutError() {
        expect(.malformed(.truncated(needed: 1, remaining: 0)), .read(3), answered: "01 0a 0300")
        expect(.malformed(.trailingBytes(1)), .read(3), answered: "01 0a 0300 02 00")
    }

    @Test("truncated answers fail their operations (pain 16)")
    func cutAnswers() {
        expect(.malformed(.truncated(needed: 2, remaining: 1)), .exchangeMTU(preferred: 100), answered: "03 17")
        expect(.malformed(.trailingBytes(1)), .write(3, value: [1]), answered: "13 00")
        expect(.malformed(.truncated(needed: 2, remaining: 1)), .readMultipleVariable([1, 2]), answered: "21 00")
        expect(.tooManyValues, .readMultipleVariable([1, 2]), answered: "21 0000 0000 0000")
        let subscribe = GATTOperation.subscribe(3, configuration: 4, mode: .notifications)
        expect(.malformed(.trailingBytes(1)), subscribe, answered: "13 00")
    }

    @Test("handles that go backwards are an error (pain 16)")
    func backwards() {
        expect(
            .handleOutOfOrder(1), .discoverServices(uuids: []), answered: "11 06 0500 0800 0118 0100 0400 0d18")
        expect(.handleOutOfOrder(7), .discoverServices(uuids: []), answered: "11 06 0500 0800 0118 0700 0900 0d18")
        expect(
            .handleOutOfOrder(2), .discoverServices(uuids: [BluetoothUUID(UInt16(0x180D))]),
            answered: "07 0500 0800 0200 0300")
        expect(.handleOutOfOrder(2), .discoverDescriptors(.all), answered: "05 01 0200 0229 0200 0229")
        expect(
            .handleOutOfOrder(2), .discoverCharacteristics(.all, uuids: []),
            answered: "09 07 0300 02 0400 002a 0200 02 0500 012a")
        expect(
            .handleOutOfOrder(3), .discoverCharacteristics(.all, uuids: []), answered: "09 07 0300 02 0300 002a")
    }

    @Test("a discovery of many named services fails in the same way as one of all (pain 16)")
    func manyNames() {
        let many = GATTOperation.discoverServices(uuids: (0..<9).map { BluetoothUUID(0xFF00 + UInt16($0)) })
        expect(.handleOutOfOrder(1), many, answered: "11 06 0500 0800 0118 0100 0400 0d18")
        expect(.handleOutOfRange(4), many, answered: "11 06 0500 0400 0118")
        expect(.malformed(.trailingBytes(2)), many, answered: "11 06 0100 0400 0118 0500")
    }

    @Test("a range that ends before it begins is an error (pain 16)")
    func reversedRange() {
        expect(.handleOutOfRange(4), .discoverServices(uuids: []), answered: "11 06 0500 0400 0118")
        expect(
            .handleOutOfRange(4), .discoverServices(uuids: [BluetoothUUID(UInt16(0x180D))]), answered: "07 0500 0400")
        expect(.handleOutOfRange(0), .discoverIncludedServices(.all), answered: "09 08 0200 0500 0000 0f18")
        expect(.handleOutOfRange(0), .discoverServices(uuids: []), answered: "11 06 0000 0400 0118")
    }

    @Test("handles outside the range that was asked for are an error (pain 16)")
    func outOfRange() {
        expect(.handleOutOfRange(0x11), .discoverDescriptors(.init(8, 0x10)), answered: "05 01 1100 0229")
        expect(.handleOutOfRange(7), .discoverDescriptors(.init(8, 0x10)), answered: "05 01 0700 0229")
        expect(
            .handleOutOfRange(0x20), .discoverCharacteristics(.init(8, 0x10), uuids: []),
            answered: "09 07 2000 02 2100 002a")
        expect(
            .handleOutOfRange(4), .readUsingUUID(BluetoothUUID(UInt16(0x2A00)), .init(8, 0x10)),
            answered: "09 03 0400 01")
    }

    @Test("a discovery that the peer answers with the same again ends (pain 16)")
    func noProgress() {
        var bench = ClientBench()
        bench.start(.discoverServices(uuids: []))
        bench.receive("11 06 0100 0400 0118")
        bench.receive("11 06 0100 0400 0118")
        #expect(bench.takeResults() == [.failure(.invalidResponse(.handleOutOfRange(1)))])
    }

    @Test("an endless discovery ends with the last handle (pain 16)")
    func endless() {
        var settings = GATTClientSettings()
        settings.discoveryRequestLimit = .max
        settings.discoveredAttributeLimit = .max
        var bench = ClientBench(settings: settings)
        bench.start(.discoverDescriptors(.all))
        var steps = 0
        while bench.completions.isEmpty, steps < 70_000 {
            steps += 1
            bench.receive([
                0x05, 0x01, UInt8(truncatingIfNeeded: steps), UInt8(truncatingIfNeeded: steps >> 8), 2, 0x29,
            ])
        }
        #expect(steps == 0xFFFF)
        #expect(bench.sent.count == 0xFFFF)
        guard case .success(.descriptors(let found)) = bench.takeResults().first else {
            Issue.record("no descriptors")
            return
        }
        #expect(found.count == 0xFFFF)
    }

    @Test("an endless long read ends at 512 octets (pain 16)")
    func endlessRead() {
        var bench = ClientBench()
        bench.start(.read(3))
        let part = String(repeating: "aa", count: 22)
        bench.receive("0b" + part)
        var steps = 1
        while bench.completions.isEmpty, steps < 1000 {
            steps += 1
            bench.receive("0d" + part)
        }
        #expect(steps == 24)  // 23 parts are 506 octets
    }

    @Test("a response nobody asked for is counted and changes nothing (pain 16)")
    func unexpected() {
        var bench = ClientBench()
        for pdu in ["0b01", "13", "01 0a 0300 02", "03 ff00", "19"] { bench.receive(pdu) }
        #expect(bench.client.counters.unexpectedResponses == 5)
        #expect(bench.client.mtu == 23)
        #expect(bench.sent.isEmpty && bench.events.isEmpty && bench.completions.isEmpty)
        bench.start(.read(3))
        bench.play("> 0a 0300\n< 0b 01")
        #expect(bench.takeResults() == [.success(.value([1]))])
    }

    @Test("an error for a command is no answer to the request under way (pain 16)")
    func errorForCommand() {
        var bench = ClientBench()
        bench.start(.read(3))
        bench.receive("01 52 0700 03")
        #expect(bench.completions.isEmpty)
        #expect(bench.client.counters.unexpectedResponses == 1)
        bench.receive("0b 01")
        #expect(bench.takeResults() == [.success(.value([1]))])
    }

    @Test("empty and malformed PDUs are counted and cost nothing else")
    func malformed() {
        var bench = ClientBench()
        for pdu in ["", "1b", "1b 03", "23", "23 0300", "23 0300 0500 01", "1b 0000 01"] { bench.receive(pdu) }
        #expect(bench.client.counters.malformedPDUs == 7)
        #expect(bench.sent.isEmpty && bench.events.isEmpty)
    }

    @Test("a broken answer to a prepared write clears the server's queue (pain 16)")
    func brokenPreparation() {
        for answer in ["17 07", "01 16"] {
            var bench = ClientBench()
            bench.start(.writeLong(7, value: [1]))
            _ = bench.takeSent()
            bench.receive(answer)
            #expect(bench.takeSent() == ["1800"])
            #expect(bench.completions.isEmpty)
            bench.receive("19")
            guard case .failure(.invalidResponse) = bench.takeResults().first else {
                Issue.record("\(answer) was taken")
                return
            }
        }
    }

    @Test("included services whose UUID has an invalid width are an error (pain 16)")
    func includedUUID() {
        var bench = ClientBench()
        bench.start(.discoverIncludedServices(.init(1, 4)))
        bench.receive("09 06 0200 2000 2f00")
        bench.receive("0b 010203")
        #expect(bench.takeResults() == [.failure(.invalidResponse(.elementLength(3)))])
    }

    @Test("whatever a peer sends, each operation ends once and memory stays bounded")
    func fuzz() {
        var state: UInt64 = 0x0DD_5EED
        func next() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 40)
        }
        for _ in 0..<300 {
            var bench = ClientBench()
            var started = 0
            for _ in 0..<60 {
                if next() % 3 == 0 {
                    let operation = GATTClientLifeTests.operations[Int(next()) % GATTClientLifeTests.operations.count]
                    bench.start(operation.operation)
                    started += 1
                }
                var pdu = (0..<Int(next() % 24)).map { _ in next() % 24 }
                if !pdu.isEmpty { pdu[0] = next() % 0x24 }
                bench.receive(pdu)
            }
            bench.close()
            #expect(bench.completions.count == started)
            #expect(Set(bench.completions.map(\.id)).count == started)
            #expect(bench.client.early.values.count <= 32)
        }
    }
}
