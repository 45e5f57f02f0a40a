import BLEPackets
import Testing

@testable import BLEHost

/// What two machines agree on when nobody interferes.
@Suite struct PairingMachineTests {
    @Test("Both sides end with the same keys, each in its place", arguments: PairingCase.all)
    func sameKeys(_ way: PairingCase) throws {
        let two = way.machines().run()
        let initiator = try #require(two.outcome(.initiator), "\(String(describing: two.failure(.initiator)))")
        let responder = try #require(two.outcome(.responder), "\(String(describing: two.failure(.responder)))")
        #expect(initiator.localKey == responder.peerKey)
        #expect(initiator.peerKey == responder.localKey)
        #expect(initiator.localKey != nil && initiator.peerKey != nil)
        #expect(initiator.localSigningKey == responder.peerSigningKey)
        #expect(initiator.peerSigningKey == responder.localSigningKey)
        #expect(initiator.identityResolvingKey == Key128(rawValue: 0x2222))
        #expect(responder.identityResolvingKey == Key128(rawValue: 0x1111))
        #expect(initiator.identity == TwoMachines.responderAddress)
        #expect(responder.identity == TwoMachines.initiatorAddress)
        #expect(initiator.isSecureConnections == responder.isSecureConnections)
        #expect(initiator.isAuthenticated == responder.isAuthenticated)
        #expect(initiator.isBonding && responder.isBonding)
        #expect(initiator.isAuthenticated == !way.testDescription.contains("just works"))
        #expect(initiator.isSecureConnections == !way.testDescription.contains("legacy"))
        if initiator.isSecureConnections {
            #expect(initiator.localKey == initiator.peerKey)
            #expect(initiator.localKey?.randomNumber == 0 && initiator.localKey?.encryptedDiversifier == 0)
        } else {
            #expect(initiator.localKey != initiator.peerKey)
        }
        #expect(two.endCount == 2)
    }

    /// Core 5.4, Vol 3, Part H, table 2.8: for each initiator the responders DisplayOnly, DisplayYesNo, KeyboardOnly,
    /// NoInputNoOutput, KeyboardDisplay. J just works, I shown by the initiator, R shown by the responder, B typed by
    /// both, N numeric comparison.
    @Test("Capabilities lead to the association model of the specification's table", arguments: [false, true])
    func associationModels(isSecureConnections: Bool) {
        let letters: [Character: AssociationModel] = [
            "J": .justWorks, "I": .passkeyShownByInitiator, "R": .passkeyShownByResponder, "B": .passkeyTypedByBoth,
            "N": .numericComparison,
        ]
        let table: [(IOCapability, String, String)] = [
            (.displayOnly, "JJIJI", "JJIJI"), (.displayYesNo, "JJIJI", "JNIJN"), (.keyboardOnly, "RRBJR", "RRBJR"),
            (.noInputNoOutput, "JJJJJ", "JJJJJ"), (.keyboardDisplay, "RRIJI", "RNIJN"),
        ]
        for (initiator, legacy, secure) in table {
            for (responder, letter) in zip(IOCapability.allCases, isSecureConnections ? secure : legacy) {
                let model = AssociationModel(
                    initiator: features(initiator, .mitm), responder: features(responder, []),
                    isSecureConnections: isSecureConnections)
                #expect(model == letters[letter], "\(initiator) and \(responder)")
                let unprotected = AssociationModel(
                    initiator: features(initiator, []), responder: features(responder, []),
                    isSecureConnections: isSecureConnections)
                #expect(unprotected == .justWorks)
            }
        }
    }

    private func features(_ capability: IOCapability, _ requirements: AuthenticationRequirements) -> PairingFeatures {
        PairingFeatures(
            ioCapability: capability, authentication: requirements, initiatorKeys: [], responderKeys: [])
    }

    @Test("A displayed passkey has at most six digits and differs from pairing to pairing")
    func passkeys() {
        var seen: Set<UInt32> = []
        for _ in 0..<20 {
            let two = PairingCase.passkeyShownByInitiator.machines().run()
            #expect(two.displayed.count == 1)
            seen.formUnion(two.displayed)
        }
        #expect(seen.count > 10)
        #expect(seen.allSatisfy { $0 <= 999_999 })
    }

