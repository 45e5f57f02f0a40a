import Foundation
import Testing

@testable import BLEPackets

/// Public packets with the field values that other software gave them: what Bumble's and AOSP's own tests set, and what
/// Bumble reads in real captures.
@Suite("HCI vectors")
struct HCIVectorTests {
    static let file = SharedVectors.folder.appendingPathComponent("hci.json")
    static let isPresent = FileManager.default.fileExists(atPath: file.path)

    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        /// Bumble's names and values; `nil` where it could not read the packet.
        let fields: [String: VectorField]?

        var testDescription: String { "\(name) \(hexadecimal(bytes.prefix(12)))" }
    }

    static func vectors() throws -> [Vector] {
        let root = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        var vectors: [Vector] = []
        // Whatever the sections are called: each is a list of packets.
        for section in root.keys.sorted() {
            for entry in root[section] as? [[String: Any]] ?? [] {
                let packet = try #require(entry["packet"] as? String, "an entry of \(section) without a packet")
                let decoded = entry["bumble_decode"] as? [String: Any] ?? entry
                let fields = decoded["fields"] as? [String: Any]
                vectors.append(
                    Vector(
                        name: entry["key"] as? String ?? entry["test"] as? String ?? section,
                        bytes: CodecSample.bytes(packet), fields: fields?.mapValues(VectorField.init(json:))))
            }
        }
        return vectors
    }

    /// What the comparison found besides differences.
    struct Tally {
        var compared = 0
        /// Names in the vectors that stand for no value of ours, in packets that we read as values.
        var unnamed: Set<String> = []
    }

    @Test(
        "every packet of the vectors decodes, comes back byte for byte, and has the values that others read in it",
        .enabled(if: isPresent, "needs hci.json in the folder that JELLING_VECTORS names, else in ../shared/vectors"))
    func vectors() throws {
        var tally = Tally()
        let vectors = try Self.vectors()
        for vector in vectors {
            guard let values = read(vector), !values.isEmpty, let expected = vector.fields else { continue }
            for (name, expected) in expected {
                compare(values[name], with: expected, name: name, of: vector, &tally)
            }
        }
        print(
            "\(vectors.count) HCI vectors, \(tally.compared) values compared;",
            "not compared, because there is no name: \(tally.unnamed.sorted())")
        #expect(tally.compared > 0)
    }

    private func compare(
        _ value: VectorField?, with expected: VectorField, name: String, of vector: Vector, _ tally: inout Tally
    ) {
        switch (value, expected) {
        case (nil, _): tally.unnamed.insert(name)
        case (.record(let values), .record(let expected)):
            for (inner, expected) in expected {
                compare(values[inner], with: expected, name: "\(name).\(inner)", of: vector, &tally)
            }
        case (.list(let values), .list(let expected)):
            #expect(values.count == expected.count, "\(vector.testDescription): \(name)")
            for (value, expected) in zip(values, expected) {
                compare(value, with: expected, name: name, of: vector, &tally)
            }
        default:
            tally.compared += 1
            #expect(value == expected, "\(vector.testDescription): \(name)")
        }
    }

    /// Decodes, encodes again, and gives the values by Bumble's names; empty for what is kept as bytes.
    private func read(_ vector: Vector) -> [String: VectorField]? {
        do throws(DecodingError) {
            let packet = try H4PacketView(decoding: vector.bytes.span.bytes)
            switch packet.type {
            case .command:
                let command = try HCICommandPacket(decoding: packet.contents)
                var again = PacketWriter()
                command.encodePacket(into: &again)
                #expect(again.bytes == vector.bytes, "\(vector.testDescription)")
                guard let type = commandTypes.first(where: { $0.opcode == command.opcode }) else { return [:] }
                return try readCommand(command, as: type, vector)
            case .event:
                let event = try HCIEventPacket(decoding: packet.contents)
                var again = PacketWriter()
                event.encodePacket(into: &again)
                #expect(again.bytes == vector.bytes, "\(vector.testDescription)")
                var fields = event.vectorFields
                if case .commandComplete(let complete) = event {
                    var answer = ["data": VectorField.text(hexadecimal(complete.returnParameters))]
                    if let status = complete.returnParameters.first { answer["status"] = .number(status) }
                    if let type = commandTypes.first(where: { $0.opcode == complete.opcode }) {
                        answer = try readAnswer(complete, of: type, vector)
                    } else if vector.fields?["return_parameters"].map(isRaw) == false {
                        return [:]  // Bumble has a name for the answer to a command that we do not have.
                    }
                    fields["return_parameters"] = .record(answer)
                }
                return fields
            case .acl, .sco, .iso:
                #expect(try dataPacketAgain(packet) == vector.bytes, "\(vector.testDescription)")
                return [:]
            }
        } catch .invalidValue(let octet, field: .packetType) {
            #expect(!(1...5).contains(octet), "\(vector.testDescription)")
            return nil
        } catch {
            Issue.record("\(vector.testDescription): \(error)")
            return nil
        }
    }

    private func isRaw(_ field: VectorField) -> Bool {
        guard case .record(let fields) = field else { return false }
        return Set(fields.keys).isSubset(of: ["data", "status"])
    }

    private func dataPacketAgain(_ packet: borrowing H4PacketView) throws(DecodingError) -> [UInt8] {
        var again = PacketWriter()
        again.write(packet.type.rawValue)
        switch packet.type {
        case .acl:
            let data = try ACLDataPacket(decoding: packet.contents)
            ACLDataPacket.encodeHeader(
                into: &again, handle: data.connectionHandle, boundary: data.boundary, broadcast: data.broadcast,
                length: data.data.byteCount)
            again.write(bytes: data.data)
        case .sco:
            let data = try SynchronousDataPacket(decoding: packet.contents)
            SynchronousDataPacket.encodeHeader(
                into: &again, handle: data.connectionHandle, packetStatus: data.packetStatus,
                length: data.data.byteCount)
            again.write(bytes: data.data)
        case .iso:
            let data = try IsochronousDataPacket(decoding: packet.contents)
            IsochronousDataPacket.encodeHeader(
                into: &again, handle: data.connectionHandle, boundary: data.boundary,
                hasTimestamp: data.hasTimestamp, length: data.load.byteCount)
            again.write(bytes: data.load)
        case .command, .event: break
        }
        return again.bytes
    }

    private func readCommand<Command: HCICommand>(
        _ packet: HCICommandPacket, as type: Command.Type, _ vector: Vector
    ) throws(DecodingError) -> [String: VectorField] {
        let command = try packet.decode(type)
        var again = PacketWriter()
        command.encodePacket(into: &again)
        #expect(again.bytes == Self.canonical(vector.bytes, packet), "\(vector.testDescription)")
        return vectorFields(of: command)
    }

    private func readAnswer<Command: HCICommand>(
        _ complete: CommandComplete, of type: Command.Type, _ vector: Vector
    ) throws(DecodingError) -> [String: VectorField] {
        let answer = try complete.decode(type)
        var again = PacketWriter()
        answer.encode(into: &again)
        // A failed answer may be cut behind its status: then it encodes to more.
        #expect(
            again.bytes == complete.returnParameters
                || !answer.status.isSuccess && complete.returnParameters == [answer.status.rawValue],
            "\(vector.testDescription)")
        var fields = vectorFields(of: answer)
        fields["status"] = .number(answer.status.rawValue)
        fields["data"] = .text(hexadecimal(complete.returnParameters))
        return fields
    }

    /// Legacy advertising data stands in a field of 31 octets; what a host leaves behind its end is not kept.
    private static func canonical(_ bytes: [UInt8], _ packet: HCICommandPacket) -> [UInt8] {
        guard packet.opcode == LESetAdvertisingData.opcode || packet.opcode == LESetScanResponseData.opcode else {
            return bytes
        }
        guard let count = packet.parameters.first, packet.parameters.count == 32, count <= 31 else { return bytes }
        let end = bytes.count - 31 + Int(count)
        return bytes.prefix(end) + [UInt8](repeating: 0, count: bytes.count - end)
    }
}

/// A value as the vectors state it.
enum VectorField: Equatable, Sendable {
    case integer(Int)
    /// Bytes in hexadecimal.
    case text(String)
    /// Without its type, which stands in a field of its own.
    case address(String)
    case list([VectorField])
    case record([String: VectorField])

    init(json: Any) {
        switch json {
        case let text as String: self = .text(text)
        case let list as [Any]: self = .list(list.map(VectorField.init(json:)))
        case let record as [String: Any]:
            if let address = record["address"] as? String {
                self = .address(address)
            } else {
                self = .record(record.mapValues(VectorField.init(json:)))
            }
        case let number as NSNumber: self = .integer(number.intValue)
        default: self = .text("\(json)")
        }
    }
}
