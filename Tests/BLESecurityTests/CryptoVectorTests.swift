import BLEHost
import BLEPackets
import BLESecurity
import Foundation
import Testing

/// Public vectors of the primitives, where their file is at hand; `JELLING_VECTORS` names its folder.
@Suite("Vectors of cryptography")
struct CryptoVectorTests {
    struct File: Decodable { var vectors: [Vector] }

    struct Vector: Decodable, CustomTestStringConvertible, Sendable {
        var function: String
        var inputs: [String: Value]
        var outputs: [String: Value]

        var testDescription: String { function + " " + (inputs["m"]?.text ?? inputs["address"]?.text ?? "") }

        func input(_ name: String) -> [UInt8] { octets(inputs[name]?.text ?? "") }
        func output(_ name: String) -> [UInt8] { octets(outputs[name]?.text ?? "") }
    }

    /// A text, or another JSON value.
    struct Value: Decodable, Sendable {
        var text: String?
        var flag: Bool?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            text = try? container.decode(String.self)
            flag = try? container.decode(Bool.self)
        }
    }

    static let path: String = {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let given = ProcessInfo.processInfo.environment["JELLING_VECTORS"] ?? ""
        let beside = package.deletingLastPathComponent().appendingPathComponent("shared/vectors").path
        let folder = given.isEmpty ? beside : given
        return folder + "/crypto_vectors.json"
    }()

    static let isPresent = FileManager.default.fileExists(atPath: path)
    static let absence: Comment = "crypto_vectors.json is missing: set JELLING_VECTORS to the folder of the vectors"

    static let vectors: Result<[Vector], any Error> = Result {
        guard isPresent else { return [] }
        return try JSONDecoder().decode(File.self, from: Data(contentsOf: URL(fileURLWithPath: path))).vectors
    }

    static func vectors(of functions: String...) -> [Vector] {
        (try? vectors.get())?.filter { functions.contains($0.function) } ?? []
    }

    let cryptoProvider = SwiftCryptoProvider()

    @Test("the file can be read", .enabled(if: isPresent, absence))
    func readable() throws {
        #expect(try !Self.vectors.get().isEmpty)
    }

    @Test(
        "one block and authentication codes", .enabled(if: isPresent, absence),
        arguments: vectors(of: "aes_cmac", "e", "le_session_key", "gatt_database_hash"))
    func symmetric(vector: Vector) {
        switch vector.function {
        case "aes_cmac":
            let request = CryptoRequest.authenticationCode(key: vector.input("k"), message: vector.input("m"))
            #expect(cryptoProvider.answer(request) == .octets(vector.output("mac")))
        case "e":
            let request = CryptoRequest.encrypt(key: vector.input("key"), block: vector.input("plaintext"))
            #expect(cryptoProvider.answer(request) == .octets(vector.output("ciphertext")))
        case "le_session_key":
            let request = CryptoRequest.encrypt(key: vector.input("ltk"), block: vector.input("skd"))
            #expect(cryptoProvider.answer(request) == .octets(vector.output("session_key")))
        default:
            let request = CryptoRequest.authenticationCode(
                key: Array(repeating: 0, count: 16), message: vector.input("m_wire_order"))
            // Whatever the field's name says, the octets stand as the cipher gives them (Core 5.4, Vol 3, Part G,
            // 7.3.1).
            #expect(cryptoProvider.answer(request) == .octets(vector.output("hash_lsb_first")))
        }
    }

    @Test(
        "keys on the curve", .enabled(if: isPresent, absence),
        arguments: vectors(of: "p256_ecdh", "p256_ecdh_own_public", "p256_invalid_public_key", "smp_debug_keypair"))
    func curve(vector: Vector) throws {
        switch vector.function {
        case "p256_ecdh":
            for (own, peer) in [("a", "b"), ("b", "a")] {
                let key = try #require(
                    P256PublicKey(x: vector.input("public_\(peer)_x"), y: vector.input("public_\(peer)_y")))
                let request = CryptoRequest.sharedSecret(
                    privateKey: vector.input("private_\(own)"), peerPublicKey: key)
                #expect(cryptoProvider.answer(request) == .octets(vector.output("dhkey")))
            }
        case "p256_ecdh_own_public":
            let key = try #require(P256PublicKey(x: vector.input("public_x"), y: vector.input("public_y")))
            let request = CryptoRequest.sharedSecret(privateKey: vector.input("private"), peerPublicKey: key)
            #expect(cryptoProvider.answer(request) == .octets(vector.output("dhkey")))
        case "smp_debug_keypair":
            // The two keys belong together when both ways to a secret with another pair lead to the same.
            guard case .keyPair(let otherPrivate, let otherPublic) = cryptoProvider.answer(.generateKeyPair) else {
                Issue.record("no key pair")
                return
            }
            let key = try #require(P256PublicKey(x: vector.output("public_x"), y: vector.output("public_y")))
            let there = cryptoProvider.answer(.sharedSecret(privateKey: otherPrivate, peerPublicKey: key))
            let here = cryptoProvider.answer(
                .sharedSecret(privateKey: vector.input("private"), peerPublicKey: otherPublic))
            guard case .octets = here else {
                Issue.record("no secret")
                return
            }
            #expect(here == there)
        default:
            let key = try #require(P256PublicKey(x: vector.input("public_x"), y: vector.input("public_y")))
            let request = CryptoRequest.sharedSecret(privateKey: Sample.privateA, peerPublicKey: key)
            let isValid = vector.outputs["valid"]?.flag ?? false
            #expect((cryptoProvider.answer(request) != .failure(.invalidPublicKey)) == isValid)
        }
    }
}
