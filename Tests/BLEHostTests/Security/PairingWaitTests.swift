import BLEPackets
import TestSupport
import Testing

@testable import BLEHost

/// Who could learn a passkey by trying has to wait (Core 5.4, Vol 3, Part H, 2.3.6).
@Suite struct PairingWaitTests {
    /// How a peripheral that learns one bit at a time ends its try.
    enum End: CaseIterable { case disconnection, silence, pairingFailed }

    private func isWaiting(_ two: TwoHosts) -> Bool {
        two.engine(.central).host.rooms.pairings.attempts.failures.wait(
            of: PairingGuard.Peer(address: TwoHosts.peripheralAddress, isProven: false, role: .central),
            isOfPeer: false, at: two.now) != nil
    }

    /// Pairs, and the peripheral breaks off after the nth PDU with this opcode.
    private func breakOff(_ two: TwoHosts, by end: End, after opcode: UInt8, count: Int) throws {
        let link = try #require(two.link(.central))
        var sent = 0
        two.change = { side, packet in
            guard packet.first == 2, packet.count > 9, packet[7] == 6 else { return packet }
            if sent >= count, side == .peripheral {
                switch end {
                case .silence: return nil
                // Unspecified Reason, as if nothing had been.
                case .pairingFailed: return packet.prefix(3) + [6, 0, 2, 0, 6, 0, 5, 8]
                case .disconnection: return packet
                }
            }
            if packet[9] == opcode { sent += 1 }
            return packet
        }
        let operation = two.submit(.security(.pair(link, nil)), by: .central)
        if end == .disconnection {
            two.run(for: .seconds(20)) { sent >= count }
            two.submit(.link(try #require(two.link(.peripheral)), .disconnect), by: .peripheral)
        }
        two.run(for: .seconds(60)) { two.result(of: operation, .central) != nil }
        #expect(two.result(of: operation, .central) != nil)
    }

    @Test("A peer that breaks off after our first value has to wait, however it does so", arguments: End.allCases)
    func brokenOff(end: End) throws {
        let two = TwoHosts(.passkey)
        two.connect()
        // The fifth value of the central's, which tells it five bits.
        try breakOff(two, by: end, after: 4, count: 9)
        #expect(isWaiting(two))
    }

    @Test("A pairing that ends before any value was shown costs no wait", arguments: End.allCases)
    func endedBefore(end: End) throws {
        let two = TwoHosts(.passkey)
        two.connect()
        try breakOff(two, by: end, after: 1, count: 1)
        #expect(!isWaiting(two))
    }
}
