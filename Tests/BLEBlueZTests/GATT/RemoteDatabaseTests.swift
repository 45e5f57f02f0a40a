import BLEHost
import BLEPackets
import Testing

@testable import BLEBlueZ

@Suite("What a device offers, as objects")
struct RemoteDatabaseTests {
    @Test("Objects come parents first, and go children first, those of one parent in their order")
    func order() {
        func handle(_ number: UInt16) -> AttributeHandle { AttributeHandle(rawValue: number) }
        let services = [UInt16(1), 10].map { first in
            RemoteDatabase.Service(
                range: AttributeHandleRange(handle(first), handle(first + 8)), uuid: BluetoothUUID(UInt16(0x180D)),
                isPrimary: true,
                characteristics: [first + 1, first + 4].map {
                    RemoteDatabase.Characteristic(
                        handle: handle($0), valueHandle: handle($0 + 1), endHandle: handle($0 + 2),
                        properties: [.read], uuid: BluetoothUUID(UInt16(0x2A38)),
                        descriptors: [
                            DiscoveredDescriptor(handle: handle($0 + 2), uuid: BluetoothUUID(UInt16(0x2901)))
                        ])
                })
        }
        let database = RemoteDatabase(services, of: "/d")
        let characteristics = [
            "/service0001/char0002/desc0004", "/service0001/char0002", "/service0001/char0005/desc0007",
            "/service0001/char0005", "/service0001", "/service000a/char000b/desc000d", "/service000a/char000b",
            "/service000a/char000e/desc0010", "/service000a/char000e", "/service000a",
        ].map { "/d" + $0 }
        #expect(database.pathsChildrenFirst == characteristics)
        #expect(database.paths.first == "/d/service0001" && Set(database.paths) == Set(characteristics))
    }
}
