import BLEPackets
import Testing

@testable import BLEDaemon

@Suite("By what adapters are recognized")
struct PresentAdapterTests {
    private static let shared = DeviceAddress(value: 0x001A_7DDA_7113, kind: .public)
    private static let twin = DeviceAddress(value: 0xC0DE_0000_0001, kind: .public)

    @Test(
        "an address that no other has is the key; without one, or with one that many have, it is the place (A9, A10, A11, A13)"
    )
    func keys() {
        let present = PresentAdapters.fake([
            (0, Self.twin.value, "1-1"), (1, 0, "1-2.3"), (2, Self.shared.value, "1-3"),
            (3, 0xAAAA_AAAA_AAAA, "serial0-0"), (4, 0x0003_199E_8B00, nil), (5, 0, nil),
        ])
        #expect(
            present.all.map { $0.key?.text }
                == [Self.twin.addressText, "port:1-2.3", "port:1-3", "port:serial0-0", nil, nil])
        #expect(present.names.count == 4)
        #expect(present.all.map(\.text).last == "hci5")
        // What people write: the shared address means its only bearer.
        #expect(present.adapter(.address(Self.shared))?.index == 2)
        #expect(present.adapter(.place("1-1"))?.index == 0)
        #expect(present.adapter(.address(DeviceAddress(value: 0, kind: .public))) == nil)
    }

    @Test("of two with one address, the same one has it as key at each start, whatever the numbers are (A13)")
    func twins() {
        for (first, second) in [(UInt16(0), UInt16(1)), (1, 0)] {
            let present = PresentAdapters.fake([(first, Self.twin.value, "1-1"), (second, Self.twin.value, "1-2")])
            #expect(present[first]?.key == .address(Self.twin) && present[second]?.key == .place("1-2"))
            // The one that had it before keeps it.
            let later = PresentAdapters.fake(
                [(first, Self.twin.value, "1-1"), (second, Self.twin.value, "1-2")], owners: [Self.twin: "1-2"])
            #expect(later[first]?.key == .place("1-1") && later[second]?.key == .address(Self.twin))
            #expect(later.adapter(.address(Self.twin))?.index == second)
        }
        // It was moved to another port, and is alone.
        let moved = PresentAdapters.fake([(3, Self.twin.value, "1-4")], owners: [Self.twin: "1-2"])
        #expect(moved.all[0].key == .address(Self.twin))
    }

    @Test(
        "texts of keys",
        arguments: [
            ("C0:DE:00:00:00:01", true), ("port:1-2.3", true), ("port:mmc1:0001:2", true), ("port:", false),
            ("port:../x", false), ("port:a b", false), ("1-2", false), ("C0:DE:00:00:00", false), ("hci0", false),
            ("port:" + String(repeating: "1", count: 65), false), ("port:\u{1B}", false),
        ])
    func texts(text: String, isKey: Bool) {
        #expect((AdapterKey(text) != nil) == isKey)
        #expect(AdapterKey(text).map { $0.text == text } ?? true)
    }
}
