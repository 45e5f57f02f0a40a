import BLEPackets
import Testing

@testable import BLEHost

/// Extended advertising data in several reports, some of which are lost (Core 5.4, Vol 4, Part E, 7.7.65.13).
@Suite("Chains of extended advertising reports")
struct AdvertisingChainTests {
    /// The two halves of the name "Lamp", and a whole advertisement with the name "AB".
    private static let head: [UInt8] = [5, 9, 0x4C, 0x61]
    private static let tail: [UInt8] = [0x6D, 0x70]
    private static let other: [UInt8] = [3, 9, 0x41, 0x42]

    private func scanning() -> HostRig {
        let rig = HostRig()
        rig.features = [.extendedAdvertising]
        rig.start()
        rig.submit(.radio(.scan(ScanRequest(isActive: false, allowsDuplicates: true))))
        return rig
    }

    private func report(
        _ rig: HostRig, _ type: ExtendedAdvertisingEventType, _ data: [UInt8],
        address: ReportedAddress = ReportedAddress(HostRig.peer), set: UInt8 = 1, primary: PHY = .le1M,
        secondary: PHY? = .le1M
    ) {
        rig.receive(
            LEExtendedAdvertisingReport(reports: [
                .init(
                    eventType: type, reportedAddress: address, primaryPHY: primary, secondaryPHY: secondary,
                    advertisingSetIdentifier: set, transmitPower: 127, rssi: -50,
                    periodicAdvertisingInterval: .init(rawValue: 0), directAddress: .zero, data: data)
            ]))
    }

    private func heard(_ rig: HostRig) -> [[UInt8]] { rig.discoveries.map(\.advertisement) }

    @Test("a chain is continued by reports of its address, advertising SID and PHY only")
    func identity() {
        let rig = scanning()
        report(rig, [.incompleteMoreToCome], Self.head)
        report(rig, [], Self.other, address: ReportedAddress(HostRig.peer(2)))
        report(rig, [], Self.other, address: .anonymous)
        report(rig, [], Self.other, set: 2)
        report(rig, [], Self.other, secondary: .le2M)
        report(rig, [], Self.other, primary: .leCoded)
        report(rig, [.legacy], Self.other)
        #expect(heard(rig) == [[UInt8]](repeating: Self.other, count: 6))
        report(rig, [], Self.tail)
        #expect(heard(rig).last == Self.head + Self.tail)
    }

    @Test("what begins on another PHY takes the place of a chain that got no end")
    func replaced() {
        let rig = scanning()
        report(rig, [.incompleteMoreToCome], [9, 9, 0x58])
        report(rig, [.incompleteMoreToCome], Self.head, secondary: .le2M)
        report(rig, [], Self.tail, secondary: .le2M)
        report(rig, [], Self.other)
        #expect(heard(rig) == [Self.head + Self.tail, Self.other])
    }

    @Test("a chain without an end is dropped after 100 ms, and the next advertisement of the set is whole")
    func time() {
        let rig = scanning()
        report(rig, [.incompleteMoreToCome], Self.head)
        rig.advance(by: .milliseconds(99))
        report(rig, [], Self.tail)
        #expect(heard(rig) == [Self.head + Self.tail])
        report(rig, [.incompleteMoreToCome], Self.head)
        rig.advance(by: .milliseconds(100))
        report(rig, [], Self.other)
        #expect(heard(rig) == [Self.head + Self.tail, Self.other])
        // The next one comes in parts, too.
        report(rig, [.incompleteMoreToCome], [9, 9, 0x58])
        rig.advance(by: .milliseconds(100))
        report(rig, [.incompleteMoreToCome], Self.head)
        report(rig, [], Self.tail)
        #expect(heard(rig).last == Self.head + Self.tail)
        #expect(rig.discoveries.count == 3)
    }

    @Test("complete and truncated data end a chain")
    func status() {
        let rig = scanning()
        report(rig, [.incompleteMoreToCome], Self.head)
        report(rig, [.incompleteTruncated], [])
        #expect(heard(rig) == [Self.head])
        report(rig, [], Self.other)
        report(rig, [.incompleteMoreToCome], Self.head)
        report(rig, [], Self.tail)
        report(rig, [], Self.other)
        #expect(heard(rig) == [Self.head, Self.other, Self.head + Self.tail, Self.other])
    }

    @Test("more than 1,650 octets end a chain, and time ends what is left of it")
    func size() {
        let rig = scanning()
        let part = [UInt8](repeating: 0, count: 229)
        // 8 parts are 1,832 octets.
        for _ in 0..<8 { report(rig, [.incompleteMoreToCome], part) }
        rig.advance(by: .milliseconds(100))
        report(rig, [], Self.other)
        #expect(heard(rig) == [Self.other])
    }

    @Test("anonymous advertisements are joined by their advertising SID, and in time")
    func anonymous() {
        let rig = scanning()
        report(rig, [.incompleteMoreToCome], Self.head, address: .anonymous)
        report(rig, [], Self.other, address: .anonymous, set: 2)
        report(rig, [], Self.tail, address: .anonymous)
        #expect(heard(rig) == [Self.other, Self.head + Self.tail])
        report(rig, [.incompleteMoreToCome], Self.head, address: .anonymous)
        rig.advance(by: .milliseconds(100))
        report(rig, [], Self.other, address: .anonymous)
        #expect(heard(rig).last == Self.other)
    }

    @Test("a legacy advertisement does not end a chain of a device that gives no advertising SID")
    func noIdentifier() {
        let rig = scanning()
        report(rig, [.incompleteMoreToCome], Self.head, set: 0xFF)
        report(rig, [.legacy], Self.other, set: 0xFF)
        report(rig, [], Self.tail, set: 0xFF)
        #expect(heard(rig) == [Self.other, Self.head + Self.tail])
    }

    @Test("a scan response is not the end of an advertisement")
    func scanResponse() {
        let rig = scanning()
        report(rig, [.scannable, .incompleteMoreToCome], Self.head)
        report(rig, [.scannable, .scanResponse], Self.other)
        #expect(rig.discoveries.map(\.scanResponse) == [Self.other])
        report(rig, [.scannable], Self.tail)
        #expect(heard(rig).last == Self.head + Self.tail)
    }
}
