import BLEPackets
import Testing

@testable import BLEHost

@Suite("GATT client: discovery")
struct GATTDiscoveryTests {
    private func uuid(_ short: UInt16) -> BluetoothUUID { BluetoothUUID(short) }

    @Test("all primary services are found, group after group (SPEC CEN-11)")
    func services() {
        var bench = ClientBench()
        bench.start(.discoverServices(uuids: []))
        bench.play(
            """
            > 10 0100 ffff 0028
            < 11 06 0100 0400 0118 0500 0800 0d18
            > 10 0900 ffff 0028
            < 11 14 2000 2f00 0f0e0d0c0b0a09080706050403020100
            > 10 3000 ffff 0028
            < 01 10 3000 0a
            """)
        let services = [
            DiscoveredService(uuid: uuid(0x1801), range: .init(1, 4), isPrimary: true),
            DiscoveredService(uuid: uuid(0x180D), range: .init(5, 8), isPrimary: true),
            DiscoveredService(
                uuid: BluetoothUUID(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F),
                range: .init(0x20, 0x2F), isPrimary: true),
        ]
        #expect(bench.takeResults() == [.success(.services(services))])
    }

    @Test("a group that ends with the last handle ends the search")
    func lastHandle() {
        var bench = ClientBench()
        bench.start(.discoverServices(uuids: []))
        bench.play(
            """
            > 10 0100 ffff 0028
            < 11 06 ffff ffff 0a18
            """)
        #expect(bench.takeResults().count == 1)
    }

    @Test("named services are searched for by value, each once")
    func namedServices() {
        var bench = ClientBench()
        let long = BluetoothUUID(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F)
        bench.start(.discoverServices(uuids: [uuid(0x180D), long, uuid(0x180D).expanded]))
        bench.play(
            """
            > 06 0100 ffff 0028 0d18
            < 07 0500 0800 1000 1f00
            > 06 2000 ffff 0028 0d18
            < 01 06 2000 0a
            > 06 0100 ffff 0028 0f0e0d0c0b0a09080706050403020100
            < 07 3000 ffff
            """)
        let services = [
            DiscoveredService(uuid: uuid(0x180D), range: .init(5, 8), isPrimary: true),
            DiscoveredService(uuid: uuid(0x180D), range: .init(0x10, 0x1F), isPrimary: true),
            DiscoveredService(uuid: long, range: .init(0x30, 0xFFFF), isPrimary: true),
        ]
        #expect(bench.takeResults() == [.success(.services(services))])
    }

