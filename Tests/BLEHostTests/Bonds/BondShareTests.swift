import BLEPackets
import Testing

@testable import BLEHost

/// Bonds of several users in one table.
@Suite("Shares of bonds")
struct BondShareTests {
    private static func address(_ number: Int) -> DeviceAddress {
        DeviceAddress(value: 0xC0FF_EE00_0000 | UInt64(number), kind: .random)
    }

    /// A table, and the number of the next device.
    private struct Table {
        var bonds: Bonds
        var effects = Effects()
        var next = 1

        init(bonds: Int, ofUser: Int, reserved: Int, unasked: Int = 100) {
            var configuration = HostConfiguration()
            configuration.hasCryptoProvider = true
            configuration.limits.bonds = bonds
            configuration.limits.bondsOfUser = ofUser
            configuration.limits.reservedBonds = reserved
            configuration.limits.unaskedBonds = unasked
            self.bonds = Bonds(configuration: configuration)
        }

        /// The number of the device, if it was kept.
        mutating func pair(_ user: ClientUser?, isAskedFor: Bool = true) -> Int? {
            let (number, identity) = (next, BondShareTests.address(next))
            next += 1
            let hasRoom = bonds.hasRoom(for: identity, of: user)
            let isKept = bonds.store(
                Bond(identity: identity), inPlaceOf: identity, isAskedFor: isAskedFor, of: user, connected: [],
                into: &effects)
            return isKept && hasRoom ? number : nil
        }

        func has(_ number: Int) -> Bool { bonds.hasBond(with: BondShareTests.address(number)) }
        func count(_ user: ClientUser?) -> Int { bonds.table.all.count { $0.user == user } }
    }

    private let alice = ClientUser(1000)
    private let bob = ClientUser(1001)
    private let carol = ClientUser(1002)
    private let root = ClientUser(0, isOperator: true)

    @Test("a user's bond beyond the share replaces the oldest of the same user, also one that was asked for")
    func share() {
        var table = Table(bonds: 100, ofUser: 4, reserved: 10)
        #expect(table.pair(bob) == 1)
        for number in 2...5 { #expect(table.pair(alice) == number) }
        _ = table.bonds.use(Self.address(2))
        for _ in 0..<900 { #expect(table.pair(alice) != nil) }
        #expect(table.count(alice) == 4 && table.count(bob) == 1)
        #expect(table.has(1) && !table.has(3))
        #expect(table.has(2), "a bond that is used is not the oldest")
    }

    @Test("what all users have leaves a reserve for operators, and the user with most bonds makes room for others")
    func reserve() {
        var table = Table(bonds: 12, ofUser: 6, reserved: 2)
        for _ in 0..<6 { _ = table.pair(alice) }
        for _ in 0..<3 { _ = table.pair(bob) }
        for _ in 0..<5 { #expect(table.pair(carol) != nil) }
        #expect(table.bonds.table.all.count == 10)
        #expect(table.count(alice) >= 3 && table.count(bob) == 3 && table.count(carol) >= 3)
        #expect(table.pair(root) != nil && table.pair(root) != nil)
        #expect(table.count(root) == 2 && table.bonds.table.all.count == 12)
        #expect(table.pair(root) != nil, "ordinary users make room for an operator")
        #expect(table.count(root) == 3)
    }

    @Test("the strangers who pair with one user's server do not push out those of another's")
    func strangers() {
        var table = Table(bonds: 100, ofUser: 50, reserved: 10, unasked: 6)
        let kept = [table.pair(bob, isAskedFor: false), table.pair(bob, isAskedFor: false)]
        for _ in 0..<40 {
            if let number = table.pair(alice, isAskedFor: false) { _ = table.bonds.use(Self.address(number)) }
        }
        #expect(kept.allSatisfy { $0.map { table.has($0) } ?? false })
        #expect(table.count(alice) == 4)
    }

    @Test("bonds of nobody and of operators are never dropped for an ordinary user")
    func others() {
        var table = Table(bonds: 6, ofUser: 6, reserved: 1)
        for _ in 0..<3 { _ = table.pair(nil) }
        for _ in 0..<2 { _ = table.pair(root) }
        #expect(table.pair(alice) == nil, "the last place is an operator's")
        #expect(table.count(nil) == 3 && table.count(root) == 2)
        #expect(table.pair(root) != nil)
    }

    @Test("the bond of a device that pairs again stays its first user's")
    func again() {
        var table = Table(bonds: 100, ofUser: 4, reserved: 10)
        _ = table.pair(alice)
        let identity = Self.address(1)
        _ = table.bonds.store(
            Bond(identity: identity), inPlaceOf: identity, isAskedFor: true, of: bob, connected: [],
            into: &table.effects)
        #expect(table.count(alice) == 1 && table.count(bob) == 0)
    }
}
