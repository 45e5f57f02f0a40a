import BLEPackets
import BLESecurity
import Testing

@testable import BLEHost

/// Plays one side of a transcript against the machine that has the other, PDU by PDU in the transcript's order.
final class TranscriptPlayer {
    private let transcript: Transcript
    private let keys: (local: Transcript.Keys, peer: Transcript.Keys)?
    private var machine: PairingMachine
    private var hasStarted = false
    private var nonces: [[UInt8]]
    /// Whether a random value was drawn that the transcript does not show, because the pairing failed before: then the
    /// confirm value that it led to cannot be the same.
    private var isNonceUnknown = false
    private var keyPair: (privateKey: [UInt8], publicKey: P256PublicKey)?
    private var displayed: [UInt32] = []
    private var compared: [UInt32] = []
    private var typed = 0
    /// The Diffie-Hellman key that the crypto provider computed, and the key of the check values.
    private var secret: [UInt8]?
    private var macKey: [UInt8]?
    private var failure: SecurityFailure?
    private var outcome: PairingOutcome?
    private var sent: [[UInt8]] = []
    /// Confirm values of the transcript in whose place this stack said others: a peer may throw one back.
    private var replaced: [[UInt8]: [UInt8]] = [:]

    init(_ transcript: Transcript) throws {
        self.transcript = transcript
        keys = transcript.keys
        let options = Self.options(transcript)
        let publicKey = transcript.pdus(local: true).first { $0.first == 0x0C && $0.count == 65 }
        if let secret = transcript.localPrivateKeyLsbFirst, let pdu = publicKey {
            keyPair = (
                privateKey: [UInt8](octets(secret).reversed()),
                publicKey: try #require(P256PublicKey(octets: [UInt8](pdu.dropFirst())))
            )
        } else if publicKey != nil {
            Issue.record("the private key is missing")
        }
        nonces = transcript.pdus(local: true).filter { $0.first == 0x04 }.map { [UInt8]($0.dropFirst().reversed()) }
        machine = PairingMachine(
            PairingMachine.Setup(
                role: transcript.isInitiator ? .initiator : .responder, options: options,
                initiatorAddress: try Self.address(transcript.initiatorAddress),
                responderAddress: try Self.address(transcript.responderAddress),
                localIdentity: try Self.identity(transcript, keys?.local),
                outOfBand: Self.outOfBand(transcript, keyPair)))
    }

    // MARK: What the machine is given

    /// Its own features are what the other stack said in its place.
    private static func options(_ transcript: Transcript) -> PairingOptions {
        var options = PairingOptions()
        if transcript.localIoAction != .input { options.passkey = transcript.passkey }
        guard let own = transcript.features(local: true), let capability = IOCapability(rawValue: own[1]) else {
            return options
        }
        let requirements = AuthenticationRequirements(rawValue: own[3])
        options.ioCapability = capability
        options.isBonding = requirements.isBonding
        // Whether protection is required shows in what fails without it.
        let reason = transcript.localReason
        options.requiresAuthentication =
            requirements.contains(.mitm) && reason == PairingFailedReason.authenticationRequirements.rawValue
        options.prefersAuthentication = requirements.contains(.mitm)
        options.allowsSecureConnections = requirements.contains(.secureConnections)
        options.maximumKeySize = own[4]
        options.minimumKeySize = reason == PairingFailedReason.encryptionKeySize.rawValue ? own[4] : 7
        options.initiatorKeys = KeyDistribution(rawValue: own[5])
        options.responderKeys = KeyDistribution(rawValue: own[6])
        return options
    }

    private static func address(_ address: Transcript.Address) throws -> DeviceAddress {
        // Types 2 and 3 say that a controller has resolved a private address; on the air it is a random one.
        try #require(address.type <= 3, "an address of type \(address.type)")
        return try Self.address(octets(address.bytesLsbFirst), isRandom: address.type != 0)
    }

    private static func address(_ octets: [UInt8], isRandom: Bool) throws -> DeviceAddress {
        var reader = PacketReader(octets.span.bytes)
        return try DeviceAddress(decoding: &reader, kind: isRandom ? .random : .public)
    }

