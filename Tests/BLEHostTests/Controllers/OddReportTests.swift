import BLEPackets
import Testing

@testable import BLEHost

/// Advertising reports as some controllers send them.
@Suite("Odd advertising reports")
struct OddReportTests {
    private func scanning(
        _ request: ScanRequest = ScanRequest(isActive: false, allowsDuplicates: true), extended: Bool = false
    ) -> HostRig {
        let rig = HostRig()
        if extended { rig.features = [.extendedAdvertising] }
        rig.start()
        rig.submit(.radio(.scan(request)))
        return rig
    }

    private func report(
        _ rig: HostRig, _ type: ExtendedAdvertisingEventType, _ data: [UInt8], address: ReportedAddress? = nil,
        set: UInt8 = 1, primary: UInt8 = 1, secondary: UInt8 = 1, rssi: Int8 = -50
    ) {
        rig.receive(
            LEExtendedAdvertisingReport(reports: [
                .init(
                    eventType: type, reportedAddress: address ?? ReportedAddress(HostRig.peer),
                    primaryPHY: PHY(rawValue: primary), secondaryPHY: secondary == 0 ? nil : PHY(rawValue: secondary),
                    advertisingSetIdentifier: set, transmitPower: 127, rssi: rssi,
                    periodicAdvertisingInterval: .init(rawValue: 0), directAddress: .zero, data: data)
            ]))
    }

    // MARK: Duplicates

    @Test("the controller's filter of duplicates is never on, legacy or extended, whatever clients want (A31)")
    func duplicateFilter() {
        for extended in [false, true] {
            for allowsDuplicates in [false, true] {
                let rig = scanning(ScanRequest(allowsDuplicates: allowsDuplicates), extended: extended)
                let opcode = extended ? LESetExtendedScanEnable.opcode : LESetScanEnable.opcode
                let enables = rig.commands.filter { $0.opcode == opcode }
                #expect(!enables.isEmpty && enables.allSatisfy { $0.parameters[1] == 0 })
            }
        }
    }

    @Test("new data of a device and each of its packets are seen (A31)")
    func changes() {
        let rig = scanning()
        for value in 0..<5 as Range<UInt8> {
            rig.receive(HostRig.report(data: [2, 1, value], rssi: -40 - Int8(value)))
            rig.receive(HostRig.report(data: [2, 1, value], rssi: -60))
        }
        #expect(rig.discoveries.count == 10)
        #expect(Set(rig.discoveries.map(\.rssi)).count == 6)
    }

    @Test("a thousand devices are each discovered once, however often they are repeated (A32)")
    func manyDevices() {
        let rig = scanning(ScanRequest(isActive: false))
        for _ in 0..<3 { for number in 0..<1000 { rig.receive(HostRig.report(HostRig.peer(number))) } }
        #expect(rig.discoveries.count == 1000)
    }

    // MARK: Bytes

    @Test("several reports in one event, each with all its fields, are taken one by one (A33)")
    func packed() {
        let rig = scanning()
        rig.receive(
            LEAdvertisingReport(
                reports: (0..<3).map {
                    .init(
                        eventType: .nonConnectableUndirected, address: HostRig.peer($0),
                        data: [UInt8](repeating: UInt8($0), count: 5 * $0), rssi: -40 - Int8($0))
                }))
        #expect(rig.discoveries.map(\.address) == (0..<3).map { HostRig.peer($0) })
        #expect(rig.discoveries.map(\.advertisement.count) == [0, 5, 10])
        #expect(rig.discoveries.map(\.rssi) == [-40, -41, -42])
    }

    @Test("a data length beyond the event costs that report; those before it count, the loss is counted (A34)")
    func cut() {
        let rig = scanning()
        var packet = PacketWriter()
        LEAdvertisingReport(
            reports: (0..<2).map {
                .init(eventType: .nonConnectableUndirected, address: HostRig.peer($0), data: [2, 1, 6], rssi: -40)
            }
        ).encodePacket(into: &packet)
        var octets = packet.bytes
        // The length of the second one's data.
        octets[octets.count - 5] = 31
        rig.receive(octets)
        #expect(rig.discoveries.map(\.address) == [HostRig.peer(0)])
        #expect(rig.counters.malformedPackets == 1)
        // The event ends within the report.
        octets.removeLast(3)
        octets[2] -= 3
        rig.receive(octets)
        #expect(rig.discoveries.map(\.address) == [HostRig.peer(0), HostRig.peer(0)])
        #expect(rig.counters.malformedPackets == 2)
        rig.receive(HostRig.report())
        #expect(rig.discoveries.count == 3)
    }

