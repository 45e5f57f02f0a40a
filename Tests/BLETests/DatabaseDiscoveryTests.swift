import BLEHost
import Testing

@testable import BLE

/// What a server says of its services is not taken for more than it can be.
@Suite("Discovery of a whole database")
struct DatabaseDiscoveryTests {
    private func service(_ first: UInt16, _ last: UInt16, isPrimary: Bool = true) -> Service {
        Service(
            uuid: BluetoothUUID(UInt16(0x180D)),
            range: .init(AttributeHandle(rawValue: first), AttributeHandle(rawValue: last)), isPrimary: isPrimary)
    }

    private func include(_ handle: UInt16, _ first: UInt16, _ last: UInt16) -> IncludedService {
        IncludedService(handle: AttributeHandle(rawValue: handle), service: service(first, last, isPrimary: false))
    }

    @Test("overlapping included services are not searched twice")
    func overlappingIncludes() {
        let includes = (0..<1000).map { include(UInt16(2 + $0), UInt16(0x100 + $0), 0xFFFF) }
        let found = DatabaseDiscovery.secondaryServices(among: includes, besides: [service(1, 0x50)])
        #expect(found.map(\.range) == [includes[0].service.range])
        // One that lies across a primary service is none either, nor is the primary one itself.
        let odd = [include(2, 1, 0x50), include(3, 0x40, 0x60), include(4, 0x61, 0x70), include(5, 0x61, 0x70)]
        #expect(
            DatabaseDiscovery.secondaryServices(among: odd, besides: [service(1, 0x50)]).map(\.range.first) == [0x61])
    }

    @Test("spans join what overlaps, in order")
    func spans() {
        var spans = HandleSpans()
        for (first, last) in [(10, 20), (40, 50), (30, 35), (18, 31), (60, 60)] as [(UInt16, UInt16)] {
            spans.insert(.init(AttributeHandle(rawValue: first), AttributeHandle(rawValue: last)))
        }
        #expect(spans.ranges.map { [$0.first.rawValue, $0.last.rawValue] } == [[10, 35], [40, 50], [60, 60]])
        #expect(spans.overlaps(.init(35, 36)) && spans.overlaps(.init(1, 0xFFFF)) && !spans.overlaps(.init(36, 39)))
        #expect(!spans.overlaps(.init(61, 0xFFFF)) && spans.overlaps(.init(45, 46)))
    }

    @Test("characteristics end where their service does, also with thousands of services")
    func clipped() {
        var services: [Service] = []
        var characteristics: [Characteristic] = []
        for start in stride(from: UInt16(1), to: 40_001, by: 10) {
            services.append(service(start, start + 7))
            characteristics.append(
                Characteristic(
                    uuid: BluetoothUUID(UInt16(0x2A37)), handle: AttributeHandle(rawValue: start + 1),
                    valueHandle: AttributeHandle(rawValue: start + 2),
                    endHandle: AttributeHandle(rawValue: start + 10), properties: .read))
        }
        characteristics.reverse()
        let clipped = DatabaseDiscovery.clipped(characteristics, to: services)
        #expect(clipped.map(\.endHandle) == services.map(\.range.last))
    }

    @Test("what is in a service inside another one belongs to the inner one, and ends with it")
    func nested() {
        // 1–30 with 10–20 in it, and 12–15 in that.
        let services = [service(1, 30), service(10, 20), service(12, 15), service(31, 40)]
        let starts: [UInt16] = [2, 10, 13, 17, 25, 32]
        let characteristics = starts.enumerated().map { index, start in
            Characteristic(
                uuid: BluetoothUUID(UInt16(0x2A37)), handle: AttributeHandle(rawValue: start),
                valueHandle: AttributeHandle(rawValue: start + 1),
                endHandle: AttributeHandle(rawValue: index + 1 < starts.count ? starts[index + 1] - 1 : 0xFFFF),
                properties: .read)
        }
        let clipped = DatabaseDiscovery.clipped(characteristics, to: services)
        #expect(clipped.map(\.endHandle.rawValue) == [9, 11, 15, 20, 30, 40])
        let owned = DatabaseDiscovery.elements(clipped, of: services) { $0.handle }
        #expect(owned.mapValues { $0.map(\.handle.rawValue) } == [1: [2, 25], 10: [10, 17], 12: [13], 31: [32]])
    }

    @Test("a discovery of all services goes to the end of the outermost one")
    func spanOfNested() {
        #expect(DatabaseDiscovery.span(of: [service(1, 9), service(10, 100), service(50, 60)])?.last.rawValue == 100)
        #expect(DatabaseDiscovery.span(of: []) == nil)
    }

    @Test(
        "descriptors of neighbours are searched together as far as one response has room (Core 5.4, Vol 3, Part F, 3.4.3.2)"
    )
    func searchRanges() {
        // Each has a declaration, a value and two descriptors.
        let characteristics = (0..<4).map { number in
            let start = UInt16(2 + 4 * number)
            return Characteristic(
                uuid: BluetoothUUID(UInt16(0x2A37)), handle: AttributeHandle(rawValue: start),
                valueHandle: AttributeHandle(rawValue: start + 1), endHandle: AttributeHandle(rawValue: start + 3),
                properties: .read)
        }
        func ranges(mtu: Int) -> [[UInt16]] {
            DatabaseDiscovery.searchRanges(
                for: characteristics, services: [service(1, 17)], includes: [], length: (mtu - 2) / 4
            ).map { [$0.first.rawValue, $0.last.rawValue] }
        }
        #expect(ranges(mtu: 23) == [[4, 5], [8, 9], [12, 13], [16, 17]])
        #expect(ranges(mtu: 26) == [[4, 9], [12, 17]])
        #expect(ranges(mtu: 517) == [[4, 17]])
    }
}
