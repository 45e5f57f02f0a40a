import BLEMessages
import BLEPackets
import TestSupport
import Testing

@testable import BLEHost

/// Whoever is near may pair; what that leaves is bounded.
@Suite("Room for bonds")
struct BondLimitTests {
    private static func other(_ number: Int, isUnasked: Bool) -> Bond {
        var bond = Bond(identity: DeviceAddress(value: 0xC0FF_EE00_0000 + UInt64(number), kind: .random))
        bond.localKey = LongTermKey(key: Key128(rawValue: UInt128(number + 1)))
        bond.isUnasked = isUnasked
        return bond
    }

    /// - Returns: the hosts, connected; the peripheral has room for so many bonds.
    private static func hosts(
        bonds: Int = 1000, unasked: Int = 100, of side: TwoHosts.Side = .peripheral, holding held: [Bond]
    ) -> TwoHosts {
        var settings = TwoHosts.Settings()
        settings.limits[side, default: HostLimits()].bonds = bonds
        settings.limits[side, default: HostLimits()].unaskedBonds = unasked
        let two = TwoHosts(settings, bonds: [side: held])
        two.connect()
        return two
    }

    @Test("a stranger's bond takes the place of the oldest that nobody asked for, and of no other")
    func strangers() {
        let held = [
            Self.other(1, isUnasked: false), Self.other(2, isUnasked: true), Self.other(3, isUnasked: true),
        ]
        let two = Self.hosts(unasked: 2, holding: held)
        #expect(two.pair()?.pairing != nil)
        two.run(for: .seconds(2))
        #expect(
            two.bonds(.peripheral).map(\.identity) == [held[0], held[2]].map(\.identity) + [TwoHosts.centralAddress])
        #expect(two.bonds(.peripheral).map(\.isUnasked) == [false, true, true])
        #expect(two.engine(.peripheral).events.contains(.bondRemoved(held[1].identity)))
        // The central asked for it.
        #expect(two.bonds(.central).map(\.isUnasked) == [false])
        // Its own next pairing takes no more.
        #expect(two.pair()?.pairing != nil)
        #expect(two.bonds(.peripheral).count == 3)
    }

    @Test("the least recently used bond is dropped: a device not seen since pairing before one that encrypted a link")
    func lastUse() {
        var held = (1...3).map { Self.other($0, isUnasked: true) }
        (held[0].lastUse, held[1].lastUse, held[2].lastUse) = (2, 0, 1)
        let two = Self.hosts(unasked: 3, holding: held)
        #expect(two.pair()?.pairing != nil)
        two.run(for: .seconds(2))
        #expect(
            two.bonds(.peripheral).map(\.identity) == [held[0], held[2]].map(\.identity) + [TwoHosts.centralAddress])
    }

    @Test("a bond that was used seconds before outlives any number of strangers that pair once each")
    func flood() {
        var table = BondTable()
        table.replaceAll(by: (1...100).map { Self.other($0, isUnasked: true) })
        // Its first use is written down, and those that change no order are not.
        let friend = Self.other(7, isUnasked: true).identity
        #expect(table.use(friend)?.lastUse == 1)
        #expect(table.use(friend) == nil)
        var writes = 0
        for round in 1...50 {
            for number in [20, 7] where table.use(Self.other(number, isUnasked: true).identity) != nil { writes += 1 }
            #expect(table.bond(for: friend)?.lastUse == UInt64(2 * round + 1))
        }
        #expect(writes == 1)
        // Of a bond that is never dropped no use is written at all.
        table.set(Self.other(200, isUnasked: false))
        #expect(table.use(Self.other(200, isUnasked: false).identity) == nil)
    }

    @Test("if every bond was asked for or is authenticated, a stranger is refused, and that is reported")
    func full() {
        let held = (1...3).map { Self.other($0, isUnasked: false) }
        let two = Self.hosts(bonds: 3, holding: held)
        #expect(two.pair() == .failure(.security(.refusedByPeer(.pairingNotSupported))))
        #expect(two.failures(.peripheral) == [.tooManyBonds])
        #expect(two.bonds(.peripheral) == held)
        // Who wants no bond is paired with all the same.
        #expect(two.pair(by: .central, PairingOptions(isBonding: false))?.pairing != nil)
        #expect(two.bonds(.peripheral) == held)
    }

    @Test("a pairing that this side begins drops a bond that nobody asked for, or says that there is no room")
    func own() {
        let asked = Self.other(1, isUnasked: false)
        let two = Self.hosts(bonds: 2, of: .central, holding: [asked, Self.other(2, isUnasked: true)])
        #expect(two.pair()?.pairing != nil)
        #expect(two.bonds(.central).map(\.identity) == [asked.identity, TwoHosts.peripheralAddress])
        let full = Self.hosts(bonds: 1, of: .central, holding: [asked])
        #expect(full.pair() == .failure(.security(.tooManyBonds)))
        #expect(full.bonds(.central) == [asked])
    }

    @Test("a bond that was saved before the mark existed counts as asked for")
    func earlierBonds() throws {
        let bond = Self.other(1, isUnasked: true)
        let text = String(decoding: try bond.json(), as: UTF8.self)
        #expect(try Bond(text: text) == bond)
        let earlier = try Bond(text: text.replacing(#""is_unasked":true,"#, with: ""))
        #expect(!earlier.isUnasked && earlier.identity == bond.identity)
    }
}
