import BLEHost
import BLEPackets
import Testing

@testable import BLEAppLifecycle

@Suite("What is known of a peripheral's database")
struct RemoteDatabaseTests {
    private static func handle(_ number: UInt16) -> AttributeHandle { AttributeHandle(rawValue: number) }

    private static func uuid(_ number: UInt16) -> BluetoothUUID { BluetoothUUID(number) }

    private static func service(_ first: UInt16, _ last: UInt16, _ uuid: UInt16 = 0x180D) -> DiscoveredService {
        DiscoveredService(
            uuid: Self.uuid(uuid), range: AttributeHandleRange(handle(first), handle(last)), isPrimary: true
        )
    }

    private static func characteristic(_ number: UInt16, _ uuid: UInt16 = 0x2A37) -> DiscoveredCharacteristic {
        DiscoveredCharacteristic(
            handle: handle(number), valueHandle: handle(number + 1), endHandle: handle(number + 2),
            properties: [.read], uuid: Self.uuid(uuid))
    }

    /// The numbers in an order that has nothing to do with theirs.
    private static func mixed(_ numbers: [UInt16]) -> [UInt16] {
        numbers.sorted { ($0 &* 40_503, $0) < ($1 &* 40_503, $1) }
    }

    @Test("8,192 characteristics in parts that overlap: each once, by handle, and the first one counts (SPEC CEN-11)")
    func characteristics() {
        var database = RemoteDatabase()
        _ = database.merge([Self.service(1, .max)])
        let id = RemoteAttributeID(rawValue: 1)
        let numbers = Self.mixed((0..<8192 as Range<UInt16>).map { 2 + 4 * $0 })
        var all: [RemoteCharacteristic] = []
        for start in stride(from: 0, to: numbers.count, by: 1000) {
            // Two hundred of the part before come again, with another type, and one twice.
            let part = numbers[start..<min(start + 1000, numbers.count)].map { Self.characteristic($0) }
            let again = numbers[max(0, start - 200)..<start].map { Self.characteristic($0, 0x2A00) }
            all = database.merge(again + part + part.prefix(1), into: id)
        }
        #expect(all.map(\.id.rawValue) == numbers.sorted())
        #expect(all.allSatisfy { $0.uuid == Self.uuid(0x2A37) && $0.valueHandle == $0.id.rawValue + 1 })
        #expect(database.service(id)?.characteristics == all)
    }

    @Test("8,192 services keep what is known of them, and those of a range that has changed go (SPEC CEN-12)")
    func services() {
        var database = RemoteDatabase()
        let numbers = Self.mixed((0..<8192 as Range<UInt16>).map { 1 + 4 * $0 })
        _ = database.merge(numbers.prefix(5000).map { Self.service($0, $0 + 3) })
        let known = RemoteAttributeID(rawValue: numbers[0])
        let kept = database.merge([Self.characteristic(numbers[0] + 1)], into: known)
        let all = database.merge(
            numbers.map { Self.service($0, $0 + 3, 0x180F) } + [Self.service(numbers[0], numbers[0] + 3)])
        #expect(all.map(\.id.rawValue) == numbers.sorted())
        #expect(all.count { $0.uuid == Self.uuid(0x180D) } == 5000)
        #expect(database.service(known)?.characteristics == kept)
        // The services that begin at 4,001 to 8,001, as the first one ends and the last one begins in the range.
        let gone = database.invalidate(from: 4004, to: 8001)
        #expect(gone.map(\.rawValue) == (1000...2000 as ClosedRange<UInt16>).map { 1 + 4 * $0 })
        #expect(database.services?.map(\.id.rawValue) == numbers.sorted().filter { $0 < 4001 || $0 > 8001 })
    }

    @Test("4,096 included services, half of them known: told in the order of their discovery, each once")
    func includedServices() {
        var database = RemoteDatabase()
        let numbers = Self.mixed((0..<4096 as Range<UInt16>).map { 1 + 4 * $0 })
        _ = database.merge([Self.service(60_000, 65_000)] + numbers.prefix(2048).map { Self.service($0, $0 + 3) })
        let includes: [DiscoveredInclude] = numbers.enumerated().map { place, number in
            DiscoveredInclude(
                handle: Self.handle(60_001 + UInt16(place)), uuid: Self.uuid(0x1812),
                range: AttributeHandleRange(Self.handle(number), Self.handle(number + 3)))
        }
        let id = RemoteAttributeID(rawValue: 60_000)
        _ = database.merge(Array(includes.prefix(3000)), into: id)
        let all: [RemoteService] = database.merge(Array(includes.dropFirst(2000)) + includes, into: id)
        #expect(all.map(\.id.rawValue) == numbers)
        #expect(all.count { $0.isPrimary } == 2048)
        #expect(database.includedServices.map(\.id.rawValue) == Array(numbers.dropFirst(2048)))
        #expect(database.service(id)?.includedServices == all.map(\.id))
    }
}