    @Test("Both users see the same number to compare")
    func comparison() {
        let two = PairingCase.numericComparison.machines().run()
        #expect(two.compared.count == 2)
        #expect(Set(two.compared).count == 1)
    }

    @Test("A number that the user rejects ends pairing with Numeric Comparison Failed")
    func denial() {
        let two = PairingCase.numericComparison.machines()
        two.agrees = false
        two.run()
        #expect([two.failure(.initiator), two.failure(.responder)].contains(.refusedByUs(.numericComparisonFailed)))
        #expect(two.outcome(.initiator) == nil && two.outcome(.responder) == nil)
    }

    @Test("A temporary key alone is no use to a peer that pairs by Secure Connections: Out Of Band Not Available")
    func temporaryKeyForSecureConnections() {
        let way = PairingCase(
            testDescription: "", initiator: PairingOptions(), responder: PairingOptions(),
            outOfBand: (OutOfBandData(temporaryKey: Key128(rawValue: 77)), nil))
        let two = way.machines().run()
        #expect(two.failure(.initiator) == .refusedByPeer(.outOfBandNotAvailable))
        #expect(two.failure(.responder) == .refusedByUs(.outOfBandNotAvailable))
    }

    @Test(
        "A peer that claims our out-of-band values is refused if none were made: anyone can set the flag (2.3.5.6.4)",
        arguments: TwoMachines.Side.allCases)
    func claimedOutOfBandValues(side: TwoMachines.Side) {
        let claim = OutOfBandData(peer: .init(random: .zero, confirm: .zero))
        let way = PairingCase(
            testDescription: "", initiator: PairingOptions(), responder: PairingOptions(requiresAuthentication: true),
            outOfBand: side == .initiator ? (claim, nil) : (nil, claim))
        let two = way.machines().run()
        #expect(two.failure(side.other) == .refusedByUs(.outOfBandNotAvailable))
        #expect(two.failure(side) == .refusedByPeer(.outOfBandNotAvailable))
    }

    @Test("A fixed passkey is shown and typed without asking anyone")
    func fixedPasskey() {
        var way = PairingCase.passkeyShownByResponder
        way.initiator.passkey = 4711
        way.responder.passkey = 4711
        let two = way.machines().run()
        #expect(two.displayed == [4711])
        #expect(two.outcome(.initiator) != nil)
    }

    @Test("Keys are as long as the shorter side can, and zero above", arguments: [7, 10, 16] as [UInt8])
    func keySizes(size: UInt8) throws {
        for way in [PairingCase.legacyJustWorks, .justWorks] {
            var way = way
            way.responder.maximumKeySize = size
            (way.initiator.minimumKeySize, way.responder.minimumKeySize) = (7, 7)
            let two = way.machines().run()
            let outcome = try #require(two.outcome(.initiator))
            #expect(outcome.keySize == size)
            for key in [outcome.localKey, outcome.peerKey] {
                let octets = try #require(key).key.mostSignificantOctets
                #expect(octets.prefix(16 - Int(size)).allSatisfy { $0 == 0 })
                #expect(octets.suffix(Int(size)).contains { $0 != 0 })
            }
        }
    }

    @Test("A key shorter than required is refused on either side with Encryption Key Size")
    func shortKeys() {
        var way = PairingCase.justWorks
        // By default nothing short of 16 octets is taken.
        way.responder.maximumKeySize = 15
        way.responder.minimumKeySize = 7
        #expect(way.machines().run().failure(.initiator) == .refusedByUs(.encryptionKeySize))
        way = .justWorks
        way.initiator.maximumKeySize = 15
        way.initiator.minimumKeySize = 7
        #expect(way.machines().run().failure(.responder) == .refusedByUs(.encryptionKeySize))
        way = .justWorks
        way.responder.minimumKeySize = 7
        way.responder.maximumKeySize = 9
        way.initiator.minimumKeySize = 10
        #expect(way.machines().run().failure(.initiator) == .refusedByUs(.encryptionKeySize))
        way = .justWorks
        way.initiator.maximumKeySize = 9
        way.initiator.minimumKeySize = 7
        way.responder.minimumKeySize = 10
        #expect(way.machines().run().failure(.responder) == .refusedByUs(.encryptionKeySize))
        // Secure Connections Only is level 4, whose keys have 128 bits.
        way = .justWorks
        way.initiator.maximumKeySize = 15
        way.responder.requiresSecureConnections = true
        #expect(way.machines().run().failure(.responder) == .refusedByUs(.encryptionKeySize))
    }

