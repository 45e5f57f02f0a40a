import BLEPackets
import BLESecurity
import Foundation
import Testing

@testable import BLEHost

/// Public vectors of the Security Manager's functions, where their file is at hand; `JELLING_VECTORS` names its folder.
@Suite("Vectors of the Security Manager's functions")
struct SecurityFunctionVectorTests {
    struct File: Decodable { var vectors: [Vector] }

    struct Vector: Decodable, CustomTestStringConvertible, Sendable {
        var function: String
        var inputs: [String: Value]
        var outputs: [String: Value]

        var testDescription: String { function }

        func input(_ name: String) throws -> [UInt8] { try Self.octets(inputs, name) }
        func output(_ name: String) throws -> [UInt8] { try Self.octets(outputs, name) }
        func number(_ name: String) throws -> Int { try #require(inputs[name]?.number, "input \(name) is missing") }
        func flag(_ name: String) throws -> Bool {
            let flag = inputs[name]?.flag ?? outputs[name]?.flag
            return try #require(flag as Bool?, "\(name) is missing")
        }

        private static func octets(_ values: [String: Value], _ name: String) throws -> [UInt8] {
            BLEHostTests.octets(try #require(values[name]?.text, "\(name) is missing"))
        }

        /// An address behind an octet that tells its type.
        func address(_ name: String) throws -> DeviceAddress {
            let octets = try input(name)
            try #require(octets.count == 7 && octets[0] <= 1, "\(name) is no address with its type")
            return Self.address([UInt8](octets.dropFirst()), isRandom: octets[0] == 1)
        }

        static func address(_ octets: [UInt8], isRandom: Bool) -> DeviceAddress {
            DeviceAddress(value: octets.reduce(0) { $0 << 8 | UInt64($1) }, kind: isRandom ? .random : .public)
        }
    }

    struct Value: Decodable, Sendable {
        var text: String?
        var flag: Bool?
        var number: Int?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            text = try? container.decode(String.self)
            flag = try? container.decode(Bool.self)
            number = try? container.decode(Int.self)
        }
    }

    static let file = VectorFile<File>("crypto_vectors.json")

    /// What the tests of the crypto provider look at.
    static let primitives = [
        "aes_cmac", "e", "le_session_key", "gatt_database_hash", "p256_ecdh", "p256_ecdh_own_public",
        "p256_invalid_public_key", "smp_debug_keypair",
    ]
    /// What this stack has no use for: keys of isochronous groups and of coordinated sets.
    static let foreign = ["h8", "csis_sih", "csis_s1", "csis_k1", "csis_sef"]

    static let vectors = (file.readable?.vectors ?? []).filter {
        !primitives.contains($0.function) && !foreign.contains($0.function)
    }

