import BLEPackets
import BLESimulator
import Testing

/// What other people's hosts do with a controller, and ours does not do yet.
@Suite("The peripheral role of foreign hosts")
struct PeripheralRoleTests {
    let air = SimulatedAir()
    let central: TestHost
    let peripheral: TestHost
    let peripheralAddress = DeviceAddress(value: 0xF2F1_F000_0002, kind: .random)
    let centralAddress = DeviceAddress(value: 0xF0F1_F200_0001, kind: .random)

    init() {
        // Buffers like those of small controllers.
        var configuration = SimulatedControllerConfiguration.numbered(1)
        configuration.aclDataLength = 27
        configuration.aclDataCount = 64
        central = .ready(air, configuration)
        configuration.publicAddress = SimulatedControllerConfiguration.address(2)
        peripheral = .ready(air, configuration)
    }

    private func advertise(from host: TestHost, as address: DeviceAddress, scanResponse: [UInt8] = [2, 0x0A, 4]) {
        #expect(host.perform(LESetRandomAddress(address: address)) == .success)
        #expect(
            host.perform(
                LESetAdvertisingParameters(
                    minimumInterval: .milliseconds(100), maximumInterval: .milliseconds(100),
                    type: .connectableUndirected, ownAddressType: .random)) == .success)
        #expect(host.perform(LESetAdvertisingData(data: [2, 1, 6])) == .success)
        #expect(host.perform(LESetScanResponseData(data: scanResponse)) == .success)
        #expect(host.perform(LESetAdvertisingEnable(isEnabled: true)) == .success)
    }

    private func connect(
        from host: TestHost, ownAddressType: OwnAddressType = .public
    ) throws -> (central: ConnectionHandle, peripheral: ConnectionHandle) {
        #expect(
            host.perform(
                LECreateConnection(
                    scanInterval: .milliseconds(60), scanWindow: .milliseconds(60), peerAddress: peripheralAddress,
                    ownAddressType: ownAddressType, parameters: TestHost.linkParameters)) == .success)
        host.run(milliseconds: 500)
        peripheral.collect()
        return (try #require(host.lastLink).connectionHandle, try #require(peripheral.lastLink).connectionHandle)
    }

    @Test("an advertiser with a random address is heard, answers scan requests and is connected to under it (pain 10)")
    func randomAddress() throws {
        advertise(from: peripheral, as: peripheralAddress)
        central.scan()
        central.run(milliseconds: 150)
        #expect(central.legacyReports.prefix(2).map(\.eventType) == [.connectableUndirected, .scanResponse])
        #expect(central.legacyReports.allSatisfy { $0.address == peripheralAddress })
        central.perform(LESetScanEnable(isEnabled: false))
        #expect(central.perform(LESetRandomAddress(address: centralAddress)) == .success)
        _ = try connect(from: central, ownAddressType: .random)
        #expect(central.lastLink?.peerAddress == peripheralAddress && central.lastLink?.role == .central)
        #expect(peripheral.lastLink?.peerAddress == centralAddress && peripheral.lastLink?.role == .peripheral)
    }

    @Test("nobody connects to the public address of an advertiser that shows a random one (pain 10)")
    func hiddenPublicAddress() {
        advertise(from: peripheral, as: peripheralAddress)
        central.beginConnecting(to: SimulatedControllerConfiguration.address(2))
        central.run(milliseconds: 1000)
        #expect(central.connectionResults.isEmpty)
    }

    @Test("an extended scan hears legacy advertisements and their scan responses, both of them with the legacy bit")
    func extendedScan() {
        advertise(from: peripheral, as: peripheralAddress)
        central.perform(
            LESetExtendedScanParameters(
                le1M: .init(type: .active, interval: .milliseconds(60), window: .milliseconds(60))))
        central.perform(LESetExtendedScanEnable(isEnabled: true))
        central.run(milliseconds: 150)
        let reports = central.extendedReports.prefix(2)
        #expect(reports.map(\.eventType.rawValue) == [0x0013, 0x001B])
        #expect(reports.map(\.data) == [[2, 1, 6], [2, 0x0A, 4]])
        #expect(reports.allSatisfy { $0.address == peripheralAddress })
    }

    @Test("an empty scan response is a report as well")
    func emptyScanResponse() {
        advertise(from: peripheral, as: peripheralAddress, scanResponse: [])
        central.scan()
        central.run(milliseconds: 150)
        #expect(central.legacyReports.prefix(2).map(\.data) == [[2, 1, 6], []])
    }

    @Test("frames of 517 octets cross in both directions at once, whole and in order, and each buffer comes back")
    func longFrames() throws {
        advertise(from: peripheral, as: peripheralAddress)
        let link = try connect(from: central)
        let frames = (0..<3).map { number in (0..<517).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) } }
        for frame in frames {
            central.send(frame, to: link.central, fragment: 27)
            peripheral.send(frame.reversed(), to: link.peripheral, fragment: 27)
            central.run(milliseconds: 500)
            peripheral.collect()
        }
        #expect(peripheral.frames.map(\.payload) == frames)
        #expect(central.frames.map(\.payload) == frames.map { $0.reversed() })
        #expect(central.completedPackets == 3 * 20 && peripheral.completedPackets == 3 * 20)
    }

    @Test("the peripheral too may ask for a longer data length and another PHY")
    func asksForMore() throws {
        advertise(from: peripheral, as: peripheralAddress)
        let link = try connect(from: central)
        #expect(
            peripheral.query(LESetDataLength(connectionHandle: link.peripheral, transmitOctets: 251))?.status
                == .success)
        #expect(
            peripheral.perform(
                LESetPHY(connectionHandle: link.peripheral, preferences: .init(transmit: .le2M, receive: .le2M)))
                == .success)
        central.run(milliseconds: 500)
        peripheral.collect()
        func lengths(_ host: TestHost) -> [[UInt16]] {
            host.events.compactMap {
                guard case .leDataLengthChange(let change) = $0 else { return nil }
                return [change.maximumTransmitOctets, change.maximumReceiveOctets]
            }
        }
        func phys(_ host: TestHost) -> [[PHY]] {
            host.events.compactMap {
                guard case .lePHYUpdateComplete(let update) = $0 else { return nil }
                return [update.transmitPHY, update.receivePHY]
            }
        }
        #expect(lengths(peripheral) == [[251, 27]] && lengths(central) == [[27, 251]])
        #expect(phys(peripheral) == [[.le2M, .le2M]] && phys(central) == [[.le2M, .le2M]])
    }

    @Test("a connected peripheral may advertise on, and hold a link to a second central")
    func secondCentral() throws {
        advertise(from: peripheral, as: peripheralAddress)
        let first = try connect(from: central)
        #expect(peripheral.perform(LESetAdvertisingEnable(isEnabled: true)) == .success)
        let other = TestHost.ready(air, .numbered(3))
        let second = try connect(from: other)
        #expect(first.peripheral != second.peripheral)
        peripheral.send([1], to: first.peripheral)
        peripheral.send([2], to: second.peripheral)
        peripheral.run(milliseconds: 200)
        central.collect()
        other.collect()
        #expect(central.frames.map(\.payload) == [[1]] && other.frames.map(\.payload) == [[2]])
    }

    @Test("a host that vanishes leaves a fresh controller to the next, which may take the other role (pain 7)")
    func nextHost() throws {
        advertise(from: peripheral, as: peripheralAddress)
        let link = try connect(from: central)
        central.send([1], to: link.central)
        central.run(milliseconds: 100)
        central.forget()
        peripheral.forget()
        air.closeTransport(of: central.controller)
        air.reopenTransport(of: central.controller)
        peripheral.run(milliseconds: 2000)
        #expect(peripheral.disconnections.map(\.reason) == [.connectionTimeout])
        central.collect()
        #expect(central.packets.isEmpty)

        central.prepare()
        central.advertise()
        let handle = try peripheral.connect(to: SimulatedControllerConfiguration.address(1))
        central.collect()
        #expect(central.lastLink?.role == .peripheral)
        peripheral.send([2], to: handle)
        peripheral.run(milliseconds: 100)
        central.collect()
        #expect(central.frames.map(\.payload) == [[2]])
    }
}
