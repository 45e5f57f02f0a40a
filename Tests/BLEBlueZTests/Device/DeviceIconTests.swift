import Testing

@testable import BLEBlueZ

@Suite("Icons of devices")
struct DeviceIconTests {
    @Test(
        "Appearances have the icons that BlueZ 5.66 gave them",
        arguments: [
            (0x0040, "phone"), (0x0080, "computer"), (0x00C0, nil), (0x0140, "video-display"),
            (0x0280, "multimedia-player"), (0x02C0, "scanner"), (0x0340, nil), (0x03C0, nil),
            (0x03C1, "input-keyboard"),
            (0x03C2, "input-mouse"), (0x03C3, "input-gaming"), (0x03C4, "input-gaming"), (0x03C5, "input-tablet"),
            (0x03C6, nil), (0x03C7, nil), (0x03C8, "scanner"), (0xFFFF, nil),
        ] as [(UInt16, String?)])
    func icon(appearance: UInt16, name: String?) {
        #expect(DeviceIcon.name(of: appearance) == name)
    }
}
