import BLEPackets
import Foundation
import Testing

/// The file of the transcripts, where it is at hand; `JELLING_VECTORS` names its folder.
enum Transcripts {
    struct File: Decodable, Sendable {
        var tests: [Loaded]
    }

    /// A transcript, or why it cannot be read: one that is not understood does not take the others with it.
    struct Loaded: Decodable, Sendable, CustomTestStringConvertible {
        var name: String
        var transcript: Result<Transcript, any Error>

        /// Fields whose meaning is not known: what they ask for is not checked.
        var unknownFields: [String]

        private struct Named: Decodable { var name: String? }

        private struct AnyKey: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        /// Where it comes from, and what is said of it.
        private static let remarks: Set = ["note", "source", "recomputedOk"]

        init(from decoder: any Decoder) throws {
            name = (try? Named(from: decoder).name) ?? "without a name"
            transcript = Result { try Transcript(from: decoder) }
            let fields = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
            let known = Transcript.CodingKeys.allCases.map(\.rawValue)
            unknownFields = fields.filter { !known.contains($0) && !Self.remarks.contains($0) }.sorted()
        }

        var testDescription: String { name }
    }

    static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    static let file = VectorFile<File>("smp_pairing.json", decoder: decoder)
    static var all: [Loaded] { file.readable?.tests ?? [] }

    /// `Fixtures/pairing-transcripts.json`, which `Tools/Vectors/pairing_transcripts.py` makes.
    static let own: [Loaded] = {
        let path = VectorFile<File>.package.appendingPathComponent("Fixtures/pairing-transcripts.json")
        return (try? decoder.decode(File.self, from: Data(contentsOf: path)).tests) ?? []
    }()
}

/// What two sides of a pairing said, and what came of it.
struct Transcript: Decodable, Sendable {
    enum Side: String, Decodable { case initiator, responder }

    enum Pairing: String, Decodable {
        case legacy
        case secureConnections = "secure_connections"
    }

    enum Method: String, Decodable {
        case justWorks = "just_works"
        case passkey
        case numericComparison = "numeric_comparison"
        case outOfBand = "out_of_band"
        case oob
    }

    /// What the user of this side has to do.
    enum InputOutput: String, Decodable {
        case none, display, input, oob
        case numericComparison = "numeric_comparison"
    }

    struct Address: Decodable {
        var type: UInt8
        var bytesLsbFirst: String
    }

    struct Message: Decodable {
        var from: Side
        var pdu: String

        var octets: [UInt8] { BLEHostTests.octets(pdu) }
    }

    struct Expected: Decodable {
        var stkLsbFirst: String?
        var ltkLsbFirst: String?
        var authenticated: Bool?
        var dhkeyMsbFirst: String?
        var mackeyMsbFirst: String?
    }

    /// A reason, as its number in any form, or in words that leave it open.
    struct Failure: Decodable {
        var reason: UInt8?

        private enum Key: String, CodingKey { case pairingFailed }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            if let number = try? container.decode(UInt8.self, forKey: .pairingFailed) {
                reason = number
            } else if let text = try container.decodeIfPresent(String.self, forKey: .pairingFailed) {
                let digits = text.hasPrefix("0x") ? text.dropFirst(2) : text[...]
                reason = UInt8(digits, radix: 16) ?? Self.reason(named: text)
                guard reason != nil || text.hasPrefix("any") else {
                    throw Swift.DecodingError.dataCorruptedError(
                        forKey: .pairingFailed, in: container, debugDescription: "‘\(text)’ is no reason")
                }
            }
        }

