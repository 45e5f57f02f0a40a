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

    @Test("A key that comes before the encryption of the link has begun ends pairing, however slow the toolbox is")
    func beforeTheEncryption() {
        for isSlow in [false, true] {
            for (way, opcode, sender) in [
                (.justWorks, 0x0D, .initiator), (.justWorks, 0x0D, .responder), (.legacyJustWorks, 0x04, .initiator),
            ] as [(PairingCase, UInt8, TwoMachines.Side)] {
                let two = way.machines()
                two.hasSlowToolbox = isSlow
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

/// The same with two engines on the simulator, whose controllers report late as USB adapters do.
@Suite struct LateReportTests {
    /// Connects, and changes to this interval.
    private func hosts(_ interval: Int64, isLegacy: Bool) -> TwoHosts {
        var settings = TwoHosts.Settings()
        settings.central.pairing.allowsSecureConnections = !isLegacy
        let two = TwoHosts(settings)
        two.connect()
        let wanted = ConnectionInterval(rawValue: UInt16(interval / 1250))
        let request = ConnectionParameterRequest(
            interval: wanted...wanted, peripheralLatency: 0, supervisionTimeout: .milliseconds(20_000))
        if let link = two.link(.central) {
            _ = two.result(of: .link(link, .procedure(.updateParameters(request))), by: .central)
        }
        return two
    }

    /// Delays a side's report of the encryption until so long after the peer's first key.
    private func holdReport(_ two: TwoHosts, of side: TwoHosts.Side, for lateness: Int64) -> () -> Void {
        var held: [UInt8]?
        var first: Instant?
        two.engine(side).changeReceived = { packet in
            if packet.count > 2, packet[0] == 4, packet[1] == 0x08 || packet[1] == 0x30 {
                held = packet
                // Number Of Completed Packets of no link.
                return [4, 0x13, 1, 0]
            }
            if packet.count > 9, packet[0] == 2, packet[7] == 6, packet[9] == 6 || packet[9] == 8, held != nil {
                first = first ?? two.now
            }
            return packet
        }
        return {
            two.run(for: .seconds(300)) { first != nil }
            two.run(for: Microseconds(rawValue: lateness))
            guard let held else { return }
            two.engine(side).apply(.packet(held))
        }
    }

    @Test(
        "Pairing succeeds where keys overtake the report by 10.4 ms, and on the encrypted link by an interval",
        arguments: EarlyKeyTests.intervals, [false, true])
    func overtaken(interval: Int64, isLegacy: Bool) throws {
        let two = hosts(interval, isLegacy: isLegacy)
        for number in 0..<2 {
            let report = holdReport(two, of: .central, for: number == 0 ? min(interval, 10_400) : interval)
            let link = try #require(two.link(.central))
            let options = PairingOptions(allowsSecureConnections: !isLegacy, replacesBond: true)
            let operation = two.submit(.security(.pair(link, options)), by: .central)
            report()
            two.run(for: .seconds(100)) { two.result(of: operation, .central) != nil }
            guard case .success(.paired(let summary))? = two.result(of: operation, .central) else {
                return #expect(Bool(false), "\(two.failures(.central))")
            }
            #expect(summary.isBonded && summary.isSecureConnections != isLegacy)
            #expect(two.failures(.peripheral).isEmpty)
            #expect(two.security(.central)?.isEncrypted == true)
        }
    }

    @Test(
        "A peer that sends its keys in the clear, right after its last value, gets no bond",
        arguments: EarlyKeyTests.intervals, [false, true])
    func inTheClear(interval: Int64, isLegacy: Bool) throws {
        for side in TwoHosts.Side.allCases {
            let two = hosts(interval, isLegacy: isLegacy)
            let attacker: TwoHosts.Side = side == .central ? .peripheral : .central
            let handle = try #require(two.link(attacker)).handle.rawValue
            // The last PDU before encryption: the check value, or the random value.
            let last: UInt8 = isLegacy ? 4 : 0x0D
            two.change = { from, packet in
                guard from == attacker, packet.count > 9, packet[0] == 2, packet[7] == 6, packet[9] == last else {
                    return packet
                }
                let engine = two.engine(attacker)
                engine.air.send(packet.span.bytes, to: engine.controller, at: two.now.microseconds)
                var keys: [[UInt8]] = [
                    [0x08] + [UInt8](repeating: 7, count: 16), [0x09, 1, 1, 0, 0, 0, 0, 0xC0],
                    [0x0A] + [UInt8](repeating: 7, count: 16),
                ]
                if isLegacy {
                    let key: [[UInt8]] = [[0x06] + [UInt8](repeating: 7, count: 16), [0x07] + [UInt8](1...10)]
                    keys = key + keys
                }
                for key in keys {
                    let acl = HostRig.acl(HostRig.frame(key, channel: 6), handle: handle, isStart: true)
                    engine.air.send(acl.span.bytes, to: engine.controller, at: two.now.microseconds)
                }
                return nil
            }
            _ = two.pair()
            two.run(for: .seconds(60))
            #expect(two.bonds(side).isEmpty, "\(side)")
            #expect(!two.failures(side).isEmpty, "\(side)")
        }
    }
}
