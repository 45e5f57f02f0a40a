import BLEPackets
import BLESimulator
import Testing

@Suite("Faults of scanning and of advertising")
struct ScanFaultTests {
    let air = SimulatedAir.demoWorld()
    let host: TestHost
    let heart = SimulatedPeripheral.jellingHeart.address

    init() { host = .ready(air) }

    private func change(_ change: (inout SimulatedControllerFaults) -> Void) {
        air.changeFaults(of: host.controller, change)
    }

    @discardableResult
    private func scanExtended(phys: PHYSet = .le1M, ownAddressType: OwnAddressType = .public) -> HCIStatus? {
        host.perform(LESetExtendedScanEnable(isEnabled: false))
        let parameters = LESetExtendedScanParameters.Parameters(
            interval: .milliseconds(60), window: .milliseconds(60))
        host.perform(
            LESetExtendedScanParameters(
                ownAddressType: ownAddressType, scanningPHYs: phys,
                parameters: Array(repeating: parameters, count: phys == .le1M ? 1 : 2)))
        return host.perform(LESetExtendedScanEnable(isEnabled: true))
    }

    /// Adds a broadcaster with long data.
    private func addLong(_ number: UInt64, fill: UInt8, count: Int = 400, isAnonymous: Bool = false) {
        var advertisement = SimulatedAdvertisement(name: nil, isConnectable: false, isScannable: false)
        advertisement.data = [UInt8](repeating: fill, count: count)
        advertisement.isExtended = true
        air.addBroadcaster(
            SimulatedBroadcaster(
                address: DeviceAddress(value: 0xC000_0000_1000 + number, kind: .random), advertisement: advertisement))
    }

    @Test("a scan is refused while a link is open, and works when it ends (A25)")
    func scanWithLinks() throws {
        change { $0.refusesScanWithLinks = true }
        let link = try host.connect(to: heart)
        #expect(host.scan() == .commandDisallowed)
        host.perform(Disconnect(connectionHandle: link, reason: .remoteUserTerminatedConnection))
        host.run(milliseconds: 200)
        #expect(host.scan() == .success)
    }

    @Test("only extended scans are refused while a link is open (A25)")
    func extendedScanWithLinks() throws {
        var configuration = SimulatedControllerConfiguration.numbered(7)
        configuration.allowsMixedCommands = true
        let mixed = TestHost.ready(air, configuration)
        air.changeFaults(of: mixed.controller) { $0.refusesExtendedScanWithLinks = true }
        _ = try mixed.connect(to: heart)
        #expect(mixed.perform(LESetExtendedScanEnable(isEnabled: true)) == .commandDisallowed)
        #expect(mixed.scan() == .success)
    }

    @Test("a scan with LE Coded receives nothing, one without does (A27)")
    func deafCoded() {
        change { $0.codedScanIsDeaf = true }
        scanExtended(phys: [.le1M, .leCoded])
        host.run(milliseconds: 1000)
        #expect(host.extendedReports.isEmpty)
        scanExtended()
        host.run(milliseconds: 1000)
        #expect(!host.extendedReports.isEmpty)
    }

    @Test("reports come without their data (A29)")
    func empties() {
        change { $0.emptiesReports = true }
        host.scan()
        host.run(milliseconds: 500)
        #expect(!host.legacyReports.isEmpty && host.legacyReports.allSatisfy(\.data.isEmpty))
    }

    @Test("each report has the controller's public address (A30)")
    func ownAddress() {
        change { $0.reportsOwnAddress = true }
        host.scan()
        host.run(milliseconds: 1000)
        #expect(Set(host.legacyReports.map(\.address)) == [SimulatedControllerConfiguration().publicAddress])
    }

    @Test("changed data of a known address is filtered out (A31)")
    func strictDuplicates() {
        var advertisement = SimulatedAdvertisement(name: nil, isConnectable: false, isScannable: false)
        advertisement.isExtended = true
        let address = DeviceAddress(value: 0xC000_0000_1001, kind: .random)
        let device = air.addBroadcaster(SimulatedBroadcaster(address: address, advertisement: advertisement))
        for isStrict in [false, true] {
            change { $0.strictDuplicates = isStrict }
            host.perform(LESetExtendedScanEnable(isEnabled: false))
            host.forget()
            host.perform(LESetExtendedScanEnable(isEnabled: true, duplicateFilter: .on))
            for number in 1...3 as ClosedRange<UInt8> {
                advertisement.data = [2, 1, number]
                air.setAdvertisement(advertisement, of: device)
                host.run(milliseconds: 1000)
            }
            #expect(host.extendedReports.filter { $0.address == address }.count == (isStrict ? 1 : 3))
        }
    }

