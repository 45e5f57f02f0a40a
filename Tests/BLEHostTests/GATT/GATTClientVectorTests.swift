import BLEPackets
import BLESecurity
import Foundation
import Testing

@testable import BLEHost

/// Public GATT qualification cases for a client, where their file is at hand; `JELLING_VECTORS` names its folder.
@Suite("GATT client vectors")
struct GATTClientVectorTests {
    struct File: Decodable {
        var databases: [String: [Attribute]]
        var tests: [Case]
    }

    struct Attribute: Decodable, Sendable {
        var handle: UInt16
        var type: String
        var value: String
    }

    struct Case: Decodable, CustomTestStringConvertible, Sendable {
        struct Step: Decodable, Sendable {
            var from: String?
            var pdu: String?
            var note: String?
        }

        struct Operation: Decodable, Sendable {
            var op: String
            var uuid: String?
            var start: UInt16?
            var end: UInt16?
            var handle: UInt16?
            var handles: [UInt16]?
            var value: String?
            var offset: UInt16?
            var csrk: String?
            var signCounter: UInt32?

            enum CodingKeys: String, CodingKey {
                case op, uuid, start, end, handle, handles, value, offset, csrk
                case signCounter = "sign_counter"
            }
        }

        struct Found: Decodable, Sendable {
            var handle: UInt16?
            var start: UInt16?
            var end: UInt16?
            var uuid: String?
            var properties: UInt8?
            var valueHandle: UInt16?
            var value: String?

            enum CodingKeys: String, CodingKey {
                case handle, start, end, uuid, properties, value
                case valueHandle = "value_handle"
            }
        }

        var name: String
        var database: String?
        var mtu: UInt16
        var preambleCount: Int
        var steps: [Step]
        var operation: Operation
        var expectedResults: [Found]?
        var expectedError: UInt8?
        var expectedValue: String?

        enum CodingKeys: String, CodingKey {
            case name, database, steps, operation
            case mtu = "dut_mtu"
            case preambleCount = "preamble_pdu_count"
            case expectedResults = "expected_results"
            case expectedError = "expected_att_error"
            case expectedValue = "expected_value"
        }

        var testDescription: String { name }
    }

    static let file = VectorFile<File>("gatt_client.json")

    static let cases: [Case] = file.readable?.tests ?? []
    static let databases: [String: [Attribute]] = file.readable?.databases ?? [:]