    @Test("reserved bits of Event_Type and PHYs do not reach clients (A36)")
    func reservedBits() {
        let rig = scanning(extended: true)
        // As in bluetooth-next#607.
        report(rig, ExtendedAdvertisingEventType(rawValue: 0x2513), [2, 1, 6], primary: 0x81, secondary: 0xA2)
        report(rig, ExtendedAdvertisingEventType(rawValue: 0xFF81), [2, 1, 6], set: 2, primary: 0x61, secondary: 0xA2)
        report(rig, [], [2, 1, 6], set: 3, primary: 0x1F, secondary: 0x05)
        report(rig, [], [2, 1, 6], set: 4, primary: 0x03, secondary: 0x04)
        #expect(rig.discoveries.map(\.primaryPHY) == [.le1M, .le1M, .le1M, .leCoded])
        #expect(rig.discoveries.map(\.secondaryPHY) == [nil, .le2M, nil, .leCoded])
        #expect(rig.discoveries.map(\.isConnectable) == [true, true, false, false])
        #expect(rig.discoveries.map(\.isExtended) == [false, true, true, true])
    }

    // MARK: Strength

    @Test("an unknown or impossible RSSI is 127, and never the strongest (A35)")
    func unknownStrength() {
        for rssi in [127, 126, 21, -128] as [Int8] {
            let all = scanning()
            all.receive(HostRig.report(rssi: rssi))
            #expect(all.discoveries.map(\.rssi) == [127])
            let near = scanning(ScanRequest(isActive: false, minimumRSSI: -60))
            near.receive(HostRig.report(rssi: rssi))
            #expect(near.discoveries.isEmpty)
            near.receive(HostRig.report(rssi: -55))
            #expect(near.discoveries.count == 1)
            let extended = scanning(extended: true)
            report(extended, [], [2, 1, 6], rssi: rssi)
            #expect(extended.discoveries.map(\.rssi) == [127])
        }
        let strong = scanning(ScanRequest(isActive: false, minimumRSSI: -60))
        strong.receive(HostRig.report(rssi: 20))
        #expect(strong.discoveries.map(\.rssi) == [20])
    }

    @Test("a discovery that waited for its scan response keeps an unknown RSSI unknown (A35)")
    func heldStrength() {
        let rig = scanning(ScanRequest(minimumRSSI: -60))
        rig.receive(HostRig.report(type: .connectableUndirected, rssi: 127))
        rig.advance(by: .seconds(1))
        #expect(rig.discoveries.isEmpty)
    }

    // MARK: Parts

    private static let flags: [UInt8] = [2, 1, 6]
    /// The first part of a name.
    private static let half: [UInt8] = flags + [11, 9] + Array("Half".utf8)
    private static let thermo: [UInt8] = flags + [7, 9] + Array("Thermo".utf8)

    @Test("the first part of an advertisement whose end is lost is not glued to the next whole one (A37)")
    func lostEnd() {
        let rig = scanning(extended: true)
        report(rig, [.incompleteMoreToCome], Self.half)
        report(rig, [], Self.thermo)
        #expect(rig.discoveries.map(\.advertisement) == [Self.thermo])
        report(rig, [], [9, 9, 9])
        #expect(rig.discoveries.last?.advertisement == [9, 9, 9], "nor is what follows")
    }

    @Test("a new first part takes the place of one whose end is lost (A37)")
    func newBeginning() {
        let rig = scanning(extended: true)
        for _ in 0..<3 { report(rig, [.incompleteMoreToCome], Self.half) }
        report(rig, [], Array(" done!".utf8))
        #expect(rig.discoveries.map(\.advertisement) == [Self.half + Array(" done!".utf8)])
    }

