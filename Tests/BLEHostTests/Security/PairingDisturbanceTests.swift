import BLEPackets
import Testing

@testable import BLEHost

/// Somebody drops, repeats, reorders, cuts or changes what two machines say: whatever is done, both end, once, and no
/// side believes in a key that the other has not.
@Suite struct PairingDisturbanceTests {
    typealias Sent = TwoMachines.Sent

    /// How many PDUs an undisturbed pairing has.
    private func length(_ way: PairingCase) -> Int { way.machines().run().sent.count }

    private func expectSafeEnd(_ two: TwoMachines, _ what: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let expected = two.hasBegun(.responder) ? 2 : 1
        #expect(two.ends.count == expected, "\(what): somebody still waits", sourceLocation: sourceLocation)
        #expect(two.endCount == expected, "\(what): somebody ended twice", sourceLocation: sourceLocation)
        if let a = two.outcome(.initiator), let b = two.outcome(.responder) {
            #expect(a.localKey == b.peerKey && a.peerKey == b.localKey, "\(what)", sourceLocation: sourceLocation)
            #expect(
                a.identityResolvingKey != nil && b.identityResolvingKey != nil, "\(what)",
                sourceLocation: sourceLocation)
        }
    }

    @Test("Every message dropped: both sides give up", arguments: PairingCase.all)
    func dropped(_ way: PairingCase) {
        for place in 0..<length(way) {
            let two = way.machines()
            two.change = { number, message in number == place ? [] : [message] }
            two.run()
            expectSafeEnd(two, "message \(place)")
            // Whoever misses a message does not finish; with the last ones the other side had all that it needs.
            #expect(two.outcome(.initiator) == nil || two.outcome(.responder) == nil, "message \(place)")
        }
    }

    @Test("Every message repeated: both sides end, and never with different keys", arguments: PairingCase.all)
    func repeated(_ way: PairingCase) {
        for place in 0..<length(way) {
            let two = way.machines()
            two.change = { number, message in number == place ? [message, message] : [message] }
            two.run()
            expectSafeEnd(two, "message \(place)")
        }
    }

    @Test("Every message after the one that follows it: both sides end", arguments: PairingCase.all)
    func outOfOrder(_ way: PairingCase) {
        for place in 0..<length(way) {
            let two = way.machines()
            var late: Sent?
            two.change = { number, message in
                if number == place {
                    late = message
                    return []
                }
                defer { late = nil }
                return [message] + (late.map { [$0] } ?? [])
            }
            two.run()
            expectSafeEnd(two, "message \(place)")
        }
    }

    @Test("Every message one octet too long: Invalid Parameters", arguments: PairingCase.all)
    func tooLong(_ way: PairingCase) {
        for place in 0..<length(way) { expectInvalid(way, place) { $0 + [0] } }
    }

    @Test("Every message one octet too short: Invalid Parameters", arguments: PairingCase.all)
    func tooShort(_ way: PairingCase) {
        for place in 0..<length(way) { expectInvalid(way, place) { [UInt8]($0.dropLast()) } }
    }

    @Test("Every message without content: Invalid Parameters", arguments: PairingCase.all)
    func emptied(_ way: PairingCase) {
        for place in 0..<length(way) { expectInvalid(way, place) { [$0[0]] } }
    }

    private func expectInvalid(_ way: PairingCase, _ place: Int, _ damage: @escaping ([UInt8]) -> [UInt8]) {
        let two = way.machines()
        var receiver: TwoMachines.Side?
        two.change = { number, message in
            guard number == place else { return [message] }
            receiver = message.from.other
            return [Sent(from: message.from, pdu: damage(message.pdu))]
        }
        two.run()
        expectSafeEnd(two, "message \(place)")
        if let receiver {
            #expect(two.failure(receiver) == .refusedByUs(.invalidParameters), "message \(place)")
        }
    }

    @Test("Every message sent back to its sender: pairing ends", arguments: PairingCase.all)
    func wrongRole(_ way: PairingCase) {
        for place in 0..<length(way) {
            let two = way.machines()
            two.change = { number, message in
                number == place ? [Sent(from: message.from.other, pdu: message.pdu)] : [message]
            }
            two.run()
            expectSafeEnd(two, "message \(place)")
            #expect(two.outcome(.initiator) == nil || two.outcome(.responder) == nil, "message \(place)")
        }
    }

    @Test("A Pairing Request to the initiator and a Security Request to the responder are not supported")
    func foreignRole() {
        var two = PairingCase.justWorks.machines()
        two.change = { number, message in
            number == 1 ? [Sent(from: .responder, pdu: [1, 3, 0, 9, 16, 7, 7])] : [message]
        }
        #expect(two.run().failure(.initiator) == .refusedByUs(.commandNotSupported))
        two = PairingCase.justWorks.machines()
        two.change = { number, message in number == 2 ? [Sent(from: .initiator, pdu: [0x0B, 1])] : [message] }
        #expect(two.run().failure(.responder) == .refusedByUs(.commandNotSupported))
    }

    @Test("Pairing while pairing: a second Pairing Request ends the first")
    func pairingWhilePairing() {
        for place in 2..<8 {
            let two = PairingCase.justWorks.machines()
            two.change = { number, message in
                number == place ? [Sent(from: .initiator, pdu: [1, 3, 0, 9, 16, 7, 7]), message] : [message]
            }
            two.run()
            expectSafeEnd(two, "message \(place)")
            #expect(two.outcome(.responder) == nil)
        }
    }

    @Test("Every single bit that is changed on the way is noticed before a key is accepted")
    func changedBits() {
        // Just Works over Secure Connections binds everything but the keys that are given at the end.
        let way = PairingCase.justWorks
        for place in 2..<9 {
            for octet in [1, 8, 16] {
                let two = way.machines()
                two.change = { number, message in
                    guard number == place else { return [message] }
                    var pdu = message.pdu
                    pdu[octet] ^= 0x10
                    return [Sent(from: message.from, pdu: pdu)]
                }
                two.run()
                expectSafeEnd(two, "message \(place)")
                #expect(two.outcome(.initiator) == nil && two.outcome(.responder) == nil, "message \(place)")
            }
        }
    }

    @Test(
        "Features changed on the way are noticed: by the confirm values of legacy pairing, by the checks of Secure Connections"
    )
    func changedFeatures() {
        for way in [PairingCase.legacyPasskey, .numericComparison] {
            for place in 0..<2 {
                let two = way.machines()
                two.change = { number, message in
                    guard number == place else { return [message] }
                    var pdu = message.pdu
                    pdu[3] ^= 0x10  // keypress notifications
                    return [Sent(from: message.from, pdu: pdu)]
                }
                two.run()
                #expect(two.outcome(.initiator) == nil && two.outcome(.responder) == nil)
            }
        }
    }

    @Test("A wrong passkey is noticed at the round of its first wrong bit", arguments: 0..<20)
    func wrongPasskey(round: Int) {
        for way in [PairingCase.passkeyShownByInitiator, .passkeyShownByResponder] {
            var way = way
            let two: TwoMachines
            if way.initiator.ioCapability == .displayOnly {
                way.initiator.passkey = 0
            } else {
                way.responder.passkey = 0
            }
            two = way.machines()
            two.typed = { $0 ^ (1 << UInt32(round)) }
            two.run()
            expectSafeEnd(two, "round \(round)")
            // The responder sees the initiator's value first.
            #expect(two.failure(.responder) == .refusedByUs(.confirmValueFailed))
            #expect(two.failure(.initiator) == .refusedByPeer(.confirmValueFailed))
            #expect(two.sent.count { $0.from == .responder && $0.pdu[0] == 0x04 } == round)
        }
    }

    @Test("A wrong passkey in legacy pairing ends it with Confirm Value Failed")
    func wrongLegacyPasskey() {
        let two = PairingCase.legacyPasskey.machines()
        two.typed = { ($0 + 1) % 1_000_000 }
        two.run()
        #expect(two.failure(.responder) == .refusedByUs(.confirmValueFailed))
        #expect(two.failure(.initiator) == .refusedByPeer(.confirmValueFailed))
    }

    @Test(
        "A confirm value that is only sent back is refused",
        arguments: [PairingCase.legacyPasskey, .passkeyTypedByBoth])
    func reflectedConfirm(_ way: PairingCase) {
        let two = way.machines()
        var own: [UInt8] = []
        two.change = { _, message in
            guard message.pdu[0] == 0x03 else { return [message] }
            if message.from == .initiator {
                own = message.pdu
                return [message]
            }
            return [Sent(from: .responder, pdu: own)]
        }
        #expect(two.run().failure(.initiator) == .refusedByUs(.confirmValueFailed))
    }

    @Test("A public key that is our own, with either y, is refused", arguments: [false, true])
    func reflectedPublicKey(changesY: Bool) {
        let two = PairingCase.numericComparison.machines()
        var own: [UInt8] = []
        two.change = { _, message in
            guard message.pdu[0] == 0x0C else { return [message] }
            if message.from == .initiator {
                own = message.pdu
                return [message]
            }
            if changesY { own[64] ^= 0xFF }
            return [Sent(from: .responder, pdu: own)]
        }
        #expect(two.run().failure(.initiator) == .refusedByUs(.invalidParameters))
    }

    @Test("A public key that is not on the curve is refused, by both roles")
    func invalidCurve() {
        for side in TwoMachines.Side.allCases {
            for value in [0x00, 0x42, 0xFF] as [UInt8] {
                let two = PairingCase.numericComparison.machines()
                two.change = { _, message in
                    guard message.pdu[0] == 0x0C, message.from == side else { return [message] }
                    let forged = [UInt8](message.pdu.prefix(33)) + [UInt8](repeating: value, count: 32)
                    return [Sent(from: side, pdu: forged)]
                }
                #expect(two.run().failure(side.other) == .refusedByUs(.invalidParameters))
            }
        }
    }

    @Test("Out-of-band values that do not fit the public key are refused")
    func wrongOutOfBandValues() {
        var way = PairingCase.outOfBandBothWays
        way.outOfBand.initiator?.peer?.confirm = Key128(rawValue: 1)
        #expect(way.machines().run().failure(.initiator) == .refusedByUs(.confirmValueFailed))
        way = .outOfBandBothWays
        way.outOfBand.initiator?.local?.random = Key128(rawValue: 1)
        let two = way.machines().run()
        #expect(two.outcome(.initiator) == nil && two.outcome(.responder) == nil)
        way = .legacyOutOfBand
        way.outOfBand.responder?.temporaryKey = Key128(rawValue: 78)
        #expect(way.machines().run().failure(.responder) == .refusedByUs(.confirmValueFailed))
    }

    @Test("Unknown codes and keypress notifications are ignored, and do not extend the time-out")
    func passedOver() {
        let two = PairingCase.justWorks.machines()
        two.change = { _, message in
            [
                Sent(from: message.from, pdu: [0x0F, 1, 2]), Sent(from: message.from, pdu: [0x0E, 1]),
                Sent(from: message.from, pdu: [0xFF]), message,
            ]
        }
        two.run()
        #expect(two.outcome(.initiator) != nil && two.outcome(.responder) != nil)

        var machine = PairingMachine(
            PairingMachine.Setup(
                role: .initiator, options: PairingOptions(), initiatorAddress: TwoMachines.initiatorAddress,
                responderAddress: TwoMachines.responderAddress))
        machine.start(at: .zero)
        let keypress: [UInt8] = [0x0E, 1]
        machine.receive(keypress.span.bytes, at: Instant(microseconds: 29_000_000))
        machine.advance(to: Instant(microseconds: 30_000_000))
        #expect(machine.nextAction() != nil)
        #expect(machine.nextAction() == .failed(.timedOut))
    }

    @Test("Random bytes in place of any message end pairing and nothing else")
    func noise() {
        var generator = SplitMix(state: 1)
        for way in PairingCase.all {
            for _ in 0..<40 {
                let place = Int.random(in: 0..<30, using: &generator)
                let junk = (0..<Int.random(in: 0..<70, using: &generator)).map { _ in
                    UInt8.random(in: 0...255, using: &generator)
                }
                let two = way.machines()
                two.change = { number, message in
                    number == place ? [Sent(from: message.from, pdu: junk), message] : [message]
                }
                two.run()
                expectSafeEnd(two, "\(place) \(junk)")
            }
        }
    }
}

/// Numbers that are the same in each run.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