    private static func identity(_ transcript: Transcript, _ keys: Transcript.Keys?) throws -> LocalIdentity {
        if let key = keys?.identityInformation, let address = keys?.identityAddressInformation {
            let pdu = octets(address)
            try #require(pdu.count == 8)
            return LocalIdentity(
                address: try Self.address([UInt8](pdu[2...]), isRandom: pdu[1] != 0),
                resolvingKey: try #require(Key128(leastSignificantFirst: [UInt8](octets(key).dropFirst()))))
        }
        return LocalIdentity(
            address: try address(transcript.isInitiator ? transcript.initiatorAddress : transcript.responderAddress),
            resolvingKey: Key128(rawValue: 1))
    }

    private static func outOfBand(
        _ transcript: Transcript, _ keyPair: (privateKey: [UInt8], publicKey: P256PublicKey)?
    ) -> OutOfBandData? {
        func key(_ text: String?) -> Key128? { text.flatMap { Key128(leastSignificantFirst: octets($0)) } }
        // The flag alone, where the other side has none: the key is there and of no use.
        let hasFlag = transcript.features(local: true)?[2] == 1
        let unused = hasFlag && transcript.pairing == .legacy ? Key128.zero : nil
        guard transcript.localOob != nil || transcript.peerOob != nil || transcript.oobTkLsbFirst != nil || hasFlag
        else { return nil }
        var data = OutOfBandData(temporaryKey: key(transcript.oobTkLsbFirst) ?? unused)
        if let peer = transcript.peerOob, let random = key(peer.randomLsbFirst),
            let confirm = key(peer.confirmLsbFirst)
        {
            data.peer = .init(random: random, confirm: confirm)
        }
        if let random = key(transcript.localOob?.randomLsbFirst), let keyPair {
            data.local = LocalOutOfBandData(
                random: random, confirm: .zero, privateKey: keyPair.privateKey, publicKey: keyPair.publicKey)
        }
        return data
    }

    // MARK: Playing

    func play() throws {
        for message in transcript.smpPdusPhase12 {
            let pdu = message.octets
            let isLocal = message.from == transcript.localRole
            if pdu.first == SMPOpcode.securityRequest.rawValue, !hasStarted {
                // It comes before the machine, which a Pairing Request begins.
                #expect((message.from == .responder), "a Security Request of the initiator")
                continue
            }
            if !hasStarted, transcript.isInitiator { machine.start(at: .zero) }
            hasStarted = true
            drain()
            if isLocal {
                guard expectSent(pdu) else { return }
            } else {
                #expect(sent.isEmpty, "said too early: \(sent.map(text))")
                let heard = replaced[pdu] ?? pdu
                machine.receive(heard.span.bytes, at: .zero)
                drain()
            }
        }
        if let expected = transcript.expectedFailure { return checkFailure(expected) }
        #expect(failure == nil)
        #expect(sent.isEmpty, "said too much: \(sent.map(text))")
        try #require(machine.awaitsEncryption, "the transcript ends before the key is known")
        checkKey()
        checkMethod()
        playDistribution()
    }

    /// - Returns: whether the transcript can go on.
    private func expectSent(_ pdu: [UInt8]) -> Bool {
        guard !sent.isEmpty else {
            Issue.record("nothing said instead of \(text(pdu)); failure: \(String(describing: failure))")
            return false
        }
        let own = sent.removeFirst()
        if isNonceUnknown, pdu.first == SMPOpcode.pairingConfirm.rawValue {
            #expect(own.first == pdu.first)
            replaced[pdu] = own
        } else if own != pdu {
            Issue.record("said \(text(own)) instead of \(text(pdu))")
            return false
        }
        return true
    }

    /// The last word is that of the side that gives up; a transcript of ours may leave it out.
    private func checkFailure(_ expected: Transcript.Failure) {
        let spoken = transcript.smpPdusPhase12.last.map(\.octets).flatMap { $0.first == 0x05 ? $0 : nil }
        if spoken != nil, transcript.smpPdusPhase12.last?.from != transcript.localRole {
            guard case .refusedByPeer(let reason)? = failure else {
                Issue.record("the peer's refusal was not heard: \(String(describing: failure))")
                return
            }
            if let code = expected.reason { #expect(reason.rawValue == code) }
        } else {
            guard case .refusedByUs(let reason)? = failure else {
                Issue.record("pairing should have failed here, not: \(String(describing: failure))")
                return
            }
            if let code = expected.reason { #expect(reason.rawValue == code) }
            if spoken == nil { #expect(sent == [[0x05, reason.rawValue]]) }
        }
    }

    private func checkKey() {
        let properties = machine.awaitedKey?.properties
        #expect(properties?.isSecureConnections == (transcript.pairing == .secureConnections))
        let expected = transcript.expected
        if let key = expected.ltkLsbFirst ?? expected.stkLsbFirst {
            #expect(machine.awaitedKey?.key == Key128(leastSignificantFirst: octets(key)))
        }
        if let secret = expected.dhkeyMsbFirst { #expect(self.secret == octets(secret)) }
        if let key = expected.mackeyMsbFirst { #expect(macKey == octets(key)) }
        if let isAuthenticated = expected.authenticated { #expect(properties?.isAuthenticated == isAuthenticated) }
    }

    private func checkMethod() {
        switch transcript.method {
        case .justWorks?: #expect(machine.model == .justWorks)
        case .passkey?: #expect(machine.model?.isPasskey == true)
        case .numericComparison?: #expect(machine.model == .numericComparison)
        case .outOfBand?, .oob?: #expect(machine.model == .outOfBand)
        case nil: break
        }
        switch transcript.localIoAction {
        case .display?:
            #expect(displayed == transcript.passkey.map { [$0] })
            #expect(typed == 0)
        case .input?:
            #expect(displayed.isEmpty)
            #expect(typed == 1)
        case .some(.none), .oob?, .numericComparison?: #expect(displayed.isEmpty && typed == 0)
        case nil: break
        }
        #expect(compared == transcript.numericComparisonValue.map { [$0] } ?? [])
    }

    // MARK: Keys

    private func playDistribution() {
        guard let keys else {
            if transcript.keyDistributionPdus != nil {
                Issue.record("the keys are not those that were agreed on", severity: .warning)
            }
            return
        }
        machine.encryptionChanged(to: true, at: .zero)
        drain()
        for pdu in keys.peer.pdus {
            machine.receive(pdu.span.bytes, at: .zero)
            drain()
        }
        var expected = keys.local.pdus
        for index in expected.indices where expected[index].first == SMPOpcode.centralIdentification.rawValue {
            expected[index][3] |= 1  // This stack's random numbers are never zero.
        }
        #expect(sent == expected)
        guard let outcome else {
            Issue.record("keys are missing: \(String(describing: failure))")
            return
        }
        func key(_ text: String?) -> Key128? {
            text.flatMap { Key128(leastSignificantFirst: [UInt8](octets($0).dropFirst())) }
        }
        #expect(outcome.identityResolvingKey == key(keys.peer.identityInformation))
        #expect(outcome.peerSigningKey?.key == key(keys.peer.signingInformation))
        if transcript.pairing == .legacy {
            #expect(outcome.peerKey?.key == key(keys.peer.encryptionInformation))
        }
    }

    private func distributed(_ count: Int) -> [UInt8]? {
        guard let keys = keys?.local, count == 42 else { return nil }
        func contents(_ text: String?, _ count: Int) -> [UInt8] {
            text.map { [UInt8](octets($0).dropFirst()) } ?? [UInt8](repeating: 0, count: count)
        }
        let numbers = contents(keys.centralIdentification, 10)
        return contents(keys.encryptionInformation, 16).reversed() + numbers.prefix(2).reversed()
            + numbers.dropFirst(2).reversed() + contents(keys.signingInformation, 16).reversed()
    }

    // MARK: What the machine wants

    private func drain() {
        while let action = machine.nextAction() {
            switch action {
            case .send(let packet): sent.append(packet.encoded())
            case .ask(let request): machine.cryptoAnswered(answer(request), at: .zero)
            case .display(let number): displayed.append(number)
            case .question(let question): machine.userAnswered(answer(question), at: .zero)
            case .encrypt: break
            case .finished(let outcome): self.outcome = outcome
            case .failed(let reason): failure = reason
            }
        }
    }

    private func answer(_ question: PairingQuestion.Kind) -> PairingAnswer {
        let reason = transcript.localReason
        switch question {
        case .compare(let number):
            compared.append(number)
            return .confirm(reason != PairingFailedReason.numericComparisonFailed.rawValue)
        case .enterPasskey:
            typed += 1
            guard reason != PairingFailedReason.passkeyEntryFailed.rawValue, let passkey = transcript.passkey else {
                return .cancel
            }
            return .passkey(passkey)
        case .consent, .replaceBond: return .confirm(true)
        }
    }

    private func answer(_ request: CryptoRequest) -> CryptoResult {
        switch request {
        case .random(16):
            guard nonces.isEmpty else { return .octets(nonces.removeFirst()) }
            isNonceUnknown = true
        case .random(let count): if let octets = distributed(count) { return .octets(octets) }
        case .generateKeyPair:
            if let keyPair { return .keyPair(privateKey: keyPair.privateKey, publicKey: keyPair.publicKey) }
        // The function f6 takes two nonces, a secret, the features and two addresses.
        case .authenticationCode(let key, let message): if message.count == 3 * 16 + 3 + 14 { macKey = key }
        case .sharedSecret:
            if case .octets(let octets) = SwiftCryptoProvider().answer(request) { secret = octets }
        case .encrypt: break
        }
        return SwiftCryptoProvider().answer(request)
    }

    private func text(_ octets: [UInt8]) -> String {
        octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
