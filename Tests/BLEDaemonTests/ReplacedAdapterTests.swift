import BLEPackets
import Testing

@testable import BLEDaemon

/// Another stick in the place of the daemon's own, while it runs.
@Suite("Replaced adapters")
struct ReplacedAdapterTests {
    private static func address(_ number: UInt64) -> DeviceAddress {
        DeviceAddress(value: 0xC0DE_0000_0000 + number, kind: .public)
    }

    private static let none = DeviceAddress(value: 0, kind: .public)

    @Test("an adapter that comes when the own one is gone takes its place; those that were there beside it do not")
    func newcomer() {
        var neighbours = AdapterNeighbours()
        // The own one has never been there.
        #expect(neighbours.newcomer(among: [(Self.address(2), 0)]) == nil)
        neighbours.note([(Self.address(1), 0), (Self.address(2), 1)], besides: Self.address(1))
        #expect(neighbours.newcomer(among: []) == nil)
        #expect(neighbours.newcomer(among: [(Self.address(2), 1)]) == nil)
        // After a failure of the hub, the neighbour is back first, under the index of the own one.
        #expect(neighbours.newcomer(among: [(Self.address(2), 0)]) == nil)
        let new = neighbours.newcomer(among: [(Self.address(3), 0), (Self.address(2), 1)])
        #expect(new?.address == Self.address(3) && new?.index == 0)
        // Of two, neither is known to be the one.
        #expect(neighbours.newcomer(among: [(Self.address(3), 0), (Self.address(4), 2)]) == nil)
    }

    @Test("an adapter whose address was not known yet when it came beside the own one does not take its place")
    func unnamed() {
        var neighbours = AdapterNeighbours()
        neighbours.note([(Self.address(1), 0), (Self.none, 1)], besides: Self.address(1))
        #expect(neighbours.newcomer(among: [(Self.address(2), 1)]) == nil)
        #expect(neighbours.newcomer(among: [(Self.none, 0)]) == nil)
        #expect(neighbours.newcomer(among: [(Self.address(2), 0)])?.index == 0)
    }
}
