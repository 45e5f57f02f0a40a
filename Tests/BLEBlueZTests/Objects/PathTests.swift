import BLEPackets
import Testing

@testable import BLEBlueZ

@Suite("Paths of objects")
struct PathTests {
    @Test("Paths have BlueZ's fixed columns")
    func columns() throws {
        let address = try #require(DeviceAddress("AA:BB:CC:DD:EE:0F/random"))
        let device = ObjectPaths.device(address, of: ObjectPaths.adapter(3))
        #expect(device == "/org/bluez/hci3/dev_AA_BB_CC_DD_EE_0F")
        let service = ObjectPaths.service(0x000A, of: device)
        let characteristic = ObjectPaths.characteristic(0x0BCD, of: service)
        #expect(ObjectPaths.descriptor(0xFFFF, of: characteristic) == device + "/service000a/char0bcd/descffff")
    }
}
