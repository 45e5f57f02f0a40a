import BLEPackets
import BLESimulator
import Testing

@Suite("Two controllers on one air")
struct TwoControllersTests {
    let air = SimulatedAir()
    let central: TestHost
    let peripheral: TestHost
    let peripheralAddress = SimulatedControllerConfiguration.address(2)
    let centralAddress = SimulatedControllerConfiguration.address(1)

    init() {
        central = .ready(air, .numbered(1))
        peripheral = .ready(air, .numbered(2))
    }

    private func connect() throws -> (central: ConnectionHandle, peripheral: ConnectionHandle) {
        peripheral.advertise()
        let handle = try central.connect(to: peripheralAddress)
        peripheral.collect()
        return (handle, try #require(peripheral.lastLink).connectionHandle)
    }

    // MARK: Advertising and scanning

    @Test("an active scanner gets the advertisement, then the scan response")
    func activeScan() throws {
        peripheral.advertise([2, 1, 6], scanResponse: [2, 0x0A, 4])
        central.scan()
        central.run(milliseconds: 150)
        let reports = central.legacyReports
        #expect(reports.prefix(2).map(\.eventType) == [.connectableUndirected, .scanResponse])
        #expect(reports.prefix(2).map(\.data) == [[2, 1, 6], [2, 0x0A, 4]])
        #expect(reports.allSatisfy { $0.address == peripheralAddress && $0.rssi == -40 })
    }

    @Test("a passive scanner gets no scan response")
    func passiveScan() {
        peripheral.advertise(scanResponse: [2, 0x0A, 4])
        central.scan(.passive)
        central.run(milliseconds: 1000)
        #expect(central.legacyReports.count >= 8)
        #expect(!central.legacyReports.contains { $0.eventType == .scanResponse })
    }

    @Test("advertising events stand an interval and a delay of up to 10 ms apart")
    func advertisingInterval() {
        peripheral.advertise()
        central.scan(.passive)
        central.run(milliseconds: 10_000)
        // 100 ms to 110 ms.
        #expect(90...100 ~= central.legacyReports.count)
    }

    @Test("a scanner hears only what falls into its windows")
    func scanWindow() {
        peripheral.advertise()
        central.perform(
            LESetScanParameters(type: .passive, interval: .milliseconds(100), window: .milliseconds(25)))
        central.perform(LESetScanEnable(isEnabled: true))
        central.run(milliseconds: 20_000)
        #expect(25...75 ~= central.legacyReports.count)
    }

    @Test(
        "each type of legacy advertising is reported as itself",
        arguments: [
            (AdvertisingType.connectableUndirected, LegacyAdvertisingEventType.connectableUndirected, true),
            (.scannableUndirected, .scannableUndirected, true),
            (.nonConnectableUndirected, .nonConnectableUndirected, false),
        ])
    func types(type: AdvertisingType, report: LegacyAdvertisingEventType, isScannable: Bool) {
        peripheral.advertise(scanResponse: [2, 0x0A, 4], type: type)
        central.scan()
        central.run(milliseconds: 300)
        #expect(central.legacyReports.first?.eventType == report)
        #expect(central.legacyReports.contains { $0.eventType == .scanResponse } == isScannable)
    }

    @Test("directed advertising is heard by the one it is for")
    func directed() {
        let other = TestHost.ready(air, .numbered(3))
        peripheral.advertise(type: .connectableDirectedLowDutyCycle, peer: centralAddress)
        central.scan()
        other.scan()
        central.run(milliseconds: 300)
        other.collect()
        #expect(central.legacyReports.first?.eventType == .connectableDirected)
        #expect(other.legacyReports.isEmpty)
    }

    @Test("high duty cycle directed advertising ends after 1.28 s with 0x3C")
    func highDutyCycle() {
        peripheral.advertise(type: .connectableDirectedHighDutyCycle, peer: centralAddress)
        peripheral.run(milliseconds: 1270)
        #expect(peripheral.connectionResults.isEmpty)
        peripheral.run(milliseconds: 20)
        #expect(peripheral.connectionResults == [.advertisingTimeout])
    }

    @Test("the duplicate filter lets each advertisement and each scan response through once")
    func duplicates() {
        peripheral.advertise(scanResponse: [2, 0x0A, 4])
        central.scan(filtersDuplicates: true)
        central.run(milliseconds: 2000)
        #expect(central.legacyReports.count == 2)
        central.perform(LESetScanEnable(isEnabled: false))
        central.perform(LESetScanEnable(isEnabled: true, filtersDuplicates: true))
        central.run(milliseconds: 2000)
        #expect(central.legacyReports.count == 4)
    }

    @Test("a scanner with an accept list hears no one else")
    func scanFilter() {
        let other = TestHost.ready(air, .numbered(3))
        peripheral.advertise()
        other.advertise()
        central.perform(LEAddDeviceToFilterAcceptList(address: SimulatedControllerConfiguration.address(3)))
        central.perform(LESetScanParameters(filterPolicy: .acceptListOnly))
        central.perform(LESetScanEnable(isEnabled: true))
        central.run(milliseconds: 500)
        #expect(Set(central.legacyReports.map(\.address)) == [SimulatedControllerConfiguration.address(3)])
    }

    @Test("an advertiser with an accept list answers no one else's scan request and connects to no one else")
    func advertisingFilter() {
        peripheral.perform(LEAddDeviceToFilterAcceptList(address: SimulatedControllerConfiguration.address(9)))
        peripheral.advertise(scanResponse: [2, 0x0A, 4], filterPolicy: .acceptListOnly)
        central.scan()
        central.run(milliseconds: 300)
        #expect(!central.legacyReports.isEmpty)
        #expect(!central.legacyReports.contains { $0.eventType == .scanResponse })
        central.beginConnecting(to: peripheralAddress)
        central.run(milliseconds: 1000)
        #expect(central.connectionResults.isEmpty)
    }

    // MARK: Links

    @Test("both sides learn of the link, each with its role and the other's address")
    func connected() throws {
        _ = try connect()
        let ours = try #require(central.lastLink)
        let theirs = try #require(peripheral.lastLink)
        #expect(ours.role == .central && ours.peerAddress == peripheralAddress)
        #expect(theirs.role == .peripheral && theirs.peerAddress == centralAddress)
        #expect(ours.interval == .milliseconds(30) && theirs.interval == ours.interval)
        #expect(ours.supervisionTimeout == .milliseconds(1000) && ours.latency == 0)
    }

    @Test("a connected advertiser advertises no more, and can be restarted")
    func advertisingEnds() throws {
        _ = try connect()
        central.forget()
        central.scan()
        central.run(milliseconds: 500)
        #expect(central.legacyReports.isEmpty)
        #expect(peripheral.perform(LESetAdvertisingEnable(isEnabled: true)) == .success)
        central.run(milliseconds: 500)
        #expect(!central.legacyReports.isEmpty)
    }

    @Test("data goes both ways and its buffers come back")
    func data() throws {
        let link = try connect()
        central.send([1, 2, 3], to: link.central)
        peripheral.send([4, 5], to: link.peripheral)
        central.run(milliseconds: 100)
        peripheral.collect()
        #expect(peripheral.frames.map(\.payload) == [[1, 2, 3]])
        #expect(central.frames.map(\.payload) == [[4, 5]])
        #expect(central.completedPackets == 1 && peripheral.completedPackets == 1)
    }

    @Test(
        "the side that disconnects sees 0x16, the other sees the reason that was given",
        arguments: [0x13, 0x14, 0x15] as [UInt8])
    func disconnect(reason: UInt8) throws {
        let link = try connect()
        let reason = HCIStatus(rawValue: reason)
        #expect(central.perform(Disconnect(connectionHandle: link.central, reason: reason)) == .success)
        central.run(milliseconds: 100)
        peripheral.collect()
        #expect(central.disconnections.map(\.reason) == [.connectionTerminatedByLocalHost])
        #expect(peripheral.disconnections.map(\.reason) == [reason])
    }

    @Test("the peripheral may disconnect too")
    func peripheralDisconnects() throws {
        let link = try connect()
        peripheral.perform(Disconnect(connectionHandle: link.peripheral))
        peripheral.run(milliseconds: 100)
        central.collect()
        #expect(central.disconnections.map(\.reason) == [.remoteUserTerminatedConnection])
        #expect(peripheral.disconnections.map(\.reason) == [.connectionTerminatedByLocalHost])
    }

    @Test("a reset ends links without an event; the peer sees the supervision timeout, 0x08")
    func reset() throws {
        _ = try connect()
        central.perform(Reset())
        #expect(central.disconnections.isEmpty)
        peripheral.run(milliseconds: 900)
        #expect(peripheral.disconnections.isEmpty)
        peripheral.run(milliseconds: 200)
        #expect(peripheral.disconnections.map(\.reason) == [.connectionTimeout])
    }

    @Test("a handle that is free is given again at once")
    func handles() throws {
        let first = try connect()
        central.perform(Disconnect(connectionHandle: first.central))
        central.run(milliseconds: 100)
        peripheral.collect()
        central.forget()
        peripheral.forget()
        let second = try connect()
        #expect(first.central == second.central)
    }

    @Test("a central holds links to several peers at once")
    func severalLinks() throws {
        var handles: Set<UInt16> = []
        for number in 10..<14 as Range<UInt64> {
            let host = TestHost.ready(air, .numbered(number))
            host.advertise()
            handles.insert(try central.connect(to: SimulatedControllerConfiguration.address(number)).rawValue)
        }
        #expect(handles == [0x40, 0x41, 0x42, 0x43])
    }
}
