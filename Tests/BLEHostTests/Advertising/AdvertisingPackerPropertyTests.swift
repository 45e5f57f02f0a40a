import BLEPackets
import Testing

@testable import BLEHost

/// The invariants of SPEC 3.5 over generated wishes, the same in every run.
@Suite("Advertising packer invariants")
struct AdvertisingPackerPropertyTests {
    struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
            return z ^ z >> 31
        }
    }

    static let characters: [Character] = ["a", "Z", "7", " ", "é", "ß", "€", "語", "🎈", "é", "🇩🇪", "\u{0}"]

    static func contribution(_ generator: inout Generator) -> AdvertisingContribution {
        let hasName = Int.random(in: 0..<4, using: &generator) > 0
        let name =
            hasName
            ? String(
                (0..<Int.random(in: 0...20, using: &generator)).map { _ in
                    characters.randomElement(using: &generator) ?? "a"
                }) : nil
        let uuids: [BluetoothUUID] = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: BluetoothUUID(UInt32.random(in: 0...0x1_0020, using: &generator))
            case 1: BluetoothUUID(high: generator.next(), low: generator.next())
            case 2: BluetoothUUID(UInt16.random(in: 0x1800...0x1808, using: &generator)).expanded
            default: BluetoothUUID(UInt16.random(in: 0x1800...0x1840, using: &generator))
            }
        }
        return AdvertisingContribution(
            localName: name, serviceUUIDs: uuids, state: generator.next() & 3 == 0 ? .background : .foreground,
            overflow: emissions.randomElement(using: &generator) ?? nil)
    }

    /// Most contributions say nothing.
    static let emissions: [AdvertisingPackerSettings.OverflowEmission?] = [
        nil, nil, nil, .off, .on(company: OverflowArea.company),
    ]

    @Test(
        "both packets parse, keep their limits, show or hash each service and leak nothing (SPEC 3.5)",
        arguments: 1...8 as ClosedRange<UInt64>)
    func holds(seed: UInt64) throws {
        var generator = Generator(state: seed)
        var failures = 0
        for round in 0..<12_500 where failures < 5 {
            let count = round % 4 == 0 ? Int.random(in: 0...4, using: &generator) : 1
            let wishes = (0..<count).map { _ in Self.contribution(&generator) }
            let flags = AdvertisingFlags(rawValue: UInt8.random(in: 0...31, using: &generator))
            let settings = AdvertisingPackerSettings(flags: flags, overflow: .on(company: OverflowArea.company))
            let packed = AdvertisingPacker.pack(wishes, settings: settings)
            let problems = Self.problems(of: packed, wishes, flags)
            let isRepeated = round % 16 > 0 || AdvertisingPacker.pack(wishes, settings: settings) == packed
            guard problems.isEmpty, isRepeated else {
                failures += 1
                Issue.record("\(problems) for \(wishes)")
                continue
            }
        }
        #expect(failures == 0)
    }

    /// Whether the mask stands at the end of the advertisement.
    static func endsWithMask(_ packed: PackedAdvertisement) -> Bool {
        packed.advertisement.suffix(21).starts(with: [0x14, 0xFF, 0x4C, 0x00, 0x01])
    }

    static func problems(
        of packed: PackedAdvertisement, _ wishes: [AdvertisingContribution], _ flags: AdvertisingFlags
    ) -> [String] {
        var problems: [String] = []
        func check(_ isTrue: Bool, _ problem: String) { if !isTrue { problems.append(problem) } }
        let read = AdvertisingData(
            advertisement: packed.advertisement.span.bytes, scanResponse: packed.scanResponse.span.bytes)
        check(read.faults.isEmpty, "does not parse")
        check(packed.advertisement.count <= 31 && packed.scanResponse.count <= 31, "too long")
        check(read.flags == flags.rawValue && packed.advertisement.starts(with: [2, 1, flags.rawValue]), "flags")
        let area: [UInt8] = [0x14, 0xFF, 0x4C, 0x00, 0x01]
        let isAreaInScanResponse = packed.scanResponse.starts(with: area)
        let nameCount = packed.scanResponse.count - (isAreaInScanResponse ? 21 : 0)
        check(nameCount <= (isAreaInScanResponse ? 10 : 12), "the length of the name")
        check(read.overflowArea == nil || isAreaInScanResponse || endsWithMask(packed), "the place of the mask")

        let foreground = wishes.filter { $0.state == .foreground }
        let offered = foreground.flatMap(\.serviceUUIDs)
        let requested = wishes.flatMap(\.serviceUUIDs)
        check(read.serviceUUIDs.allSatisfy(offered.contains), "a service that nobody in the foreground asked for")
        // Every service is visible or hashed, unless who asked for it hashes none, and no bit means any other.
        let hidden = Set(requested).subtracting(read.serviceUUIDs)
        let hashed = wishes.filter { $0.overflow != .off }.flatMap(\.serviceUUIDs)
        let mask = OverflowArea(hashing: Array(hidden.intersection(hashed)))
        check((read.overflowArea ?? OverflowArea()) == mask, "the mask has other bits")
        check(Set(packed.visible) == Set(read.serviceUUIDs) && Set(packed.overflow) == hidden, "the report")
        check(read.localName == packed.name?.value || packed.name?.value.utf8.first == 0, "the name of the report")
        if let name = packed.name {
            let wished = foreground.first { $0.localName?.isEmpty == false }?.localName ?? ""
            check(Array(wished.utf8).starts(with: name.value.utf8), "no beginning of the name")
            check(name.isTruncated == (name.value.utf8.count < wished.utf8.count), "truncation")
            check(read.isNameComplete == !name.isTruncated, "type of the name")
            check(!name.value.utf8.isEmpty, "an empty name")
        } else {
            check(read.localName == nil, "a name from nowhere")
        }
        return problems
    }
}