    @Test("the file can be read", .enabled(if: file.isPresent, file.absence))
    func readable() throws { #expect(try Self.file.content.get()?.vectors.isEmpty == false) }

    @Test(
        "a function gives the results that others compute", .enabled(if: file.isPresent, file.absence),
        arguments: vectors)
    func function(vector: Vector) throws {
        switch vector.function {
        case "c1": try expect(try c1(vector), vector.output("out"))
        case "s1":
            try expect(
                .s1(
                    key: vector.input("k"), responderRandom: vector.input("r1"), initiatorRandom: vector.input("r2")),
                vector.output("out"))
        case "f4":
            try expect(
                .f4(
                    vector.input("u"), vector.input("v"), key: vector.input("x"),
                    try #require(vector.input("z").first)),
                vector.output("out"))
        case "f5":
            try expect(
                .f5(
                    vector.input("w"), initiatorNonce: vector.input("n1"), responderNonce: vector.input("n2"),
                    initiator: vector.address("a1"), responder: vector.address("a2")),
                vector.output("mackey") + vector.output("ltk"))
        case "f6": try expect(try f6(vector), vector.output("out"))
        case "g2":
            let function = SecurityFunction.g2(
                try vector.input("u"), try vector.input("v"), key: try vector.input("x"), try vector.input("y"))
            try expect(function, vector.output("out_u32"))
            if let number = vector.outputs["decimal_mod_1000000"]?.number {
                let value = result(of: function)?.reduce(0) { $0 << 8 | Int($1) }
                #expect(value.map { $0 % 1_000_000 } == number)
            }
        case "h6":
            try expect(.h6(vector.input("w"), keyID: vector.input("key_id")), vector.output("out"))
        case "h7": try expect(.h7(salt: vector.input("salt"), vector.input("w")), vector.output("out"))
        case "ah":
            try expect(.ah(key: vector.input("irk"), random: vector.input("prand")), vector.output("hash"))
        case "ltk_to_link_key":
            try expect(.linkKey(from: vector.input("ltk"), usesH7: vector.flag("ct2")), vector.output("link_key"))
        case "link_key_to_ltk":
            try expect(.longTermKey(from: vector.input("link_key"), usesH7: vector.flag("ct2")), vector.output("ltk"))
        case "att_sign": try sign(vector)
        case "att_verify_signed_pdu": try verify(vector)
        case "resolve_rpa": try resolve(vector)
        default: Issue.record("the function \(vector.function) is not known")
        }
    }

    private func result(of function: SecurityFunction) -> [UInt8]? {
        var function = function
        for _ in 0..<4 {
            guard case .octets(let octets) = SwiftCryptoProvider().answer(function.request) else { return nil }
            switch function.receive(octets) {
            case .ask: continue
            case .done(let result): return result
            case .broken: return nil
            }
        }
        return nil
    }

    private func expect(_ function: SecurityFunction, _ expected: [UInt8]) throws {
        #expect(result(of: function) == expected)
    }

    private func c1(_ vector: Vector) throws -> SecurityFunction {
        .c1(
            key: try vector.input("k"), random: try vector.input("r"), request: try vector.input("preq"),
            response: try vector.input("pres"),
            initiator: Vector.address(try vector.input("ia"), isRandom: try vector.number("iat") != 0),
            responder: Vector.address(try vector.input("ra"), isRandom: try vector.number("rat") != 0))
    }

    private func f6(_ vector: Vector) throws -> SecurityFunction {
        let said = try vector.input("io_cap")
        try #require(said.count == 3 && said[1] <= 1, "io_cap is none that a device can say")
        let features = PairingFeatures(
            ioCapability: try #require(IOCapability(rawValue: said[2])), hasOutOfBandData: said[1] == 1,
            authentication: AuthenticationRequirements(rawValue: said[0]), initiatorKeys: [], responderKeys: [])
        return .f6(
            key: try vector.input("w"), try vector.input("n1"), try vector.input("n2"), try vector.input("r"),
            features: features, try vector.address("a1"), try vector.address("a2"))
    }

    private func signature(_ key: [UInt8], _ message: [UInt8], counter: UInt32) -> [UInt8]? {
        result(of: .signature(key: key, message: message, counter: counter)).map { $0.prefix(8).reversed() }
    }

    private func sign(_ vector: Vector) throws {
        let counter = UInt32(truncatingIfNeeded: try vector.number("sign_counter"))
        let code = signature(
            try vector.input("csrk_lsb_first").reversed(), try vector.input("message_wire_order"), counter: counter)
        let octets = (0..<4).map { UInt8(truncatingIfNeeded: counter >> (8 * UInt32($0))) }
        #expect(code.map { octets + $0 } == (try vector.output("signature_wire_order")))
    }

    private func verify(_ vector: Vector) throws {
        let pdu = try vector.input("pdu")
        var isValid = false
        if pdu.count >= 3 + ATTSignedWriteCommand.signatureLength {
            let counter = pdu.dropLast(8).suffix(4).reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
            let message = [UInt8](pdu.dropLast(ATTSignedWriteCommand.signatureLength))
            let code = signature(try vector.input("csrk_lsb_first").reversed(), message, counter: counter)
            isValid = code == [UInt8](pdu.suffix(8))
        }
        #expect(isValid == (try vector.flag("valid")))
    }

    private func resolve(_ vector: Vector) throws {
        let text = try #require(vector.inputs["address"]?.text).filter { $0 != ":" }
        let address = Vector.address(octets(text), isRandom: true)
        let parts = address.resolvableParts
        let hash = result(of: .ah(key: try vector.input("irk"), random: parts.random))
        #expect((address.isResolvablePrivate && hash == parts.hash) == (try vector.flag("resolves")))
    }
}