    @Test("A legacy peer is refused if Secure Connections is required, on either side")
    func secureConnectionsOnly() {
        var way = PairingCase.justWorks
        way.initiator.requiresSecureConnections = true
        way.responder.allowsSecureConnections = false
        var two = way.machines().run()
        #expect(two.failure(.initiator) == .refusedByUs(.authenticationRequirements))
        #expect(two.failure(.responder) == .refusedByPeer(.authenticationRequirements))
        way = .justWorks
        way.responder.requiresSecureConnections = true
        way.initiator.allowsSecureConnections = false
        two = way.machines().run()
        #expect(two.failure(.responder) == .refusedByUs(.authenticationRequirements))
    }

    @Test("Just Works is refused if protection against a man in the middle is required")
    func mitmDemanded() {
        var way = PairingCase.justWorks
        way.responder.requiresAuthentication = true
        #expect(way.machines().run().failure(.responder) == .refusedByUs(.authenticationRequirements))
    }

    @Test("A pairing weaker than the bond is refused: authentication, Secure Connections, length of the key")
    func noDowngrade() {
        func refusal(_ way: PairingCase, _ bond: Bond) -> SecurityFailure? {
            way.machines(bond: bond).run().failure(.initiator)
        }
        let identity = TwoMachines.responderAddress
        #expect(
            refusal(.justWorks, Bond(identity: identity, isSecureConnections: true, isAuthenticated: true))
                == .refusedByUs(.authenticationRequirements))
        #expect(
            refusal(.legacyPasskey, Bond(identity: identity, isSecureConnections: true, isAuthenticated: true))
                == .refusedByUs(.authenticationRequirements))
        var short = PairingCase.justWorks
        short.responder.maximumKeySize = 8
        (short.initiator.minimumKeySize, short.responder.minimumKeySize) = (7, 7)
        #expect(
            refusal(short, Bond(identity: identity, isSecureConnections: true)) == .refusedByUs(.encryptionKeySize))
        #expect(refusal(.justWorks, Bond(identity: identity)) == nil)
    }

    @Test("Without bonding no key is distributed, and the link is still encrypted")
    func withoutBonding() throws {
        for way in [PairingCase.justWorks, .legacyJustWorks] {
            var way = way
            way.responder.isBonding = false
            let two = way.machines().run()
            let outcome = try #require(two.outcome(.initiator))
            #expect(!outcome.isBonding)
            #expect(outcome.identity == nil && outcome.localSigningKey == nil)
            #expect(two.sent.allSatisfy { !(0x06...0x0A).contains($0.pdu[0]) })
        }
    }

    @Test(
        "Keys that the features name are distributed even if a side keeps none (Core 5.4, Vol 3, Part H, 3.6.1)",
        arguments: PairingCase.all, TwoMachines.Side.allCases)
    func distributionWithoutBonding(way: PairingCase, side: TwoMachines.Side) throws {
        let two = way.machines()
        two.keepsNothing = [side]
        two.run()
        let initiator = try #require(two.outcome(.initiator), "\(String(describing: two.failure(.initiator)))")
        let responder = try #require(two.outcome(.responder), "\(String(describing: two.failure(.responder)))")
        #expect(!initiator.isBonding && !responder.isBonding)
        let keys = two.sent.map(\.pdu[0]).filter { (0x06...0x0A).contains($0) }
        let each: [UInt8] = initiator.isSecureConnections ? [8, 9, 10] : [6, 7, 8, 9, 10]
        #expect(keys == each + each)
        #expect(initiator.identity == TwoMachines.responderAddress)
    }

    @Test("A key of zeros is refused for encryption, and is no key for signatures")
    func zeroKeys() throws {
        for side in TwoMachines.Side.allCases {
            var two = PairingCase.legacyJustWorks.machines()
            two.change = { _, sent in
                sent.from == side && sent.pdu[0] == 6
                    ? [.init(from: side, pdu: [6] + [UInt8](repeating: 0, count: 16))] : [sent]
            }
            two.run()
            #expect(two.failure(side.other) == .refusedByUs(.keyRejected))
            two = PairingCase.justWorks.machines()
            two.change = { _, sent in
                sent.from == side && sent.pdu[0] == 10
                    ? [.init(from: side, pdu: [10] + [UInt8](repeating: 0, count: 16))] : [sent]
            }
            two.run()
            #expect(try #require(two.outcome(side.other)).peerSigningKey == nil)
        }
    }

    @Test("An identity that no device can have, or that is ours, is refused", arguments: TwoMachines.Side.allCases)
    func impossibleIdentities(side: TwoMachines.Side) {
        let ours = side == .initiator ? TwoMachines.responderAddress : TwoMachines.initiatorAddress
        let cases: [(DeviceAddress, PairingFailedReason)] = [
            (DeviceAddress(value: 0, kind: .public), .invalidParameters),
            (DeviceAddress(value: 0xFFFF_FFFF_FFFF, kind: .public), .invalidParameters),
            (DeviceAddress(value: 0xFFFF_FFFF_FFFF, kind: .random), .invalidParameters),
            (DeviceAddress(value: 0xC000_0000_0000, kind: .random), .invalidParameters),
            (DeviceAddress(value: 0x4000_0000_0001, kind: .random), .invalidParameters),
            (DeviceAddress(value: 0x0000_0000_0001, kind: .random), .invalidParameters),
            (DeviceAddress(value: 0x8000_0000_0001, kind: .random), .invalidParameters),
            (ours, .keyRejected),
        ]
        for (identity, reason) in cases {
            let two = PairingCase.justWorks.machines()
            two.change = { _, sent in
                guard sent.from == side, sent.pdu[0] == 9 else { return [sent] }
                return [.init(from: side, pdu: [9, identity.isRandom ? 1 : 0] + identity.octets)]
            }
            two.run()
            #expect(two.failure(side.other) == .refusedByUs(reason), "\(identity)")
        }
    }

    @Test(
        "What a peer says of BR/EDR is ignored: no key for it is awaited, distributed or derived (CT2, link key)")
    func crossTransportClaims() throws {
        var way = PairingCase.justWorks
        way.responder.initiatorKeys = .all
        way.responder.responderKeys = .all
        let request: [UInt8] = [1, 3, 0, 0x01 | 0x08 | 0x20, 16, 0x0F, 0x0F]
        var machine = PairingMachine(
            PairingMachine.Setup(
                role: .responder, options: way.responder, initiatorAddress: TwoMachines.initiatorAddress,
                responderAddress: TwoMachines.responderAddress,
                localIdentity: LocalIdentity(
                    address: TwoMachines.responderAddress, resolvingKey: Key128(rawValue: 1))))
        machine.receive(request.span.bytes, at: .zero)
        guard case .send(.pairingResponse(let features))? = machine.nextAction() else {
            Issue.record("no response")
            return
        }
        #expect(!features.initiatorKeys.contains(.link) && !features.responderKeys.contains(.link))
        #expect(features.authentication.rawValue & 0x20 == 0)
    }

    @Test("A key for the other transport is neither offered nor derived")
    func noCrossTransport() throws {
        var way = PairingCase.justWorks
        way.initiator.initiatorKeys = .all
        way.initiator.responderKeys = .all
        let two = way.machines().run()
        #expect(two.sent[0].pdu[5] & 0x08 == 0 && two.sent[0].pdu[6] & 0x08 == 0)
        #expect(two.sent[1].pdu[5] & 0x08 == 0 && two.sent[1].pdu[6] & 0x08 == 0)
    }

    @Test("The responder distributes its keys first, each kind in turn")
    func order() {
        let two = PairingCase.legacyJustWorks.machines().run()
        let keys = two.sent.filter { (0x06...0x0A).contains($0.pdu[0]) }
        #expect(keys.map(\.pdu[0]) == [6, 7, 8, 9, 10, 6, 7, 8, 9, 10])
        #expect(
            keys.map(\.from) == [.responder, .responder, .responder, .responder, .responder]
                + [.initiator, .initiator, .initiator, .initiator, .initiator])
    }

    @Test("Consent comes before the first answer; without it pairing ends")
    func consent() {
        var setup = PairingMachine.Setup(
            role: .responder, options: PairingOptions(), initiatorAddress: TwoMachines.initiatorAddress,
            responderAddress: TwoMachines.responderAddress)
        setup.needsConsent = true
        var machine = PairingMachine(setup)
        let request: [UInt8] = [1, 3, 0, 9, 16, 7, 7]
        machine.receive(request.span.bytes, at: .zero)
        #expect(machine.nextAction() == .question(.consent))
        #expect(machine.nextAction() == nil)
        machine.userAnswered(.confirm(false), at: .zero)
        #expect(machine.nextAction() == .send(.pairingFailed(.unspecifiedReason)))
        #expect(machine.nextAction() == .failed(.refusedByUs(.unspecifiedReason)))
    }

    @Test(
        "A question before the first answer that nobody answers ends pairing after 25 s, and the peer gets the reason (3.4)",
        arguments: [nil, TwoMachines.initiatorAddress])
    func noConsent(claimed: DeviceAddress?) {
        var setup = PairingMachine.Setup(
            role: .responder, options: PairingOptions(), initiatorAddress: TwoMachines.initiatorAddress,
            responderAddress: TwoMachines.responderAddress)
        setup.needsConsent = true
        setup.unprovenIdentity = claimed
        var machine = PairingMachine(setup)
        let request: [UInt8] = [1, 3, 0, 9, 16, 7, 7]
        machine.receive(request.span.bytes, at: .zero)
        let question: PairingQuestion.Kind = if let claimed { .replaceBond(claimed) } else { .consent }
        #expect(machine.nextAction() == .question(question))
        #expect(machine.nextAction() == nil)
        let end = Instant.zero.advanced(by: .seconds(25))
        #expect(machine.deadline == end)
        machine.advance(to: end)
        #expect(machine.nextAction() == .send(.pairingFailed(.unspecifiedReason)))
        let failure: SecurityFailure = claimed == nil ? .refusedByUs(.unspecifiedReason) : .wouldReplaceBond
        #expect(machine.nextAction() == .failed(failure))
    }

    @Test(
        "A passkey that nobody types and numbers that nobody compares end pairing before the peer gives up (3.4)",
        arguments: [
            (PairingCase.passkeyShownByResponder, PairingFailedReason.passkeyEntryFailed),
            (.legacyPasskey, .passkeyEntryFailed), (.numericComparison, .unspecifiedReason),
        ])
    func noUser(_ way: PairingCase, _ reason: PairingFailedReason) {
        let two = way.machines()
        two.hasUsers = false
        two.patience = .seconds(26)
        two.run()
        #expect(two.failure(.initiator) == .refusedByUs(reason))
        #expect(two.failure(.responder) != nil && two.failure(.responder) != .timedOut && two.endCount == 2)
    }

    @Test("A crypto provider that cannot do the work ends pairing")
    func noCryptoProvider() {
        struct Nothing: CryptoProvider {
            func answer(_ request: CryptoRequest) -> CryptoResult { .failure(.unavailable) }
        }
        for way in PairingCase.all {
            let two = way.machines()
            two.cryptoProvider = Nothing()
            two.run()
            #expect(two.ends.count == 2 && two.outcome(.initiator) == nil && two.outcome(.responder) == nil)
        }
    }
}

extension KeyDistribution {
    fileprivate static let all: KeyDistribution = [.encryption, .identity, .signing, .link]
}
