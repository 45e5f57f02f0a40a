import BLEPackets
import BLESecurity
import Foundation
import Testing

@testable import BLEHost

/// Pairings of another stack: given its keys and nonces, this one says the same, octet for octet.
@Suite struct PairingTranscriptTests {
    @Test(
        "Transcripts of other stacks are repeated octet for octet",
        .enabled(if: Transcripts.file.isPresent, Transcripts.file.absence),
        arguments: Transcripts.all)
    func transcript(_ transcript: Transcript) throws {
        let player = try TranscriptPlayer(transcript)
        player.play()
    }

    @Test("The file can be read", .enabled(if: Transcripts.file.isPresent, Transcripts.file.absence))
    func readable() throws {
        #expect(try Transcripts.file.content.get()?.tests.isEmpty == false)
    }

    /// The same facts without the file: a responder's Just Works over Secure Connections.
    @Test("A responder's Just Works is repeated octet for octet")
    func builtIn() throws {
        let text = """
            {"name":"responder, just works","pairing":"secure_connections","local_role":"responder","method":"just_works",
            "initiator_address":{"type":0,"bytes_lsb_first":"ca61a06794e0"},
            "responder_address":{"type":0,"bytes_lsb_first":"33221100450a"},
            "local_private_key_lsb_first":"548d20b8970bbc439aad106f6074d46a55c17a178b60e0b45ae658f1ea12d9fb",
            "smp_pdus_phase1_2":[{"from":"initiator","pdu":"01030009100d0f"},{"from":"responder","pdu":"02030009100507"},
            {"from":"initiator","pdu":"0cbcf2d8a5dba3956c99f9110d4d2ef0bdee9b69b6cd8874be40e8e5ccdc884453bfa9820e187a14f877\
            fd8e922af85d39d16d921f387499dc6c2c9423f97256ab"},
            {"from":"responder","pdu":"0c728cd188d7be49b2c55c95b364e01232b6c9476337385b9c1e1b1a0609e23185193a296962d630e7e8\
            4863dc00730a707d2e29cc917771b175b8f7dcb0e29110"},
            {"from":"responder","pdu":"0382edd062913d967f13c50d022b5e4316"},
            {"from":"initiator","pdu":"04a4345fb3af734364cd191b5b87583166"},
            {"from":"responder","pdu":"04c091fbb377a2020bc6cd6c0451454539"},
            {"from":"initiator","pdu":"0d82651d02ed891344041a147c329a1e7d"},
            {"from":"responder","pdu":"0d063c284ae5484b51654e145e2fddfa22"}],
            "expected":{"ltk_lsb_first":"63598a14094b946effae5e538602a36c","authenticated":false}}
            """
        let transcript = try Transcripts.decoder.decode(Transcript.self, from: Data(text.utf8))
        try TranscriptPlayer(transcript).play()
    }
}

enum Transcripts {
    struct File: Decodable, Sendable {
        var tests: [Transcript]
    }

    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    static let file = VectorFile<File>("smp_pairing.json", decoder: decoder)
    static var all: [Transcript] { file.readable?.tests ?? [] }
}

struct Transcript: Decodable, Sendable, CustomTestStringConvertible {
    struct Address: Decodable {
        var type: UInt8
        var bytesLsbFirst: String
    }

    struct Message: Decodable {
        var from: String
        var pdu: String
    }

    struct Expected: Decodable {
        var stkLsbFirst: String?
        var ltkLsbFirst: String?
        var authenticated: Bool?
    }

    struct Failure: Decodable {
        var pairingFailed: String?
    }

    /// What the peer of Secure Connections told out of band.
    struct OutOfBand: Decodable {
        var randomLsbFirst: String
        var confirmLsbFirst: String?
    }

    var name: String
    var pairing: String
    var localRole: String
    var passkey: UInt32?
    var oobTkLsbFirst: String?
    var localOob: OutOfBand?
    var peerOob: OutOfBand?
    var numericComparisonValue: UInt32?
    var initiatorAddress: Address
    var responderAddress: Address
    var localPrivateKeyLsbFirst: String?
    var smpPdusPhase12: [Message]
    var expected: Expected
    var expectedFailure: Failure?

    var testDescription: String { name }
    var isInitiator: Bool { localRole == "initiator" }

    func pdus(local: Bool) -> [[UInt8]] {
        smpPdusPhase12.filter { ($0.from == localRole) == local }.map { octets($0.pdu) }
    }
}

func octets(_ text: String) -> [UInt8] {
    let digits = Array(text.utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).map { index in
        UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) ?? 0
    }
}

/// Plays one side of a transcript against the machine that has the other.
final class TranscriptPlayer {
    private let transcript: Transcript
    private var machine: PairingMachine
    private var nonces: [[UInt8]]
    private var keyPair: (privateKey: [UInt8], publicKey: BLEHost.P256PublicKey)?
    private var displayed: [UInt32] = []
    private var compared: [UInt32] = []
    private var failure: SecurityFailure?
    private var sent: [[UInt8]] = []
    private var key: Key128?

