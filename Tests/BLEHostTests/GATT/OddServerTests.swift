import BLEPackets
import Testing

@testable import BLEHost

/// Attribute servers of real devices that end discoveries otherwise than the specification has it.
@Suite("GATT client: odd servers")
struct OddServerTests {
    private func uuid(_ short: UInt16) -> BluetoothUUID { BluetoothUUID(short) }

    private static let service = DiscoveredService(
        uuid: BluetoothUUID(0x180D as UInt16), range: .init(1, 4), isPrimary: true)

    @Test("Invalid Handle, Request Not Supported and the code zero end a discovery that has found something")
    func ends() {
        for code in ["01", "06", "00"] {
            var bench = ClientBench()
            bench.start(.discoverServices(uuids: []))
            bench.play(
                """
                > 10 0100 ffff 0028
                < 11 06 0100 0400 0d18
                > 10 0500 ffff 0028
                < 01 10 0500 \(code)
                """)
            #expect(bench.takeResults() == [.success(.services([Self.service]))], "\(code)")
            bench.start(.discoverCharacteristics(.init(1, 9), uuids: []))
            bench.play(
                """
                > 08 0100 0900 0328
                < 09 07 0200 02 0300 372a
                > 08 0300 0900 0328
                < 01 08 0300 \(code)
                """)
            guard case .success(.characteristics(let found))? = bench.takeResults().first else {
                return #expect(Bool(false), "\(code)")
            }
            #expect(found.map(\.uuid) == [uuid(0x2A37)], "\(code)")
            bench.start(.discoverDescriptors(.init(4, 9)))
            bench.play(
                """
                > 04 0400 0900
                < 01 04 0400 \(code)
                """)
            #expect(bench.takeResults() == [.success(.descriptors([]))], "\(code)")
            bench.start(.discoverIncludedServices(.init(1, 9)))
            bench.play(
                """
                > 08 0100 0900 0228
                < 01 08 0100 \(code)
                """)
            #expect(bench.takeResults() == [.success(.includedServices([]))], "\(code)")
        }
    }

    @Test("A server that refuses the first search for services has failed, and so has any other error later")
    func fails() {
        for code in ["01", "06", "00"] {
            var bench = ClientBench()
            bench.start(.discoverServices(uuids: []))
            bench.play(
                """
                > 10 0100 ffff 0028
                < 01 10 0100 \(code)
                """)
            guard case .failure(.att)? = bench.takeResults().first else { return #expect(Bool(false), "\(code)") }
        }
        for code in ["0e", "05", "11", "12", "80"] {
            var bench = ClientBench()
            bench.start(.discoverServices(uuids: []))
            bench.play(
                """
                > 10 0100 ffff 0028
                < 11 06 0100 0400 0d18
                > 10 0500 ffff 0028
                < 01 10 0500 \(code)
                """)
            guard case .failure(.att)? = bench.takeResults().first else { return #expect(Bool(false), "\(code)") }
        }
    }

    @Test("Where a server does not know the search for a service by its UUID, all services are searched")
    func namedServices() {
        for code in ["06", "00", "01"] {
            var bench = ClientBench()
            bench.start(.discoverServices(uuids: [uuid(0x180D), uuid(0x1816)]))
            bench.play(
                """
                > 06 0100 ffff 0028 0d18
                < 01 06 0100 \(code)
                > 10 0100 ffff 0028
                < 11 06 0100 0400 0d18 0500 0800 0f18
                > 10 0900 ffff 0028
                < 01 10 0900 0a
                """)
            #expect(bench.takeResults() == [.success(.services([Self.service]))], "\(code)")
        }
        var bench = ClientBench()
        bench.start(.discoverServices(uuids: [uuid(0x180D)]))
        bench.play(
            """
            > 06 0100 ffff 0028 0d18
            < 07 0100 0400
            > 06 0500 ffff 0028 0d18
            < 01 06 0500 01
            """)
        #expect(bench.takeResults() == [.success(.services([Self.service]))])
    }

    @Test("A server that ignores the offset of Read Blob gives no more than the 512 octets that a value can have")
    func endlessValue() {
        var bench = ClientBench()
        bench.start(.read(3))
        let part = String(repeating: "cc", count: 22)
        var text = "> 0a 0300\n< 0b \(part)\n"
        for number in 1..<24 {
            let offset = UInt16(number * 22)
            text += "> 0c 0300 \(hex([UInt8(offset & 0xFF), UInt8(offset >> 8)]))\n< 0d \(part)\n"
        }
        bench.play(text)
        #expect(bench.takeResults() == [.success(.value([UInt8](repeating: 0xCC, count: 512)))])
    }
}
