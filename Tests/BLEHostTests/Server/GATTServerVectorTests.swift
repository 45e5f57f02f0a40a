import BLEPackets
import Foundation
import Testing

@testable import BLEHost

/// Public GATT qualification cases for a server, where their file is at hand; `JELLING_VECTORS` names its folder.
@Suite("GATT server vectors")
struct GATTServerVectorTests {
    struct File: Decodable {
        var databases: [String: [Row]]
        var tests: [Case]
    }

    struct Row: Decodable, Sendable {
        var handle: UInt16
        var type: String
        var permissions: [String]
        var value: String
    }

    struct Case: Decodable, CustomTestStringConvertible, Sendable {
        struct Step: Decodable, Sendable {
            var from: String?
            var pdu: String?
            var trigger: String?
            var handle: UInt16?
            var value: String?
        }

        var name: String
        var database: String
        var mtu: UInt16?
        var steps: [Step]

        enum CodingKeys: String, CodingKey {
            case name, database, steps
            case mtu = "dut_mtu"
        }

        var testDescription: String { name }
    }

    static let file = VectorFile<File>("gatt_server.json")

    /// One case asks for a habit of one stack: prepared writes to values that do not offer reliable writes are refused
    /// there, where the specification leaves a server free (Core 5.4, Vol 3, Part F, 3.4.6).
    static let cases: [Case] = (file.readable?.tests ?? []).filter {
        !$0.steps.isEmpty && $0.name != "/robustness/no-reliable-characteristic"
    }

    @Test("the file of the cases can be read", .enabled(if: file.isPresent, file.absence))
    func reads() throws { #expect(try Self.file.content.get()?.tests.isEmpty == false) }

    @Test("a public qualification case passes", .enabled(if: file.isPresent, file.absence), arguments: cases)
    func plays(_ vector: Case) throws {
        let rows = try #require(try Self.file.content.get()?.databases[vector.database])
        let attributes = try rows.map(Self.attribute).sorted { $0.handle < $1.handle }
        var session = AttributeServerSession(
            database: try GATTDatabase(attributes: attributes), receiveMTU: vector.mtu ?? 512)
        var answers: [String] = []
        for step in vector.steps {
            if step.from == "tester", let pdu = step.pdu {
                #expect(answers.isEmpty, "not expected")
                answers = session.receive(bytes(pdu).span.bytes).map(hex)
            } else if let trigger = step.trigger, let handle = step.handle, let value = step.value {
                #expect(answers.isEmpty, "not expected")
                answers = session.updateValue(
                    bytes(value), of: AttributeHandle(rawValue: handle),
                    as: trigger.contains("indication") ? .indications : .notifications
                ).map(hex)
            } else if step.from == "dut", let pdu = step.pdu {
                #expect(answers.first == hex(bytes(pdu)))
                answers = Array(answers.dropFirst())
            }
        }
        #expect(answers.isEmpty, "not expected")
    }

    static func attribute(_ row: Row) throws -> RawAttribute {
        var permissions: AttributePermissions = []
        for name in row.permissions {
            switch name {
            case "READ": permissions.insert(.readable)
            case "NONE": break
            case "WRITE": permissions.formUnion([.writeable, .commandWriteable])
            case "READ_ENCRYPT": permissions.insert(.readEncryption)
            case "WRITE_ENCRYPT": permissions.insert(.writeEncryption)
            case "READ_AUTHEN": permissions.insert(.readAuthentication)
            case "WRITE_AUTHEN": permissions.insert(.writeAuthentication)
            default: Issue.record("unknown permission \(name)")
            }
        }
        return RawAttribute(
            handle: AttributeHandle(rawValue: row.handle), type: try #require(BluetoothUUID(row.type)),
            permissions: permissions, value: bytes(row.value))
    }
}
