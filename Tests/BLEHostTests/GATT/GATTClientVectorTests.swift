import BLEPackets
import Foundation
import Testing

@testable import BLEHost

/// Public GATT qualification cases for a client, where their file is at hand; `JELLING_VECTORS` names its folder.
@Suite("GATT client vectors")
struct GATTClientVectorTests {
    struct File: Decodable { var tests: [Case] }

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
        var mtu: UInt16
        var preambleCount: Int
        var steps: [Step]
        var operation: Operation
        var expectedResults: [Found]?
        var expectedError: UInt8?
        var expectedValue: String?

        enum CodingKeys: String, CodingKey {
            case name, steps, operation
            case mtu = "dut_mtu"
            case preambleCount = "preamble_pdu_count"
            case expectedResults = "expected_results"
            case expectedError = "expected_att_error"
            case expectedValue = "expected_value"
        }

        var testDescription: String { name }
    }

    static let path: String = {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let folder =
            ProcessInfo.processInfo.environment["JELLING_VECTORS"]
            ?? package.deletingLastPathComponent().appendingPathComponent("shared/vectors").path
        return folder + "/gatt_client.json"
    }()

    static let isPresent = FileManager.default.fileExists(atPath: path)

    static func cases() -> [Case] {
        guard isPresent else { return [] }
        do {
            return try JSONDecoder().decode(File.self, from: Data(contentsOf: URL(fileURLWithPath: path))).tests
        } catch {
            Issue.record("\(path): \(error)")
            return []
        }
    }

    @Test(
        "a public qualification case goes as it should, its preamble left out",
        .enabled(if: isPresent, "gatt_client.json is missing: set JELLING_VECTORS to the folder of the vectors"),
        arguments: cases())
    func plays(_ vector: Case) throws {
        // Signing needs a key that pairing gives: here the PDU alone must be understood.
        if vector.operation.op == "signed_write" { return try checkSignedWrite(vector) }
        let steps = afterPreamble(vector)
        var bench = vector.preambleCount == 0 ? ClientBench() : ClientBench(mtu: vector.mtu)
        // Discovery of everything is the preamble itself: nothing is left to compare.
        guard let operation = operation(vector) else {
            #expect(vector.operation.op == "full_discovery" && steps.isEmpty, "unknown operation in \(vector.name)")
            return
        }
        bench.start(operation)
        // These raise security after the first refusal, which needs pairing: until then the refusal is the result.
        let isCutAtRefusal = vector.name.hasSuffix("/auto")
        for step in steps {
            guard let pdu = step.pdu else { continue }
            if step.from == "tester" {
                bench.receive(pdu)
                if isCutAtRefusal { break }
            } else {
                #expect(bench.sent.isEmpty == false, "nothing sent instead of \(pdu)")
                if !bench.sent.isEmpty { #expect(bench.sent.removeFirst() == pdu) }
            }
        }
        if isCutAtRefusal { return checkRefusal(vector, steps, &bench) }
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
        case "discover_descriptors": return .discoverDescriptors(range)
        case "read_value": return .read(handle)
        case "read_long_value": return .readLong(handle, offset: given.offset ?? 0)
        case "read_using_uuid": return uuids.first.map { .readUsingUUID($0, range) }
        case "read_multiple": return .readMultiple(handles)
        case "read_multiple_variable": return .readMultipleVariable(handles)
        case "write_value": return .write(handle, value: value)
        case "write_long_value": return .writeLong(handle, value: value)
        case "reliable_write": return .reliableWrite([AttributeWrite(handle: handle, value: value)])
        case "write_without_response", "write_command": return .writeCommand(handle, value: value)
        case "register_notify":
            return .subscribe(handle, configuration: handle.next ?? .last, mode: .notifications)
        case "register_indicate":
            return .subscribe(handle, configuration: handle.next ?? .last, mode: .indications)
        default: return nil
        }
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
        case .value(let value): #expect(hex(value) == vector.expectedValue)
        case .values(let values): #expect(hex(Array(values.joined())) == vector.expectedValue)
        case .written, .subscribed, .unsubscribed, .mtu: #expect((vector.expectedError ?? 0) == 0)
        }
    }

    /// The file writes long UUIDs without dashes.
    private func uuid(_ text: String) -> BluetoothUUID? {
        guard text.count == 32, let high = UInt64(text.prefix(16), radix: 16),
            let low = UInt64(text.dropFirst(16), radix: 16)
        else { return BluetoothUUID(text) }
        return BluetoothUUID(high: high, low: low)
    }

    private func checkRefusal(_ vector: Case, _ steps: [Case.Step], _ bench: inout ClientBench) {
        guard let refusal = steps.first(where: { $0.from == "tester" })?.pdu else { return }
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
    }
}