        /// Whatever stands between its words.
        private static func reason(named text: String) -> UInt8? {
            func letters(_ text: String) -> String { text.lowercased().filter(\.isLetter) }
            return (1...16).first { letters(PairingFailedReason(rawValue: $0).description) == letters(text) }
        }
    }

    /// What one side of Secure Connections told out of band.
    struct OutOfBand: Decodable {
        var randomLsbFirst: String
        var confirmLsbFirst: String?
    }

    struct Keys: Decodable, Equatable {
        var encryptionInformation: String?
        var centralIdentification: String?
        var identityInformation: String?
        var identityAddressInformation: String?
        var signingInformation: String?

        /// In the order in which they are sent.
        var pdus: [[UInt8]] {
            [
                encryptionInformation, centralIdentification, identityInformation, identityAddressInformation,
                signingInformation,
            ].compactMap { $0.map(octets) }
        }
    }

    struct KeyDistribution: Decodable {
        var initiatorSends: Keys?
        var responderSends: Keys?
    }

    var name: String
    var pairing: Pairing
    var localRole: Side
    var method: Method?
    var localIoAction: InputOutput?
    var passkey: UInt32?
    var oobTkLsbFirst: String?
    var localOob: OutOfBand?
    var peerOob: OutOfBand?
    var numericComparisonValue: UInt32?
    var initiatorAddress: Address
    var responderAddress: Address
    var initiatorIdentityLsbFirst: String?
    var responderIdentityLsbFirst: String?
    var localPrivateKeyLsbFirst: String?
    var smpPdusPhase12: [Message]
    var keyDistributionPdus: KeyDistribution?
    var expected: Expected
    var expectedFailure: Failure?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case name, pairing, localRole, method, localIoAction, passkey, oobTkLsbFirst, localOob, peerOob
        case numericComparisonValue, initiatorAddress, responderAddress, initiatorIdentityLsbFirst
        case responderIdentityLsbFirst, localPrivateKeyLsbFirst, smpPdusPhase12, keyDistributionPdus, expected
        case expectedFailure
    }

    var isInitiator: Bool { localRole == .initiator }

    func pdus(local: Bool) -> [[UInt8]] {
        smpPdusPhase12.filter { ($0.from == localRole) == local }.map(\.octets)
    }

    /// The reason that this side gives; `nil` where it is left open or the peer gives one.
    var localReason: UInt8? {
        let last = smpPdusPhase12.last
        let isPeers = last?.octets.first == 0x05 && last?.from != localRole
        return isPeers ? nil : expectedFailure?.reason
    }

    /// The features of one side: Pairing Request or Pairing Response.
    func features(local: Bool) -> [UInt8]? {
        pdus(local: local).first { ($0.first == 0x01 || $0.first == 0x02) && $0.count == 7 }
    }

    /// The keys that each side gives: names of the file may stand for the other side, so that what was agreed on
    /// decides, and where that fits both ways the identity does. `nil` where they fit nothing.
    var keys: (local: Keys, peer: Keys)? {
        guard let response = features(local: !isInitiator) else { return nil }
        let labelled = (
            initiator: keyDistributionPdus?.initiatorSends ?? Keys(),
            responder: keyDistributionPdus?.responderSends ?? Keys()
        )
        let swapped = (initiator: labelled.responder, responder: labelled.initiator)
        let fitting = [labelled, swapped].filter {
            fits($0.initiator, response[5]) && fits($0.responder, response[6])
        }
        let local = isInitiator ? initiatorIdentityLsbFirst : responderIdentityLsbFirst
        let sides: [(local: Keys, peer: Keys)] = fitting.map {
            isInitiator ? (local: $0.initiator, peer: $0.responder) : (local: $0.responder, peer: $0.initiator)
        }
        return sides.first {
            if let local { $0.local.identityAddressInformation?.hasSuffix(local) ?? false } else { false }
        } ?? sides.first
    }

    private func fits(_ keys: Keys, _ agreed: UInt8) -> Bool {
        let isLegacy = pairing == .legacy
        return (keys.encryptionInformation != nil) == (isLegacy && agreed & 1 != 0)
            && (keys.centralIdentification != nil) == (isLegacy && agreed & 1 != 0)
            && (keys.identityInformation != nil) == (agreed & 2 != 0)
            && (keys.identityAddressInformation != nil) == (agreed & 2 != 0)
            && (keys.signingInformation != nil) == (agreed & 4 != 0)
    }
}

func octets(_ text: String) -> [UInt8] {
    let digits = Array(text.utf8)
    return stride(from: 0, to: digits.count - 1, by: 2).map { index in
        UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) ?? 0
    }
}