    @Test("the file of the cases can be read", .enabled(if: file.isPresent, file.absence))
    func reads() throws { #expect(try Self.file.content.get()?.tests.isEmpty == false) }

    @Test(
        "a public qualification case passes without its preamble",
        .enabled(if: file.isPresent, file.absence), arguments: cases)
    func plays(_ vector: Case) throws {
        // Signing needs a key that pairing gives: here the PDU alone must be understood.
        if vector.operation.op == "signed_write" { return try checkSignedWrite(vector) }
        let steps = afterPreamble(vector)
        var bench = ClientBench(mtu: agreedMTU(vector))
        guard let operation = operation(vector) else {
            // Discovery of everything is the preamble itself: `discovers` looks at what is found.
            #expect(
                vector.operation.op == "full_discovery" && steps.isEmpty,
                "the operation \(vector.operation.op) is not known")
            return
        }
        bench.start(operation)
        let cut = placeOfCut(steps)
        for (place, step) in steps.enumerated() {
            guard let pdu = step.pdu else { continue }
            if step.from == "tester" {
                bench.receive(pdu)
                if place == cut { break }
            } else {
                #expect(bench.sent.isEmpty == false, "nothing sent instead of \(pdu)")
                if !bench.sent.isEmpty { #expect(bench.sent.removeFirst() == pdu) }
            }
        }
        if let cut { return checkRefusal(vector, steps[cut], &bench) }
        #expect(bench.sent.isEmpty, "more was sent than expected: \(bench.sent)")
        check(vector, operation, &bench)
    }

    private func afterPreamble(_ vector: Case) -> [Case.Step] {
        var left = vector.preambleCount
        return vector.steps.filter { step in
            guard step.pdu != nil, left > 0 else { return left == 0 }
            left -= 1
            return false
        }
    }

    /// ATT_MTU behind the preamble.
    private func agreedMTU(_ vector: Case) -> UInt16 {
        var agreed: UInt16 = 23
        let preamble = vector.steps.filter { $0.pdu != nil }.prefix(vector.preambleCount)
        for pdu in preamble.compactMap(\.pdu) where pdu.hasPrefix("03") {
            if let response = try? ATTExchangeMTUResponse(bytes(pdu).span.bytes) {
                agreed = max(23, min(vector.mtu, response.serverReceiveMTU))
            }
        }
        return agreed
    }

    /// Where the security of the link is raised behind a refusal, which shows in the same request being sent again.
    /// That needs pairing: until then the refusal is the result.
    private func placeOfCut(_ steps: [Case.Step]) -> Int? {
        var request: String?
        for (place, step) in steps.enumerated() {
            guard let pdu = step.pdu else { continue }
            if step.from == "dut" {
                request = pdu
            } else if pdu.hasPrefix("01"), let next = steps[(place + 1)...].first(where: { $0.from == "dut" }),
                next.pdu == request
            {
                return place
            }
        }
        return nil
    }

    private func operation(_ vector: Case) -> GATTOperation? {
        let given = vector.operation
        let handle = AttributeHandle(rawValue: given.handle ?? 0)
        let range = AttributeHandleRange(
            AttributeHandle(rawValue: given.start ?? 1), AttributeHandle(rawValue: given.end ?? 0xFFFF))
        let uuids = given.uuid.flatMap { BluetoothUUID($0) }.map { [$0] } ?? []
        let handles = (given.handles ?? []).map { AttributeHandle(rawValue: $0) }
        let value = bytes(given.value ?? "")
        switch given.op {
        case "exchange_mtu_only", "exchange_mtu": return .exchangeMTU(preferred: vector.mtu)
        case "discover_all_primary_services": return .discoverServices(uuids: [])
        case "discover_primary_services_by_uuid": return .discoverServices(uuids: uuids)
        case "discover_secondary_services", "discover_all_secondary_services": return .discoverSecondaryServices
        case "discover_included_services": return .discoverIncludedServices(range)
        case "discover_characteristics": return .discoverCharacteristics(range, uuids: [])
        case "discover_characteristics_by_uuid": return .discoverCharacteristics(range, uuids: uuids)
        case "discover_descriptors", "discover_all_characteristic_descriptors": return .discoverDescriptors(range)
        case "read_value": return .read(handle)
        case "read_long_value": return .readLong(handle, offset: given.offset ?? 0)
        case "read_using_uuid": return uuids.first.map { .readUsingUUID($0, range) }
        case "read_multiple": return .readMultiple(handles)
        case "read_multiple_variable": return .readMultipleVariable(handles)
        case "write_value": return .write(handle, value: value)
        case "write_long_value": return .writeLong(handle, value: value)
        case "reliable_write": return .reliableWrite([AttributeWrite(handle: handle, value: value)])
        case "write_without_response", "write_command": return .writeCommand(handle, value: value)
        case "register_notify", "register_notification":
            return .subscribe(handle, configuration: configuration(of: handle, vector), mode: .notifications)
        case "register_indicate", "register_indication":
            return .subscribe(handle, configuration: configuration(of: handle, vector), mode: .indications)
        default: return nil
        }
    }

    /// The first configuration behind a value.
    private func configuration(of handle: AttributeHandle, _ vector: Case) -> AttributeHandle {
        let database = vector.database.flatMap { Self.databases[$0] } ?? []
        let found = database.first { $0.handle > handle.rawValue && $0.type == "2902" }?.handle
        return found.map { AttributeHandle(rawValue: $0) } ?? handle.next ?? .last
    }

    private func check(_ vector: Case, _ operation: GATTOperation, _ bench: inout ClientBench) {
        if case .exchangeMTU = operation { return }  // the case ends with the request
        if case .writeCommand = operation { return }
        guard let result = bench.takeResults().first else {
            Issue.record("the operation did not end")
            return
        }
        switch result {
        case .success(let value): check(value, vector)
        case .failure(.att(let error, _)): #expect(error.rawValue == vector.expectedError)
        case .failure(let failure): Issue.record("\(failure)")
        }
    }

    private func check(_ result: GATTResult, _ vector: Case) {
        let found = vector.expectedResults ?? []
        switch result {
        case .services(let services):
            #expect(services.map(\.range.first.rawValue) == found.map(\.start))
            #expect(services.map(\.range.last.rawValue) == found.map(\.end))
            for (service, expected) in zip(services, found) where expected.uuid != nil {
                #expect(service.uuid == expected.uuid.flatMap(uuid))
            }
        case .includedServices(let includes):
            #expect(includes.map(\.handle.rawValue) == found.map(\.handle))
            #expect(includes.map(\.range.first.rawValue) == found.map(\.start))
            #expect(includes.map(\.range.last.rawValue) == found.map(\.end))
            #expect(includes.map(\.uuid) == found.map { $0.uuid.flatMap(uuid) })
        case .characteristics(let characteristics):
            #expect(characteristics.map(\.handle.rawValue) == found.map(\.handle))
            #expect(characteristics.map(\.valueHandle.rawValue) == found.map(\.valueHandle))
            #expect(characteristics.map(\.properties.rawValue) == found.map(\.properties))
            #expect(characteristics.map(\.uuid) == found.map { $0.uuid.flatMap(uuid) })
        case .descriptors(let descriptors):
            #expect(descriptors.map(\.handle.rawValue) == found.map(\.handle))
            #expect(descriptors.map(\.uuid) == found.map { $0.uuid.flatMap(uuid) })
        case .attributeValues(let values):
            #expect(values.map(\.handle.rawValue) == found.map(\.handle))
            #expect(values.map { hex($0.value) } == found.map(\.value))
        case .value(let value):
            // Invalid Offset and Attribute Not Long end a read well here (SPEC 2.3).
            if let error = vector.expectedError, error == 0x07 || error == 0x0B { return }
            #expect(hex(value) == vector.expectedValue)
        case .values(let values): #expect(hex(Array(values.joined())) == vector.expectedValue)
        case .written, .subscribed, .unsubscribed, .confirmed, .mtu: #expect((vector.expectedError ?? 0) == 0)
        }
    }

    /// The file writes long UUIDs without dashes.
    private func uuid(_ text: String) -> BluetoothUUID? {
        guard text.count == 32, let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.dropFirst(16), radix: 16)
        else { return BluetoothUUID(text) }
        return BluetoothUUID(high: high, low: low)
    }

