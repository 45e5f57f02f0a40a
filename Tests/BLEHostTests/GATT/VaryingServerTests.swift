import BLEPackets
import Testing

@testable import BLEHost

/// Servers that do what the specification lets them, and one that does not.
@Suite("A client of servers that vary")
struct VaryingServerTests {
    /// A client, its server, and what they say to each other.
    private struct Conversation {
        var bench = ClientBench()
        var server: VaryingServer

        mutating func run(_ operation: GATTOperation) -> Result<GATTResult, GATTFailure>? {
            bench.start(operation)
            var turns = 0
            while let text = bench.sent.first, turns < 5000 {
                turns += 1
                bench.sent.removeFirst()
                let pdu = bytes(text)
                switch pdu[0] {
                case 0x1E, 0x01: continue  // a confirmation, and what the server's own client is told
                case 0x03: server.clientTold(UInt16(pdu[1]) | UInt16(pdu[2]) << 8)
                default: for answer in server.answer(pdu) { bench.receive(answer) }
                }
            }
            return bench.takeResults().first
        }
    }

    @Test("all services are found, with few or many in an answer (SPEC 2.3)", arguments: 0..<150)
    func services(seed: UInt64) throws {
        var conversation = Conversation(server: VaryingServer(seed: seed))
        if seed % 3 > 0 { _ = conversation.run(.exchangeMTU(preferred: 517)) }
        let rows = conversation.server.rows
        func declared(_ type: BluetoothUUID) -> [DiscoveredService] {
            rows.filter { $0.type == type }.compactMap { row in
                BluetoothUUID(attributeValue: row.value).map {
                    DiscoveredService(
                        uuid: $0,
                        range: AttributeHandleRange(
                            AttributeHandle(rawValue: row.handle), AttributeHandle(rawValue: row.end)),
                        isPrimary: type == .primaryService)
                }
            }
        }
        let primary = declared(.primaryService)
        #expect(conversation.run(.discoverServices(uuids: [])) == .success(.services(primary)))
        let secondary = declared(.secondaryService)
        #expect(conversation.run(.discoverSecondaryServices) == .success(.services(secondary)))
        if let uuid = primary.last?.uuid {
            let named = primary.filter { $0.uuid == uuid }
            #expect(conversation.run(.discoverServices(uuids: [uuid])) == .success(.services(named)))
        }
        // So many are looked for among all services.
        var names = (0..<9).map { BluetoothUUID(0xFF00 + UInt16($0)) }
        for service in primary.reversed() where !names.contains(service.uuid) { names.append(service.uuid) }
        let found = names.flatMap { name in primary.filter { $0.uuid == name } }
        #expect(conversation.run(.discoverServices(uuids: names)) == .success(.services(found)))
        let all = AttributeHandleRange(AttributeHandle(rawValue: 1), .last)
        let services = primary + secondary
        let includes = rows.filter { $0.type == .include }.compactMap { row -> DiscoveredInclude? in
            let first = UInt16(row.value[0]) | UInt16(row.value[1]) << 8
            return services.first { $0.range.first.rawValue == first }.map {
                // The end is the one that the declaration names.
                DiscoveredInclude(
                    handle: AttributeHandle(rawValue: row.handle), uuid: $0.uuid,
                    range: AttributeHandleRange(
                        $0.range.first, AttributeHandle(rawValue: UInt16(row.value[2]) | UInt16(row.value[3]) << 8)))
            }
        }
        #expect(conversation.run(.discoverIncludedServices(all)) == .success(.includedServices(includes)))
    }

