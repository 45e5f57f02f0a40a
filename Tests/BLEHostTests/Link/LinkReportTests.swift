import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEHost

/// Power, path loss, channels and authenticated payloads, on simulated controllers and on one that misbehaves.
@Suite("Measurements of links")
struct LinkReportTests {
    static func reports(_ host: HostStation, on link: LinkID) -> [LinkReport] {
        host.events.compactMap { if case .linkReport(link, let report) = $0 { report } else { nil } }
    }

    @Test("both sides' power is read, and its changes are reported to those who asked")
    func power() throws {
        let (world, toPeripheral, toCentral) = try SubratingTests.linked { _, _ in }
        let (central, peripheral) = (world.central, world.peripheral)
        let own = central.result(of: .link(toPeripheral, .procedure(.readTransmitPower(phy: .le1M))))
        #expect(
            own
                == .success(
                    .transmitPower(
                        TransmitPower(phy: .le1M, level: 0, maximum: 10, isLeast: false, isGreatest: false))))
        world.air.setTransmitPower(10, of: peripheral.controller)
        #expect(Self.reports(central, on: toPeripheral).isEmpty)
        let remote = central.result(of: .link(toPeripheral, .procedure(.readRemoteTransmitPower(phy: .le1M))))
        let greatest = TransmitPower(phy: .le1M, level: 10, maximum: nil, isLeast: false, isGreatest: true)
        #expect(remote == .success(.transmitPower(greatest)))
        for (host, link) in [(central, toPeripheral), (peripheral, toCentral)] {
            let asked = LinkProcedure.reportTransmitPower(local: true, remote: true)
            #expect(host.result(of: .link(link, .procedure(asked))) == .success(.done))
        }
        world.air.setTransmitPower(-20, of: peripheral.controller)
        world.run(for: .seconds(1))
        let least = TransmitPower(phy: .le1M, level: -20, maximum: nil, isLeast: true, isGreatest: false)
        #expect(Self.reports(central, on: toPeripheral) == [.transmitPower(least, isPeers: true)])
        #expect(Self.reports(peripheral, on: toCentral) == [.transmitPower(least, isPeers: false)])
        #expect(central.air.statistics(of: central.controller).rejections.isEmpty)
    }

    @Test("path loss is reported by zone after its time, with hysteresis, until that ends")
    func pathLoss() throws {
        let (world, link, _) = try SubratingTests.linked { _, _ in }
        let (central, peripheral) = (world.central, world.peripheral)
        func zones() -> [PathLoss.Zone] {
            Self.reports(central, on: link).compactMap { if case .pathLoss(let loss) = $0 { loss.zone } else { nil } }
        }
        func move(to signal: Int8) {
            world.air.setSignal(signal, between: central.controller, and: peripheral.controller)
            world.run(for: .seconds(2))
        }
        move(to: -50)
        let monitor = LinkProcedure.monitorPathLoss(zones: PathLossZones(low: 40, high: 70))
        #expect(central.result(of: .link(link, .procedure(monitor))) == .success(.done))
        world.run(for: .seconds(2))
        #expect(zones() == [.middle])
        // Within the hysteresis nothing changes.
        for signal: Int8 in [-71, -72, -73, -71, -69] { move(to: signal) }
        #expect(zones() == [.middle, .high])
        for signal: Int8 in [-68, -67, -30] { move(to: signal) }
        #expect(zones() == [.middle, .high, .middle, .low])
        // Too short for a report.
        world.air.setSignal(-80, between: central.controller, and: peripheral.controller)
        world.run(for: .milliseconds(100))
        move(to: -30)
        #expect(zones().count == 4)
        #expect(
            central.result(of: .link(link, .procedure(.monitorPathLoss(zones: nil)))) == .success(.done))
        move(to: -80)
        #expect(zones().count == 4)
        let overlap = LinkProcedure.monitorPathLoss(zones: PathLossZones(low: 40, high: 41))
        #expect(
            central.result(of: .link(link, .procedure(overlap))) == .failure(.invalidRequest(.pathLossZones)))
    }

    @Test("what the controller does not know fails once, with its reason")
    func refused() throws {
        let world = World(hosts: 2) { configuration, number in
            configuration = .core42(publicAddress: World.address(number))
        }
        world.peripheral.submit(.radio(.advertise(AdvertiseRequest(.packed(localName: "Lamp", serviceUUIDs: [])))))
        let link = try #require(world.central.connect(world.peripheral.address))
        let zones = PathLossZones(low: 40, high: 70)
        for (procedure, opcode) in [
            (LinkProcedure.readTransmitPower(phy: .le1M), LEEnhancedReadTransmitPowerLevel.opcode),
            (.readRemoteTransmitPower(phy: .le1M), LEReadRemoteTransmitPowerLevel.opcode),
            (.reportTransmitPower(local: true, remote: false), LESetTransmitPowerReportingEnable.opcode),
            (.monitorPathLoss(zones: zones), LESetPathLossReportingParameters.opcode),
            (.monitorPathLoss(zones: nil), LESetPathLossReportingEnable.opcode),
        ] {
            let failure = HostFailure.controller(.unknownCommand, opcode)
            #expect(world.central.result(of: .link(link, .procedure(procedure))) == .failure(failure))
        }
        #expect(
            world.central.result(of: .link(link, .procedure(.setAuthenticatedPayloadTimeout(.seconds(1)))))
                == .success(.done))
    }

    @Test("a link without proof of the peer's key is reported; reserved values and unknown links are ignored")
    func controllerEvents() throws {
        let rig = HostRig()
        rig.features = [.encryption, .powerControlRequest, .pathLossMonitoring, .ping]
        rig.start()
        let mask = try #require(rig.commands.last { $0.opcode == LESetEventMask.opcode }?.parameters)
        #expect(mask.count == 8 && mask[3] & 0x80 != 0 && mask[4] & 0x01 != 0)
        let link = rig.connect()
        rig.forget()
        let operation = rig.submit(.link(link, .procedure(.setAuthenticatedPayloadTimeout(.seconds(30)))))
        #expect(rig.commands.map(\.opcode) == [SetEventMaskPage2.opcode, WriteAuthenticatedPayloadTimeout.opcode])
        #expect(rig.commands.last?.parameters.suffix(2) == [0xB8, 0x0B])
        #expect(rig.results(of: operation) == [.success(.done)])
        let stranger = ConnectionHandle(rawValue: 0x0777)
        for handle in [link.handle, stranger] {
            rig.receive(AuthenticatedPayloadTimeoutExpired(connectionHandle: handle))
            rig.receive(LEPathLossThreshold(connectionHandle: handle, currentPathLoss: 0xFF, zoneEntered: 2))
            rig.receive(LEPathLossThreshold(connectionHandle: handle, currentPathLoss: 3, zoneEntered: 9))
            for reason: UInt8 in [0, 1, 2, 3, 0xFF] {
                rig.receive(
                    LETransmitPowerReporting(
                        connectionHandle: handle, reason: reason, phy: 0xEE, transmitPower: 126, limits: 0xFF,
                        delta: 127))
            }
        }
        let reports = rig.events.compactMap { event -> LinkReport? in
            if case .linkReport(link, let report) = event { report } else { nil }
        }
        let odd = TransmitPower(
            phy: PowerPHY(rawValue: 0xEE), level: nil, maximum: nil, isLeast: true, isGreatest: true)
        #expect(
            reports == [
                .unauthenticated, .pathLoss(PathLoss(zone: .high, decibels: nil)),
                .transmitPower(odd, isPeers: false), .transmitPower(odd, isPeers: true),
            ])
        // Reports without end need no memory.
        for _ in 0..<10_000 {
            rig.receive(LEPathLossThreshold(connectionHandle: link.handle, currentPathLoss: 9, zoneEntered: 1))
        }
        #expect(rig.events.count <= 10_010)
    }

    @Test("channels are kept off, also after a reset, and impossible maps are refused")
    func channels() throws {
        let rig = HostRig()
        rig.start()
        rig.forget()
        let map = ChannelMap(rawValue: 0x1F_FFFF_F800)
        let operation = rig.submit(.radio(.classifyChannels(map)))
        #expect(rig.commands.map(\.opcode) == [LESetHostChannelClassification.opcode])
        #expect(rig.commands.first?.parameters == [0x00, 0xF8, 0xFF, 0xFF, 0x1F])
        #expect(rig.results(of: operation) == [.success(.done)])
        for wrong: UInt64 in [0, 1, 1 << 36, 1 << 37 | 3] {
            let refused = rig.submit(.radio(.classifyChannels(ChannelMap(rawValue: wrong))))
            #expect(rig.results(of: refused) == [.failure(.invalidRequest(.channelMap))])
        }
        rig.forget()
        rig.receive(HardwareError(hardwareCode: 1))
        #expect(rig.commands.filter { $0.opcode == LESetHostChannelClassification.opcode }.count == 1)
    }

    @Test("a link begins on the PHYs that were asked for, as far as the controller can")
    func phys() throws {
        func opcodeAndPHYs(_ features: LEFeatures, _ phys: PHYSet?) throws -> (HCIOpcode, [UInt8]) {
            let rig = HostRig()
            rig.features = features
            rig.start()
            rig.forget()
            var request = ConnectRequest(peer: HostRig.peer)
            request.phys = phys
            rig.submit(.radio(.connect(request)))
            let command = try #require(rig.commands.last)
            return (command.opcode, command.parameters)
        }
        let extended: LEFeatures = [.encryption, .extendedAdvertising, .le2MPHY, .leCodedPHY]
        for (features, asked, expected) in [
            (extended, nil, PHYSet.le1M), (extended, [.le1M, .le2M, .leCoded], [.le1M, .le2M, .leCoded]),
            (extended, .leCoded, .leCoded), (extended, .le2M, [.le1M, .le2M]),
            ([.encryption, .extendedAdvertising], .leCoded, .le1M),
        ] as [(LEFeatures, PHYSet?, PHYSet)] {
            let (opcode, parameters) = try opcodeAndPHYs(features, asked)
            #expect(opcode == LEExtendedCreateConnection.opcode)
            #expect(parameters.count == 10 + 16 * expected.rawValue.nonzeroBitCount)
            #expect(parameters[9] == expected.rawValue, "\(features) \(String(describing: asked))")
        }
        #expect(try opcodeAndPHYs(.encryption, .leCoded).0 == LECreateConnection.opcode)
    }

    @Test("a device that advertises on LE Coded is connected to on LE Coded")
    func codedPHY() throws {
        let world = World(hosts: 2)
        var set = AdvertisingSetRequest(data: [2, 1, 6])
        set.isConnectable = true
        set.primaryPHY = .leCoded
        set.secondaryPHY = .leCoded
        world.peripheral.submit(.radio(.advertiseSet(set)))
        var request = ConnectRequest(peer: world.peripheral.address)
        let vain = world.central.submit(.radio(.connect(request)))
        world.run(for: .seconds(10))
        #expect(world.central.results(of: vain).isEmpty)
        world.central.submit(.cancel(vain))
        request.phys = [.le1M, .leCoded]
        guard case .success(.connected(let link))? = world.central.result(of: .radio(.connect(request))) else {
            Issue.record("not connected")
            return
        }
        #expect(
            world.central.result(of: .link(link, .procedure(.readPHY)))
                == .success(.phy(transmit: .leCoded, receive: .leCoded)))
    }
}