    init(_ transcript: Transcript) throws {
        self.transcript = transcript
        func address(_ address: Transcript.Address) throws -> DeviceAddress {
            var packet = PacketWriter()
            packet.write(bytes: octets(address.bytesLsbFirst))
            let bytes = packet.bytes
            var reader = PacketReader(bytes.span.bytes)
            return try DeviceAddress(decoding: &reader, kind: address.type == 0 ? .public : .random)
        }
        // Its own features are what the other stack said in its place.
        let own = try #require(transcript.pdus(local: true).first)
        var options = PairingOptions()
        options.ioCapability = try #require(IOCapability(rawValue: own[1]))
        let requirements = AuthenticationRequirements(rawValue: own[3])
        options.isBonding = requirements.isBonding
        options.requiresAuthentication = requirements.contains(.mitm)
        options.allowsSecureConnections = requirements.contains(.secureConnections)
        options.maximumKeySize = own[4]
        options.initiatorKeys = KeyDistribution(rawValue: own[5])
        options.responderKeys = KeyDistribution(rawValue: own[6])
        options.passkey = transcript.passkey
        func key(_ text: String?) -> Key128? { text.flatMap { Key128(leastSignificantFirst: octets($0)) } }
        var outOfBand: OutOfBandData?
        if own[2] == 1 || transcript.localOob != nil || transcript.oobTkLsbFirst != nil {
            var data = OutOfBandData(temporaryKey: key(transcript.oobTkLsbFirst))
            if let peer = transcript.peerOob, let random = key(peer.randomLsbFirst),
                let confirm = key(peer.confirmLsbFirst)
            {
                data.peer = .init(random: random, confirm: confirm)
            }
            outOfBand = data
        }
        let publicKeys = transcript.pdus(local: true).filter { $0[0] == 0x0C }
        if let secret = transcript.localPrivateKeyLsbFirst, let pdu = publicKeys.first {
            let publicKey = BLEHost.P256PublicKey(
                x: [UInt8](pdu[1..<33].reversed()), y: [UInt8](pdu[33..<65].reversed()))
            let pair = (privateKey: [UInt8](octets(secret).reversed()), publicKey: publicKey)
            keyPair = pair
            if let local = transcript.localOob, let random = key(local.randomLsbFirst) {
                outOfBand?.local = LocalOutOfBandData(
                    random: random, confirm: .zero, privateKey: pair.privateKey, publicKey: publicKey)
            }
        }
        nonces = transcript.pdus(local: true).filter { $0[0] == 0x04 }.map { [UInt8]($0.dropFirst().reversed()) }
        machine = PairingMachine(
            PairingMachine.Setup(
                role: transcript.isInitiator ? .initiator : .responder, options: options,
                initiatorAddress: try address(transcript.initiatorAddress),
                responderAddress: try address(transcript.responderAddress),
                localIdentity: LocalIdentity(
                    address: try address(
                        transcript.isInitiator ? transcript.initiatorAddress : transcript.responderAddress),
                    resolvingKey: Key128(rawValue: 1)),
                outOfBand: outOfBand))
    }

    func play() {
        machine.start(at: .zero)
        drain()
        for pdu in transcript.pdus(local: false) {
            machine.receive(pdu.span.bytes, at: .zero)
            drain()
        }
        if transcript.expectedFailure != nil {
            guard case .refusedByUs? = failure else {
                Issue.record("pairing should have failed here, not: \(String(describing: failure))")
                return
            }
            return
        }
        #expect(failure == nil)
        #expect(sent == transcript.pdus(local: true))
        #expect(machine.awaitsEncryption)
        #expect(machine.isSecureConnections == (transcript.pairing == "secure_connections"))
        if let expected = transcript.expected.ltkLsbFirst ?? transcript.expected.stkLsbFirst {
            #expect(key == Key128(leastSignificantFirst: octets(expected)))
        }
        if let isAuthenticated = transcript.expected.authenticated {
            #expect(machine.isAuthenticated == isAuthenticated)
        }
        if let number = transcript.numericComparisonValue { #expect(compared == [number]) }
    }

    private func drain() {
        while let action = machine.nextAction() {
            switch action {
            case .send(let packet): sent.append(packet.encoded())
            case .ask(let request): machine.toolboxAnswered(answer(request), at: .zero)
            case .display(let number): displayed.append(number)
            case .question(.compare(let number)):
                compared.append(number)
                machine.userAnswered(.confirm(true), at: .zero)
            case .question(.enterPasskey): machine.userAnswered(.passkey(transcript.passkey ?? 0), at: .zero)
            case .question(.consent): machine.userAnswered(.confirm(true), at: .zero)
            case .encrypt, .finished: break
            case .failed(let reason): failure = reason
            }
        }
        if machine.awaitsEncryption { key = machine.linkKey }
    }

    private func answer(_ request: ToolboxRequest) -> ToolboxResult {
        switch request {
        case .random(16) where !nonces.isEmpty: return .octets(nonces.removeFirst())
        case .generateKeyPair:
            guard let keyPair else { return .failure(.unavailable) }
            return .keyPair(privateKey: keyPair.privateKey, publicKey: keyPair.publicKey)
        default: return CryptoToolbox().answer(request)
        }
    }
}
