import BLEPackets
import Testing

@testable import BLEHost

/// Every answer brings a search forward, but there are 65,535 handles to go: a discovery has a budget.
@Suite("GATT client: discovery without end")
struct EndlessDiscoveryTests {
    /// Answers each request as long as the client asks on.
    private func requests(
        _ operation: GATTOperation, mtu: UInt16 = 23, answer: (_ first: UInt16, _ turn: Int) -> [UInt8]
    ) -> (count: Int, result: Result<GATTResult, GATTFailure>?) {
        var bench = ClientBench(mtu: mtu)
        bench.start(operation)
        var count = 0
        while count < 70_000, let request = bench.takeSent().first {
            count += 1
            let octets = bytes(request)
            bench.receive(answer(UInt16(octets[1]) | UInt16(octets[2]) << 8, count))
        }
        return (count, bench.takeResults().first)
    }

    private func octets(_ value: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)] }

    @Test("a server that has one attribute for each handle, and reports one at a time, is given up after 4096 requests")
    func oneByOne() {
        let descriptors = requests(.discoverDescriptors(.all)) { first, _ in
            [0x05, 0x01] + octets(first) + [0x02, 0x29]
        }
        #expect(descriptors.count == 4096)
        #expect(descriptors.result == .failure(.discoveryTooLong))
        let services = requests(.discoverServices(uuids: [])) { first, _ in
            [0x11, 0x06] + octets(first) + octets(first) + [0x0D, 0x18]
        }
        #expect(services.count == 4096 && services.result == .failure(.discoveryTooLong))
        let named = requests(.discoverServices(uuids: [BluetoothUUID(UInt16(0x180D))])) { first, _ in
            [0x07] + octets(first) + octets(first)
        }
        #expect(named.count == 4096 && named.result == .failure(.discoveryTooLong))
        let names = (0..<9).map { BluetoothUUID(0xFF00 + UInt16($0)) }
        let many = requests(.discoverServices(uuids: names)) { first, _ in
            [0x11, 0x06] + octets(first) + octets(first) + [0x0D, 0x18]
        }
        #expect(many.count == 4096 && many.result == .failure(.discoveryTooLong))
        let values = requests(.readUsingUUID(BluetoothUUID(UInt16(0x2A00)), .all)) { first, _ in
            [0x09, 0x03] + octets(first) + [0x01]
        }
        #expect(values.count == 4096 && values.result == .failure(.discoveryTooLong))
    }

    @Test("reading the UUIDs of included services counts")
    func includes() {
        let found = requests(.discoverIncludedServices(.all)) { first, turn in
            // Every second request reads the long UUID of what the one before told.
            turn % 2 == 0
                ? [0x0B] + [UInt8](repeating: 7, count: 16) : [0x09, 0x06] + octets(first) + [1, 0, 0xFF, 0xFF]
        }
        #expect(found.count == 4096 && found.result == .failure(.discoveryTooLong))
    }

    @Test("many attributes in few requests are given up, too")
    func attributes() {
        let found = requests(.discoverDescriptors(.all), mtu: 517) { first, _ in
            [0x05, 0x01] + (0..<120).flatMap { octets(first &+ UInt16($0)) + [0x02, 0x29] }
        }
        #expect(found.count == 69)
        #expect(found.result == .failure(.discoveryTooLong))
    }

    @Test("a server that takes almost 30 s for each answer is given up after 20 minutes")
    func slowly() {
        var bench = ClientBench()
        bench.start(.discoverDescriptors(.all))
        var answers: UInt16 = 0
        while bench.takeSent().count == 1, answers < 1000 {
            bench.now = bench.now.advanced(by: .seconds(29))
            answers += 1
            bench.receive([0x05, 0x01] + octets(answers) + [0x02, 0x29])
        }
        #expect(answers == 42)
        #expect(bench.takeResults() == [.failure(.discoveryTooLong)])
        bench.start(.read(3))
        bench.receive("0b01")
        #expect(bench.takeResults() == [.success(.value([1]))])
        #expect(bench.disconnects == 0)
    }

    @Test("the link stays up, and the next operation works")
    func goesOn() {
        var settings = GATTClientSettings()
        settings.discoveryRequestLimit = 2
        var bench = ClientBench(settings: settings)
        bench.start(.discoverDescriptors(.all))
        bench.receive("05 01 0100 0229")
        bench.receive("05 01 0200 0229")
        #expect(bench.takeResults() == [.failure(.discoveryTooLong)])
        _ = bench.takeSent()
        bench.start(.read(3))
        bench.receive("0b01")
        #expect(bench.takeResults() == [.success(.value([1]))])
        #expect(bench.disconnects == 0)
    }
}
