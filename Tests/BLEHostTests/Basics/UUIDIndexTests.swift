import BLEPackets
import Testing

@testable import BLEHost

@Suite("UUIDs that are looked for among many")
struct UUIDIndexTests {
    /// Few different ones, of which several differ in one half only.
    private func uuid(_ generator: inout SplitMix) -> BluetoothUUID {
        if Bool.random(using: &generator) { return BluetoothUUID(UInt16.random(in: 0...40, using: &generator)) }
        return BluetoothUUID(
            high: UInt64.random(in: 0...5, using: &generator), low: UInt64.random(in: 0...5, using: &generator))
    }

    @Test("each is found where it is first, in whatever width, and no other one")
    func places() {
        var generator = SplitMix(state: 7)
        for count in 0..<60 {
            var uuids: [BluetoothUUID] = []
            for _ in 0..<count { uuids.append(uuid(&generator)) }
            let index = UUIDIndex(uuids)
            #expect(index.count == Set(uuids).count)
            #expect(index.isEmpty == uuids.isEmpty)
            for _ in 0..<100 {
                let sought = uuid(&generator)
                #expect(index.place(of: sought) == uuids.firstIndex(of: sought))
                #expect(index.place(of: sought.expanded) == uuids.firstIndex(of: sought))
                #expect(index.contains(sought) == uuids.contains(sought))
            }
        }
    }
}
