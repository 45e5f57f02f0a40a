import BLEPackets
import Testing

@testable import BLEDaemon

/// Another stick in the place of the daemon's own, while it runs.
@Suite("Replaced adapters")
struct ReplacedAdapterTests {
    private static func key(_ number: UInt64) -> AdapterKey {
        .address(DeviceAddress(value: 0xC0DE_0000_0000 + number, kind: .public))
    }

    /// Adapters with an address and an index each; number 0 has no address.
    private static func present(_ adapters: (number: UInt64, index: UInt16)...) -> PresentAdapters {
        .fake(adapters.map { ($0.index, $0.number == 0 ? 0 : 0xC0DE_0000_0000 + $0.number, nil) })
    }

    @Test("an adapter that comes when the own one is gone takes its place; those that were there beside it do not")
    func newcomer() {
        var neighbours = AdapterNeighbours()
        // The own one has never been there.
        #expect(neighbours.newcomer(among: Self.present((2, 0)).all) == nil)
        neighbours.note(Self.present((1, 0), (2, 1)), besides: Self.key(1))
        #expect(neighbours.newcomer(among: []) == nil)
        #expect(neighbours.newcomer(among: Self.present((2, 1)).all) == nil)
        // After a failure of the hub, the neighbour is back first, under the index of the own one.
        #expect(neighbours.newcomer(among: Self.present((2, 0)).all) == nil)
        let new = neighbours.newcomer(among: Self.present((3, 0), (2, 1)).all)
        #expect(new?.key == Self.key(3) && new?.index == 0)
        // Of two, neither is known to be the one.
        #expect(neighbours.newcomer(among: Self.present((3, 0), (4, 2)).all) == nil)
    }

    @Test("an adapter whose address was not known yet when it came beside the own one does not take its place")
    func unnamed() {
        var neighbours = AdapterNeighbours()
        neighbours.note(Self.present((1, 0), (0, 1)), besides: Self.key(1))
        #expect(neighbours.newcomer(among: Self.present((2, 1)).all) == nil)
        #expect(neighbours.newcomer(among: Self.present((0, 0)).all) == nil)
        #expect(neighbours.newcomer(among: Self.present((2, 0)).all)?.index == 0)
    }
}