    @Test("all characteristics and descriptors are found (SPEC 2.3)", arguments: 0..<150)
    func characteristics(seed: UInt64) throws {
        var conversation = Conversation(server: VaryingServer(seed: seed &+ 1000))
        if seed % 3 > 0 { _ = conversation.run(.exchangeMTU(preferred: 517)) }
        let rows = conversation.server.rows
        for service in rows where service.type == .primaryService || service.type == .secondaryService {
            let range = AttributeHandleRange(
                AttributeHandle(rawValue: service.handle), AttributeHandle(rawValue: service.end))
            let declarations = rows.filter {
                $0.type == .characteristic && range.contains(AttributeHandle(rawValue: $0.handle))
            }
            guard
                case .success(.characteristics(let found))? = conversation.run(
                    .discoverCharacteristics(range, uuids: []))
            else {
                Issue.record("no characteristics")
                return
            }
            #expect(found.map(\.handle.rawValue) == declarations.map(\.handle))
            #expect(found.map(\.properties.rawValue) == declarations.map { $0.value[0] })
            #expect(
                found.map { Optional($0.uuid) }
                    == declarations.map { BluetoothUUID(attributeValue: [UInt8]($0.value[3...])) })
            for characteristic in found {
                guard let first = characteristic.valueHandle.next, first <= characteristic.endHandle else { continue }
                let behind = AttributeHandleRange(first, characteristic.endHandle)
                let descriptors = rows.filter { behind.contains(AttributeHandle(rawValue: $0.handle)) }.map {
                    DiscoveredDescriptor(handle: AttributeHandle(rawValue: $0.handle), uuid: $0.type)
                }
                #expect(conversation.run(.discoverDescriptors(behind)) == .success(.descriptors(descriptors)))
            }
        }
    }

    @Test("values of every length are read and written whole (SPEC 2.3)", arguments: 0..<150)
    func values(seed: UInt64) throws {
        var conversation = Conversation(server: VaryingServer(seed: seed &+ 2000))
        if seed % 3 > 0 { _ = conversation.run(.exchangeMTU(preferred: 517)) }
        let declarations: [BluetoothUUID] = [.primaryService, .secondaryService, .include, .characteristic]
        for index in conversation.server.rows.indices {
            let row = conversation.server.rows[index]
            let handle = AttributeHandle(rawValue: row.handle)
            #expect(conversation.run(.readLong(handle, offset: 0)) == .success(.value(row.value)))
            guard !declarations.contains(row.type) else { continue }
            let new = [UInt8](row.value.reversed())
            #expect(conversation.run(.writeLong(handle, value: new)) == .success(.written))
            #expect(conversation.server.rows[index].value == new)
            let all = AttributeHandleRange(AttributeHandle(rawValue: 1), .last)
            guard case .success(.attributeValues(let values))? = conversation.run(.readUsingUUID(row.type, all)) else {
                Issue.record("no values of \(row.type)")
                return
            }
            let same = conversation.server.rows.filter { $0.type == row.type }
            #expect(values.map(\.handle.rawValue) == same.map(\.handle))
            for (value, row) in zip(values, same) { #expect(row.value.starts(with: value.value)) }
        }
    }

    @Test("a value that fits into one answer after the MTU was raised during the read is read again")
    func raisedMTU() throws {
        var bench = ClientBench()
        bench.start(.readLong(AttributeHandle(rawValue: 3), offset: 0))
        let value = String(repeating: "ab", count: 30)
        bench.play(
            """
            > 0a 03 00
            < 0b \(value.prefix(44))
            > 0c 03 00 16 00
            """)
        bench.receive("02 64 00")
        #expect(bench.takeSent().first?.hasPrefix("03") == true)
        // Attribute Not Long: it would be whole in one answer of the new size.
        bench.receive("01 0c 03 00 0b")
        bench.play(
            """
            > 0a 03 00
            < 0b \(value)
            """)
        #expect(bench.takeResults() == [.success(.value([UInt8](repeating: 0xAB, count: 30)))])
    }

    @Test("every operation ends, whatever the server answers (pain 16)", arguments: 0..<200)
    func anything(seed: UInt64) throws {
        var generator = SplitMix(state: seed &+ 3000)
        var bench = ClientBench()
        let all = AttributeHandleRange(AttributeHandle(rawValue: 1), .last)
        let operations: [GATTOperation] = [
            .discoverServices(uuids: []), .discoverServices(uuids: [.deviceName]), .discoverSecondaryServices,
            .discoverIncludedServices(all), .discoverCharacteristics(all, uuids: []), .discoverDescriptors(all),
            .readLong(AttributeHandle(rawValue: 3), offset: 0), .readUsingUUID(.deviceName, all),
            .readMultipleVariable([AttributeHandle(rawValue: 3), AttributeHandle(rawValue: 4)]),
            .writeLong(AttributeHandle(rawValue: 3), value: [UInt8](repeating: 1, count: 100)),
        ]
        for operation in operations {
            bench.start(operation)
            var turns = 0
            while let text = bench.sent.first {
                bench.sent.removeFirst()
                let request = bytes(text)
                guard request[0] != 0x1E, request[0] != 0x01 else { continue }
                turns += 1
                // Handles that hardly rise make the longest way: one answer for each handle there is.
                try #require(turns < 0x1_0000 + 2)
                bench.receive(Self.answer(to: request, &generator))
            }
            #expect(bench.takeResults().count == 1)
        }
    }

    private static func answer(to request: [UInt8], _ generator: inout SplitMix) -> [UInt8] {
        let kind = Int.random(in: 0..<20, using: &generator)
        if kind == 0 { return [0x01, request[0], 0, 0, UInt8.random(in: 0...255, using: &generator)] }
        let opcode = request[0] == 0x18 ? 0x19 : request[0] &+ 1
        let count = Int.random(in: 0..<24, using: &generator)
        var answer = [opcode] + (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        guard kind > 4, answer.count > 1, request.count > 4 else { return answer }
        // A form that can be read, from the beginning of the range that was asked for, or from before it.
        let handle = kind < 7 ? [UInt8](request[1...2].map { $0 &- 1 }) : [UInt8](request[1...2])
        switch request[0] {
        case 0x04: answer = [opcode, 1] + handle + [0x01, 0x29]
        case 0x06: answer = [opcode] + handle + handle
        case 0x08:
            answer =
                [opcode, kind < 9 ? 2 : kind < 12 ? 7 : 8] + handle
                + [1, 2, 3, 4, 5, 6].prefix(kind < 9 ? 0 : kind < 12 ? 5 : 6)
        case 0x10: answer = [opcode, 6] + handle + handle + [0x00, 0x18]
        default: break
        }
        return answer
    }
}