    @Test("the same holds for an anonymous advertiser (A37)")
    func lostAnonymousEnd() {
        let rig = scanning(extended: true)
        report(rig, [.incompleteMoreToCome], Self.half, address: .anonymous)
        report(rig, [], Self.thermo, address: .anonymous)
        report(rig, [.incompleteMoreToCome], Self.half, address: .anonymous)
        report(rig, [.incompleteMoreToCome], Self.half, address: .anonymous)
        report(rig, [], Array(" done!".utf8), address: .anonymous)
        #expect(rig.discoveries.map(\.advertisement) == [Self.thermo, Self.half + Array(" done!".utf8)])
    }

    @Test("a part without an end is forgotten in time (A37)")
    func time() {
        let rig = scanning(extended: true)
        report(rig, [.incompleteMoreToCome], Self.half)
        rig.advance(by: .seconds(1))
        report(rig, [], [7, 9, 1])
        #expect(rig.discoveries.map(\.advertisement) == [[7, 9, 1]])
    }

    @Test("parts of several advertisers that alternate are joined by address, SID and kind (A38)")
    func alternating() {
        let rig = scanning(extended: true)
        let tail: [UInt8] = [0x6D, 0x70]
        let places: [(address: ReportedAddress, set: UInt8)] = [
            (ReportedAddress(HostRig.peer(1)), 1), (ReportedAddress(HostRig.peer(1)), 2),
            (ReportedAddress(HostRig.peer(2)), 1), (.anonymous, 1), (.anonymous, 2), (.anonymous, 3),
        ]
        for (number, place) in places.enumerated() {
            report(rig, [.incompleteMoreToCome], [9, 9, UInt8(number)], address: place.address, set: place.set)
        }
        for place in places.reversed() { report(rig, [], tail, address: place.address, set: place.set) }
        #expect(rig.discoveries.map(\.advertisement) == (0..<6).reversed().map { [9, 9, $0] + tail })
    }

    @Test("the beginnings of anonymous advertisements are bounded, the oldest makes room (A38)")
    func bounded() {
        let rig = scanning(extended: true)
        for set in 0..<12 as Range<UInt8> {
            report(rig, [.incompleteMoreToCome], [9, 9, set], address: .anonymous, set: set)
        }
        for set in 0..<12 as Range<UInt8> { report(rig, [], [1], address: .anonymous, set: set) }
        #expect(rig.discoveries.map(\.advertisement) == (0..<4).map { _ in [1] } + (4..<12).map { [9, 9, $0, 1] })
    }

    @Test("a legacy scan response belongs to its own device only (A38)")
    func scanResponses() {
        let rig = scanning(ScanRequest())
        rig.receive(HostRig.report(HostRig.peer(1), type: .connectableUndirected, data: [2, 1, 6]))
        rig.receive(HostRig.report(HostRig.peer(2), type: .connectableUndirected, data: [2, 1, 4]))
        rig.receive(HostRig.report(HostRig.peer(2), type: .scanResponse, data: [2, 9, 0x32]))
        rig.receive(HostRig.report(HostRig.peer(1), type: .scanResponse, data: [2, 9, 0x31]))
        #expect(rig.discoveries.map(\.address) == [HostRig.peer(2), HostRig.peer(1)])
        #expect(rig.discoveries.map(\.advertisement) == [[2, 1, 4], [2, 1, 6]])
        #expect(rig.discoveries.map(\.scanResponse) == [[2, 9, 0x32], [2, 9, 0x31]])
    }

    // MARK: Switching off

    @Test("a controller that refuses to switch off what is off, or to switch on what is on, leads to no loop (A43)")
    func needlessSwitching() {
        let disallowed = HostRig.Answer.complete([HCIStatus.commandDisallowed.rawValue])
        let rig = HostRig()
        rig.start()
        let scan = rig.submit(.radio(.scan(ScanRequest())))
        rig.answers[LESetScanEnable.opcode] = disallowed
        rig.submit(.cancel(scan))
        #expect(rig.count(of: LESetScanEnable.opcode) == 2, "refused, and so off")
        rig.answers[LESetScanEnable.opcode] = nil
        let again = rig.submit(.radio(.scan(ScanRequest())))
        rig.receive(HostRig.report(type: .nonConnectableUndirected))
        #expect(rig.results(of: again).isEmpty && rig.discoveries.count == 1)
        #expect(rig.commands.count < 40)
    }
}
