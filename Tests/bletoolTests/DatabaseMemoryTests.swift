import BLE
import BLEScripts
import Testing

@testable import bletool

@Suite("Attributes of bonded devices that are kept")
struct DatabaseMemoryTests {
    static let identity = DeviceAddress("C0:DE:00:00:00:01/random")!

    /// A database of one service with as many characteristics, under a hash of equal octets.
    static func database(_ octet: UInt8, characteristics: UInt16 = 1) -> KnownDatabase {
        func handle(_ number: UInt16) -> AttributeHandle { AttributeHandle(rawValue: number) }
        let own = BluetoothUUID("6B7A0001-9D1C-4F5E-8A2B-3C4D5E6F7081")
        let members = (0..<characteristics).map { number in
            let first = 3 + 3 * number
            return ServiceContents.CharacteristicContents(
                characteristic: Characteristic(
                    uuid: number == 0 ? 0x2A37 : own, handle: handle(first), valueHandle: handle(first + 1),
                    endHandle: handle(first + 2), properties: [.notify, .read]),
                descriptors: [Descriptor(uuid: 0x2902, handle: handle(first + 2))])
        }
        let range = AttributeHandleRange(handle(1), handle(2 + 3 * characteristics))
        let secondary = Service(
            uuid: 0x180F, range: AttributeHandleRange(handle(0xFF00), handle(0xFFFF)), isPrimary: false)
        return KnownDatabase(
            hash: Array(repeating: octet, count: 16),
            contents: [
                ServiceContents(
                    service: Service(uuid: 0x180D, range: range, isPrimary: true),
                    includedServices: [IncludedService(handle: handle(2), service: secondary)],
                    characteristics: members), ServiceContents(service: secondary),
            ])
    }

    private func memory(_ folder: TestFolder, _ identity: DeviceAddress = identity) -> DatabaseMemory {
        DatabaseMemory(state: StateDirectory(path: folder.path), identity: identity)
    }

    @Test("what was kept is recalled for its device, until it is forgotten")
    func keeps() throws {
        let folder = try TestFolder()
        let (first, second) = (memory(folder), memory(folder, DeviceAddress("00:AA:01:00:00:00")!))
        #expect(first.recall() == nil)
        try first.save(Self.database(1))
        try second.save(Self.database(2, characteristics: 5))
        #expect(first.recall() == Self.database(1))
        try first.save(Self.database(3))
        #expect(first.recall() == Self.database(3))
        first.forget()
        #expect(first.recall() == nil)
        #expect(second.recall() == Self.database(2, characteristics: 5))
        try second.save(KnownDatabase(hash: nil, contents: Self.database(2).contents))
        #expect(second.recall() == nil)
    }

    @Test("the device that was discovered longest ago makes room, and one with too many attributes is not kept")
    func isBounded() throws {
        let folder = try TestFolder()
        func device(_ number: Int) throws -> DatabaseMemory {
            let text = "C0:DE:00:00:01:\(Hexadecimal.text([UInt8(number)]))/random"
            return memory(folder, try #require(DeviceAddress(text)))
        }
        for number in 0...DatabaseMemory.capacity { try device(number).save(Self.database(UInt8(number))) }
        #expect(try device(0).recall() == nil)
        #expect(try device(1).recall() == Self.database(1))
        #expect(try device(DatabaseMemory.capacity).recall() != nil)
        try device(50).save(Self.database(9, characteristics: 2000))
        #expect(try device(50).recall() == nil)
        #expect(try device(2).recall() == Self.database(2))
    }

    @Test(
        "a file that was changed costs what has a mistake, and what follows",
        arguments: [
            "service 0x0001 0x0005 primary 1800", "nonsense", "service 0x0005 0x0001 primary 180D",
            "service 0x0000 0x0001 primary 180D", "service 0x0001 0x0002 tertiary 180D", "descriptor 0x0001 2902",
            "characteristic 0x0003 0x0003 0x0004 0x02 2A37", "characteristic 0x0003 0x0004 0x0003 0x02 2A37",
            "device C0:DE:00:00:00:01/random 00", "device nobody \(String(repeating: "00", count: 16))",
            "service 0x0001 0x10000 primary 180D", "include 0x0001 0x0002 0x0003 X", "service 1 5 primary 1800",
        ])
    func isHostile(line: String) {
        let good = DatabaseMemory.text(of: .init(identity: Self.identity, database: Self.database(1)))
        let other = DatabaseMemory.text(
            of: .init(identity: DeviceAddress("C0:DE:00:00:00:02/random")!, database: Self.database(2)))
        #expect(DatabaseMemory.entries(in: good + other).count == 2)
        #expect(DatabaseMemory.entries(in: line + "\n" + good).isEmpty)
        let device = "device C0:DE:00:00:00:03/random \(String(repeating: "00", count: 16))\n"
        let entries = DatabaseMemory.entries(in: good + device + "nonsense\n" + other)
        #expect(entries.map(\.identity) == [Self.identity])
    }
}