    @Test("a 128-bit UUID is also searched for in its short form when the long form finds nothing")
    func longForm() {
        var bench = ClientBench()
        bench.start(.discoverServices(uuids: [uuid(0x180D).expanded]))
        bench.play(
            """
            > 06 0100 ffff 0028 fb349b5f80000080001000000d180000
            < 01 06 0100 0a
            > 06 0100 ffff 0028 0d18
            < 01 06 0100 0a
            """)
        bench.start(.discoverServices(uuids: [uuid(0x180D).expanded]))
        bench.play(
            """
            > 06 0100 ffff 0028 fb349b5f80000080001000000d180000
            < 07 0100 ffff
            """)
        bench.start(.readUsingUUID(uuid(0x2A00).expanded, .all))
        bench.play(
            """
            > 08 0100 ffff fb349b5f8000008000100000002a0000
            < 01 08 0100 0a
            > 08 0100 ffff 002a
            < 01 08 0100 0a
            """)
        #expect(
            bench.takeResults() == [
                .success(.services([])),
                .success(
                    .services([DiscoveredService(uuid: uuid(0x180D), range: .all, isPrimary: true)])),
                .failure(.att(.attributeNotFound, handle: 1)),
            ])
    }

    /// Services that no server here has.
    private func strangers(_ count: Int) -> [BluetoothUUID] { (0..<count).map { uuid(0xF000 + UInt16($0)) } }

    @Test("up to eight different services are searched for one after another")
    func eightServices() {
        var bench = ClientBench()
        bench.start(.discoverServices(uuids: strangers(8) + strangers(8)))
        bench.play(
            (0..<8).map { "> 06 0100 ffff 0028 0\($0)f0\n< 01 06 0100 0a" }.joined(separator: "\n"))
        #expect(bench.takeResults() == [.success(.services([]))])
    }

    @Test("more than eight services are found by one discovery of all, in the order of their names (SPEC CEN-11)")
    func manyServices() {
        var bench = ClientBench()
        let long = BluetoothUUID(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F)
        bench.start(
            .discoverServices(uuids: [long, uuid(0x180F)] + strangers(510) + [uuid(0x180D).expanded, long]))
        bench.play(
            """
            > 10 0100 ffff 0028
            < 11 06 0100 0400 0118 0500 0800 0d18
            > 10 0900 ffff 0028
            < 11 14 2000 2f00 0f0e0d0c0b0a09080706050403020100
            > 10 3000 ffff 0028
            < 11 06 3000 3f00 0d18 4000 ffff 0f18
            """)
        let services = [
            DiscoveredService(uuid: long, range: .init(0x20, 0x2F), isPrimary: true),
            DiscoveredService(uuid: uuid(0x180F), range: .init(0x40, 0xFFFF), isPrimary: true),
            DiscoveredService(uuid: uuid(0x180D), range: .init(5, 8), isPrimary: true),
            DiscoveredService(uuid: uuid(0x180D), range: .init(0x30, 0x3F), isPrimary: true),
        ]
        #expect(bench.takeResults() == [.success(.services(services))])
    }

    @Test("among all services, declarations of both widths have the name")
    func widthsAmongAll() {
        var bench = ClientBench()
        bench.start(.discoverServices(uuids: strangers(8) + [uuid(0x180D)]))
        bench.play(
            """
            > 10 0100 ffff 0028
            < 11 14 0100 0400 fb349b5f80000080001000000d180000
            > 10 0500 ffff 0028
            < 11 06 0500 0800 0d18
            > 10 0900 ffff 0028
            < 01 10 0900 0a
            """)
        let services = [
            DiscoveredService(uuid: uuid(0x180D), range: .init(1, 4), isPrimary: true),
            DiscoveredService(uuid: uuid(0x180D), range: .init(5, 8), isPrimary: true),
        ]
        #expect(bench.takeResults() == [.success(.services(services))])
    }

    @Test("a search for many services finds none, or fails, as one for few does")
    func nothingAmongAll() {
        var bench = ClientBench()
        for error in ["0a", "0e"] {
            bench.start(.discoverServices(uuids: strangers(9)))
            bench.play("> 10 0100 ffff 0028\n< 01 10 0100 \(error)")
        }
        #expect(
            bench.takeResults() == [.success(.services([])), .failure(.att(.unlikelyError, handle: 1))])
    }

    @Test("a server that does not support grouping by secondary service has none")
    func secondaryServices() {
        var bench = ClientBench()
        bench.start(.discoverSecondaryServices)
        bench.play(
            """
            > 10 0100 ffff 0128
            < 01 10 0100 10
            """)
        #expect(bench.takeResults() == [.success(.services([]))])
    }

    @Test("a service inside another one, as Bumble puts included services, is found; the search goes on behind both")
    func nestedServices() {
        var bench = ClientBench()
        bench.start(.discoverServices(uuids: []))
        bench.play(
            """
            > 10 0100 ffff 0028
            < 11 06 0500 0900 0118 0700 0800 0d18
            > 10 0a00 ffff 0028
            < 01 10 0a00 0a
            """)
        let services = [
            DiscoveredService(uuid: uuid(0x1801), range: .init(5, 9), isPrimary: true),
            DiscoveredService(uuid: uuid(0x180D), range: .init(7, 8), isPrimary: true),
        ]
        #expect(bench.takeResults() == [.success(.services(services))])
    }

    @Test("a long UUID of an included service is read from its declaration")
    func includes() {
        var bench = ClientBench()
        bench.start(.discoverIncludedServices(.init(1, 4)))
        bench.play(
            """
            > 08 0100 0400 0228
            < 09 06 0200 2000 2f00 0300 3000 3f00
            > 0a 2000
            < 0b 0f0e0d0c0b0a09080706050403020100
            > 0a 3000
            < 0b 0f18
            > 08 0400 0400 0228
            < 09 08 0400 4000 4f00 0a18
            """)
        let includes = [
            DiscoveredInclude(
                handle: 2, uuid: BluetoothUUID(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F),
                range: .init(0x20, 0x2F)),
            DiscoveredInclude(handle: 3, uuid: uuid(0x180F), range: .init(0x30, 0x3F)),
            DiscoveredInclude(handle: 4, uuid: uuid(0x180A), range: .init(0x40, 0x4F)),
        ]
        #expect(bench.takeResults() == [.success(.includedServices(includes))])
    }

    @Test(
        "each characteristic has its end handle, also when only some are discovered (SPEC CEN-12)",
        arguments: [true, false])
    func characteristics(all: Bool) {
        var bench = ClientBench()
        bench.start(.discoverCharacteristics(.init(5, 0x10), uuids: all ? [] : [uuid(0x2A38)]))
        bench.play(
            """
            > 08 0500 1000 0328
            < 09 07 0600 10 0700 372a 0900 02 0a00 382a
            > 08 0a00 1000 0328
            < 01 08 0a00 0a
            """)
        let found = [
            DiscoveredCharacteristic(
                handle: 6, valueHandle: 7, endHandle: 8, properties: .notify, uuid: uuid(0x2A37)),
            DiscoveredCharacteristic(
                handle: 9, valueHandle: 10, endHandle: 16, properties: .read, uuid: uuid(0x2A38)),
        ]
        #expect(bench.takeResults() == [.success(.characteristics(all ? found : [found[1]]))])
    }

    @Test("descriptors of both widths are found up to the end of the range")
    func descriptors() {
        var bench = ClientBench()
        bench.start(.discoverDescriptors(.init(8, 10)))
        bench.play(
            """
            > 04 0800 0a00
            < 05 01 0800 0229
            > 04 0900 0a00
            < 05 02 0a00 0f0e0d0c0b0a09080706050403020100
            """)
        let found = [
            DiscoveredDescriptor(handle: 8, uuid: .clientCharacteristicConfiguration),
            DiscoveredDescriptor(
                handle: 10, uuid: BluetoothUUID(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F)),
        ]
        #expect(bench.takeResults() == [.success(.descriptors(found))])
    }

    @Test("a characteristic without room for descriptors has none, and no request is sent")
    func noDescriptors() {
        var bench = ClientBench()
        bench.start(.discoverDescriptors(.init(9, 8)))
        #expect(bench.sent.isEmpty)
        #expect(bench.takeResults() == [.success(.descriptors([]))])
    }

    @Test("a search in an empty range is refused, and no request is sent")
    func invalidRange() {
        var bench = ClientBench()
        bench.start(.discoverCharacteristics(.init(9, 8), uuids: []))
        bench.start(.discoverIncludedServices(.init(0, 8)))
        bench.start(.readUsingUUID(uuid(0x2A00), .init(9, 8)))
        #expect(bench.sent.isEmpty)
        #expect(bench.takeResults() == Array(repeating: .failure(.invalidParameters), count: 3))
    }
}