    private func checkRefusal(_ vector: Case, _ step: Case.Step, _ bench: inout ClientBench) {
        guard let refusal = step.pdu else { return }
        let error = bytes(refusal)
        if bench.sent == ["1800"] { bench.receive("19") }  // a prepared write clears the queue first
        let handle = AttributeHandle(rawValue: UInt16(error[2]) | UInt16(error[3]) << 8)
        #expect(bench.takeResults() == [.failure(.att(ATTError(rawValue: error[4]), handle: handle))])
    }

    private func checkSignedWrite(_ vector: Case) throws {
        let pdu = bytes(try #require(afterPreamble(vector).first?.pdu))
        let command = try ATTSignedWriteCommand(pdu.span.bytes)
        #expect(command.handle.rawValue == vector.operation.handle)
        #expect(hex(command.value.copied()) == vector.operation.value)
        #expect(command.encoded() == pdu)
        guard let key = vector.operation.csrk, let counter = vector.operation.signCounter else { return }
        // The file has the key in the order in which it travels.
        let function = SecurityFunction.signature(
            key: bytes(key).reversed(), message: [UInt8](pdu.dropLast(ATTSignedWriteCommand.signatureLength)),
            counter: counter)
        guard case .octets(let code) = SwiftCryptoProvider().answer(function.request) else {
            Issue.record("no signature")
            return
        }
        #expect(pdu.suffix(8) == code.prefix(8).reversed()[...])
    }

    // MARK: Full discovery

    /// The first case of each database whose preamble discovers all of it.
    static let discoveries = cases.filter { $0.database != nil && $0.preambleCount > 2 }
        .reduce(into: [Case]()) { firsts, vector in
            if !firsts.contains(where: { $0.database == vector.database }) { firsts.append(vector) }
        }

    @Test(
        "a case's whole database is found, whatever the order of the requests",
        .enabled(if: file.isPresent, file.absence),
        arguments: discoveries)
    func discovers(_ vector: Case) throws {
        let database = try #require(Self.databases[vector.database ?? ""])
        var answers: [String: String] = [:]
        for (request, answer) in zip(vector.steps, vector.steps.dropFirst()) where request.from == "dut" {
            if let request = request.pdu { answers[request] = answer.pdu }
        }
        // What the other stack did not ask, the table of the case answers.
        var table = AttributeServerSession(
            database: try GATTDatabase(
                attributes: database.map { row in
                    RawAttribute(
                        handle: AttributeHandle(rawValue: row.handle), type: try #require(BluetoothUUID(row.type)),
                        permissions: .readable, value: bytes(row.value))
                }.sorted { $0.handle < $1.handle }),
            receiveMTU: vector.mtu)
        var bench = ClientBench()
        func run(_ operation: GATTOperation) -> GATTResult? {
            bench.start(operation)
            while let request = bench.sent.first {
                bench.sent.removeFirst()
                let computed = table.receive(bytes(request).span.bytes).first.map(hex)
                guard let answer = answers[request] ?? computed else {
                    Issue.record("\(vector.name) has no answer to \(request)")
                    return nil
                }
                bench.receive(answer)
            }
            return bench.takeResults().first.flatMap { try? $0.get() }
        }
        _ = run(.exchangeMTU(preferred: vector.mtu))
        guard case .services(let services) = run(.discoverServices(uuids: [])) else {
            Issue.record("no services")
            return
        }
        #expect(services.map(\.range.first.rawValue) == database.filter { $0.type == "2800" }.map(\.handle))
        guard case .services(let secondary) = run(.discoverSecondaryServices) else {
            Issue.record("no secondary services")
            return
        }
        #expect(secondary.map(\.range.first.rawValue) == database.filter { $0.type == "2801" }.map(\.handle))
        let all = services + secondary
        guard let first = all.map(\.range.first).min(), let last = all.map(\.range.last).max() else { return }
        let range = AttributeHandleRange(first, last)
        if case .includedServices(let includes) = run(.discoverIncludedServices(range)) {
            #expect(includes.map(\.handle.rawValue) == database.filter { $0.type == "2802" }.map(\.handle))
        }
        guard case .characteristics(let characteristics) = run(.discoverCharacteristics(range, uuids: [])) else {
            Issue.record("no characteristics")
            return
        }
        #expect(characteristics.map(\.handle.rawValue) == database.filter { $0.type == "2803" }.map(\.handle))
        var found: [UInt16] = []
        for characteristic in characteristics {
            let end = all.first { $0.range.contains(characteristic.handle) }?.range.last ?? last
            let last = min(characteristic.endHandle, end)
            guard let behind = characteristic.valueHandle.next, behind <= last else { continue }
            if case .descriptors(let descriptors) = run(.discoverDescriptors(.init(behind, last))) {
                found += descriptors.map(\.handle.rawValue)
            }
        }
        let values = characteristics.map(\.valueHandle.rawValue)
        let declarations = ["2800", "2801", "2802", "2803"]
        let descriptors = database.filter { !declarations.contains($0.type) && !values.contains($0.handle) }
        #expect(found == descriptors.map(\.handle))
    }
}
