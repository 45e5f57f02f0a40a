import BLEPackets
import TestSupport
import Testing

@testable import BLEHost

/// Keys that overtake the controller's report of the encryption, and keys in the clear, which anybody may have sent
/// (Core 5.4, Vol 4, Part B, 2.1 and Vol 3, Part H, 3.6).
@Suite struct EarlyKeyTests {
    typealias Sent = TwoMachines.Sent

    static let intervals = [7_500, 10_000, 30_000, 48_750, 100_000, 1_000_000, 4_000_000] as [Int64]

    /// Ways of pairing, also with a responder that has no keys to give, so that the initiator sends its keys at once.
    private func ways(_ late: TwoMachines.Side) -> [PairingCase] {
        guard late == .responder else { return PairingCase.all }
        return PairingCase.all.map {
            var way = $0
            way.initiator.responderKeys = []
            return way
        }
    }

    private func pair(
        _ way: PairingCase, late: TwoMachines.Side, by lateness: Int64, interval: Int64, then: Int64? = nil
    ) -> TwoMachines {
        let two = way.machines()
        two.hearsLate = late
        two.lateness = Microseconds(rawValue: lateness)
        two.interval = Microseconds(rawValue: interval)
        two.intervalAtReport = then.map { Microseconds(rawValue: $0) }
        return two.run()
    }

    @Test("Keys wait for the report for one connection interval of the link, in both roles", arguments: intervals)
    func late(interval: Int64) {
        for side in TwoMachines.Side.allCases {
            for way in ways(side) {
                let two = pair(way, late: side, by: interval, interval: interval)
                #expect(two.outcome(.initiator) != nil && two.outcome(.responder) != nil, "\(side) \(way)")
                #expect(two.endCount == 2, "\(side) \(way)")
                let other = side.other
                #expect(
                    two.outcome(side)?.peerKey == two.outcome(other)?.localKey
                        && two.outcome(side)?.identityResolvingKey != nil, "\(side) \(way)")
            }
        }
    }

    @Test("Keys that came more than an interval before the report may be anybody's", arguments: intervals)
    func tooEarly(interval: Int64) {
        for side in TwoMachines.Side.allCases {
            for way in ways(side) {
                let two = pair(way, late: side, by: interval + 1, interval: interval)
                #expect(two.outcome(side) == nil, "\(side) \(way)")
                #expect(two.failure(side) == .refusedByUs(.unspecifiedReason), "\(side) \(way)")
            }
        }
    }

    @Test("Keys that came 10.4 ms before the report are taken at an interval of 30 ms, not at one of 7.5 ms")
    func measured() {
        #expect(pair(.justWorks, late: .initiator, by: 10_400, interval: 30_000).outcome(.initiator) != nil)
        #expect(pair(.justWorks, late: .initiator, by: 10_400, interval: 7_500).outcome(.initiator) == nil)
    }

    @Test("If the interval has changed in between, the shorter one counts; no link has one below 7.5 ms")
    func changedInterval() {
        for (interval, then) in [(30_000, 100_000), (100_000, 30_000)] as [(Int64, Int64)] {
            let good = pair(.justWorks, late: .initiator, by: 30_000, interval: interval, then: then)
            #expect(good.outcome(.initiator) != nil)
            let bad = pair(.justWorks, late: .initiator, by: 30_001, interval: interval, then: then)
            #expect(bad.outcome(.initiator) == nil)
        }
        #expect(pair(.justWorks, late: .initiator, by: 7_500, interval: 0).outcome(.initiator) != nil)
        #expect(pair(.justWorks, late: .initiator, by: 7_501, interval: 0).outcome(.initiator) == nil)
    }

    @Test(
        "A key that comes before the encryption of the link has begun ends pairing, however slow the crypto provider is"
    )
    func beforeTheEncryption() {
        for isSlow in [false, true] {
            for (way, opcode, sender) in [
                (.justWorks, 0x0D, .initiator), (.justWorks, 0x0D, .responder), (.legacyJustWorks, 0x04, .initiator),
            ] as [(PairingCase, UInt8, TwoMachines.Side)] {
                let two = way.machines()
                two.hasSlowCryptoProvider = isSlow
                // A later report, as the initiator cannot know otherwise.
                two.hearsLate = .initiator
                two.lateness = Microseconds(rawValue: 15_000)
                two.change = { _, message in
                    guard message.pdu[0] == opcode, message.from == sender else { return [message] }
                    let keys: [[UInt8]] = [
                        [0x08] + [UInt8](repeating: 7, count: 16), [0x09, 1, 1, 0, 0, 0, 0, 0xC0],
                    ]
                    return [message] + keys.map { Sent(from: sender, pdu: $0) }
                }
                two.run()
                #expect(two.outcome(sender.other) == nil, "\(way) \(sender) \(isSlow)")
                #expect(two.failure(sender.other) != nil, "\(way) \(sender) \(isSlow)")
            }
        }
    }

    @Test("What waits for the report is bounded: one PDU more than there are keys ends pairing")
    func bounded() {
        for count in [PairingMachine.inboxLimit, PairingMachine.inboxLimit + 1] {
            var machine = PairingMachine(
                PairingMachine.Setup(
                    role: .initiator, options: PairingOptions(), initiatorAddress: TwoMachines.initiatorAddress,
                    responderAddress: TwoMachines.responderAddress))
            let features = PairingMachine.Statement(features: machine.offer, octets: [UInt8](repeating: 0, count: 7))
            machine.encrypt(with: Key128(rawValue: 1), .init(initiator: features, responder: features))
            let key = [0x08] + [UInt8](repeating: 7, count: 16)
            for _ in 0..<count { machine.receive(key.span.bytes, at: .zero) }
            #expect(machine.isOver == (count > PairingMachine.inboxLimit))
        }
    }

    @Test(
        "Keys that overtake the controller's report of the encryption wait for it (Core 5.4, Vol 4, Part B, 2.1)",
        arguments: PairingCase.all)
    func keysBeforeTheReport(_ way: PairingCase) {
        for side in TwoMachines.Side.allCases {
            let two = way.machines()
            two.hearsLate = side
            two.run()
            #expect(two.endCount == 2, "\(side)")
            #expect(two.outcome(.initiator) != nil && two.outcome(.responder) != nil, "\(side)")
        }
        // The initiator sends its keys at once if the responder has none to give.
        var short = way
        short.initiator.responderKeys = []
        let two = short.machines()
        two.hearsLate = .responder
        two.run()
        #expect(two.outcome(.responder)?.identityResolvingKey != nil && two.outcome(.initiator) != nil)
    }

    @Test("Keys that came early are dropped if the encryption fails (Core 5.4, Vol 3, Part H, 3.6)")
    func keysBeforeTheFailure() {
        let two = PairingCase.justWorks.machines()
        two.hearsLate = .initiator
        two.lateStatus = .connectionTimeout
        two.run()
        #expect(two.failure(.initiator) == .encryptionFailed(.connectionTimeout) && two.endCount == 2)
    }
}