    @Test("an event with reports is cut off, and the events after it are whole (A34)")
    func cutReports() {
        change { $0.cutsReports = true }
        host.scan(.passive)
        var packets: [[UInt8]] = []
        air.advance(to: air.nowMicroseconds + 500_000)
        while let packet = air.nextPacket(from: host.controller) { packets.append(packet) }
        #expect(!packets.isEmpty)
        for packet in packets {
            // The length of the data is two octets more than there are; the RSSI is missing, too.
            #expect(Int(packet[2]) == packet.count - 3)
            #expect(Int(packet[13]) == packet.count - 14 + 2)
        }
        change { $0.cutsReports = false }
        host.run(milliseconds: 500)
        #expect(!host.legacyReports.isEmpty)
    }

    @Test("the strength is unknown in each report (A35)")
    func noRSSI() {
        change { $0.reportsNoRSSI = true }
        host.scan()
        host.run(milliseconds: 500)
        #expect(!host.legacyReports.isEmpty && host.legacyReports.allSatisfy { $0.rssi == 127 })
    }

    @Test("reserved bits of type and PHY are set (A36)")
    func reservedBits() {
        change { $0.fillsReservedBits = true }
        scanExtended()
        host.run(milliseconds: 500)
        #expect(!host.extendedReports.isEmpty)
        #expect(host.extendedReports.allSatisfy { $0.eventType.rawValue & 0x2500 == 0x2500 })
        #expect(host.extendedReports.allSatisfy { $0.primaryPHY.rawValue == 0xA1 })
    }

    @Test("of long data only the first part comes, which says that more does (A37)")
    func lostFragment() {
        change { $0.losesLastFragment = true }
        addLong(1, fill: 0xAA)
        scanExtended()
        host.run(milliseconds: 1000)
        let parts = host.extendedReports.filter { $0.data.first == 0xAA }
        #expect(!parts.isEmpty)
        #expect(parts.allSatisfy { $0.eventType.dataStatus == .incompleteMoreToCome && $0.data.count == 229 })
    }

    @Test("the parts of two long advertisements alternate (A38)")
    func interleaved() {
        change { $0.interleavesFragments = true }
        addLong(1, fill: 0xAA)
        addLong(2, fill: 0xBB)
        scanExtended()
        host.run(milliseconds: 1000)
        let fills = host.extendedReports.compactMap { $0.data.first }.filter { $0 == 0xAA || $0 == 0xBB }
        #expect(fills.count >= 4)
        #expect(fills.indices.dropFirst().contains { fills[$0] != fills[$0 - 1] })
        // The first part of each is followed by a part of the other.
        #expect(fills[0] != fills[1] && fills[0] == fills[2] && fills[1] == fills[3])
    }

    @Test("a scan with a random address is refused before the address is set (A39)")
    func randomAddressFirst() {
        #expect(scanExtended(ownAddressType: .random) == .invalidCommandParameters)
        host.perform(LESetRandomAddress(address: DeviceAddress(value: 0xC000_0000_0001, kind: .random)))
        #expect(scanExtended(ownAddressType: .random) == .success)
    }

    @Test("beyond a rate reports are lost (A41)")
    func rate() {
        change { $0.greatestReportRate = 4 }
        host.scan()
        host.run(milliseconds: 5000)
        #expect(16...24 ~= host.legacyReports.count)
    }

    @Test("advertising is refused while a scan runs (A44)")
    func advertisingWhileScanning() {
        change { $0.refusesAdvertisingWhileScanning = true }
        host.scan()
        #expect(host.advertise() == .commandDisallowed)
        host.perform(LESetScanEnable(isEnabled: false))
        #expect(host.advertise() == .success)
    }

    @Test("a new random address is used after the next advertising parameters (A72)")
    func latchedAddress() {
        let other = TestHost.ready(air, .numbered(5))
        air.changeFaults(of: other.controller) { $0.latchesAdvertisingAddress = true }
        func shown() -> UInt64? {
            host.forget()
            host.run(milliseconds: 500)
            return host.legacyReports.first { $0.address.value >> 40 == 0xF0 }?.address.value
        }
        host.scan()
        func enable(_ isEnabled: Bool) { other.perform(LESetAdvertisingEnable(isEnabled: isEnabled)) }
        let parameters = LESetAdvertisingParameters(
            minimumInterval: .milliseconds(100), maximumInterval: .milliseconds(100), ownAddressType: .random)
        other.perform(LESetRandomAddress(address: DeviceAddress(value: 0xF000_0000_0001, kind: .random)))
        other.perform(parameters)
        enable(true)
        #expect(shown() == 0xF000_0000_0001)
        enable(false)
        other.perform(LESetRandomAddress(address: DeviceAddress(value: 0xF000_0000_0002, kind: .random)))
        enable(true)
        #expect(shown() == 0xF000_0000_0001)
        enable(false)
        other.perform(parameters)
        enable(true)
        #expect(shown() == 0xF000_0000_0002)
    }
}
