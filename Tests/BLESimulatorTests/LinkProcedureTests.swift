import BLEPackets
import BLESimulator
import Testing

@Suite("Procedures on a link")
struct LinkProcedureTests {
    let air = SimulatedAir()
    let central: TestHost
    let peripheral: TestHost
    let faster = LEConnectionParameters(
        minimumInterval: .milliseconds(7.5), maximumInterval: .milliseconds(10), latency: 2,
        supervisionTimeout: .milliseconds(2000))

    init() {
        central = .ready(air, .numbered(1))
        peripheral = .ready(air, .numbered(2))
    }

    private func connect() throws -> (central: ConnectionHandle, peripheral: ConnectionHandle) {
        peripheral.advertise()
        let handle = try central.connect(to: SimulatedControllerConfiguration.address(2))
        peripheral.collect()
        let other = try #require(peripheral.lastLink).connectionHandle
        central.forget()
        peripheral.forget()
        return (handle, other)
    }

    private func run(milliseconds: Int64 = 1000) {
        central.run(milliseconds: milliseconds)
        peripheral.collect()
    }

    private func updates(_ host: TestHost) -> [LEConnectionUpdateComplete] {
        host.events.compactMap { if case .leConnectionUpdateComplete(let event) = $0 { event } else { nil } }
    }

    @Test("the central's update holds on both sides, some events later")
    func centralUpdates() throws {
        let link = try connect()
        #expect(
            central.perform(LEConnectionUpdate(connectionHandle: link.central, parameters: faster)) == .success)
        central.run(milliseconds: 60)
        #expect(updates(central).isEmpty)
        run()
        for host in [central, peripheral] {
            let event = try #require(updates(host).first)
            #expect(event.status == .success && event.interval == .milliseconds(10) && event.latency == 2)
            #expect(event.supervisionTimeout == .milliseconds(2000))
        }
    }

    @Test("an update to the present parameters is reported to the side that asked")
    func needlessUpdate() throws {
        let link = try connect()
        central.perform(LEConnectionUpdate(connectionHandle: link.central, parameters: TestHost.linkParameters))
        run()
        #expect(updates(central).count == 1 && updates(peripheral).isEmpty)
    }

    @Test("the peripheral asks, the central's host accepts")
    func peripheralAsks() throws {
        let link = try connect()
        #expect(
            peripheral.perform(LEConnectionUpdate(connectionHandle: link.peripheral, parameters: faster)) == .success)
        run(milliseconds: 200)
        let request = try #require(
            central.events.compactMap { event -> LERemoteConnectionParameterRequest? in
                if case .leRemoteConnectionParameterRequest(let request) = event { return request }
                return nil
            }.first)
        #expect(request.maximumInterval == .milliseconds(10) && request.latency == 2)
        #expect(
            central.perform(
                LERemoteConnectionParameterRequestReply(connectionHandle: link.central, parameters: faster))
                == .success)
        run()
        #expect(updates(central).map(\.status) == [.success] && updates(peripheral).map(\.status) == [.success])
        #expect(
            central.perform(
                LERemoteConnectionParameterRequestReply(connectionHandle: link.central, parameters: faster))
                == .commandDisallowed)
    }

    @Test("the peripheral asks, the central's host refuses")
    func peripheralIsRefused() throws {
        let link = try connect()
        peripheral.perform(LEConnectionUpdate(connectionHandle: link.peripheral, parameters: faster))
        run(milliseconds: 200)
        central.perform(LERemoteConnectionParameterRequestNegativeReply(connectionHandle: link.central))
        run()
        #expect(updates(peripheral).map(\.status) == [.unacceptableConnectionParameters])
        #expect(updates(central).isEmpty)
    }

    @Test("the peripheral asks, the central's host has masked the question: 0x1A")
    func peripheralIsNotHeard() throws {
        let link = try connect()
        central.perform(LESetEventMask(mask: .afterReset))
        peripheral.perform(LEConnectionUpdate(connectionHandle: link.peripheral, parameters: faster))
        run()
        #expect(updates(peripheral).map(\.status) == [.unsupportedRemoteFeature])
    }

    @Test("a device asks for other parameters by L2CAP, and notes the answer")
    func deviceAsks() throws {
        var heart = SimulatedPeripheral.jellingHeart
        heart.link.requestedParameters = .init(
            minimumInterval: 40, maximumInterval: 80, latency: 4, supervisionTimeout: 600)
        heart.link.requestDelayMicroseconds = 100_000
        let device = air.addPeripheral(heart)
        let link = try central.connect(to: heart.address)
        central.run(milliseconds: 200)
        let frame = try #require(central.frames.first { $0.channel == .leSignalling })
        #expect(frame.payload == [0x12, 1, 8, 0, 40, 0, 80, 0, 4, 0, 0x58, 2])
        central.send([0x13, 1, 2, 0, 0, 0], on: .leSignalling, to: link)
        central.run(milliseconds: 100)
        #expect(air.statistics(of: device).parameterAnswers == [.accepted])
        central.perform(LEConnectionUpdate(connectionHandle: link, parameters: faster))
        central.run(milliseconds: 500)
        #expect(air.statistics(of: device).parameters?.interval == .milliseconds(10))
    }

    @Test("features and version of the other side are read")
    func remote() throws {
        let link = try connect()
        #expect(central.perform(LEReadRemoteFeatures(connectionHandle: link.central)) == .success)
        #expect(central.perform(ReadRemoteVersionInformation(connectionHandle: link.central)) == .success)
        run()
        #expect(
            central.events.contains(
                .leReadRemoteFeaturesComplete(
                    .init(
                        connectionHandle: link.central, features: SimulatedControllerConfiguration.allFeatures))))
        #expect(
            central.events.contains(
                .readRemoteVersionInformationComplete(
                    .init(
                        connectionHandle: link.central, version: .core54,
                        manufacturer: CompanyIdentifier(rawValue: 0xFFFF), subversion: 1))))
    }

    @Test("the signal of the other side is measured")
    func rssi() throws {
        let link = try connect()
        #expect(central.query(ReadRSSI(connectionHandle: link.central))?.rssi == -40)
        air.setSignal(-71, between: central.controller, and: peripheral.controller)
        #expect(central.query(ReadRSSI(connectionHandle: link.central))?.rssi == -71)
        #expect(peripheral.query(ReadRSSI(connectionHandle: link.peripheral))?.rssi == -71)
    }

    @Test("a longer data length is told to both sides, each in its own direction")
    func dataLength() throws {
        let link = try connect()
        #expect(central.query(LESetDataLength(connectionHandle: link.central, transmitOctets: 200))?.status == .success)
        run()
        func change(_ host: TestHost) -> LEDataLengthChange? {
            host.events.compactMap { event -> LEDataLengthChange? in
                if case .leDataLengthChange(let change) = event { return change }
                return nil
            }.first
        }
        let ours = try #require(change(central))
        #expect(ours.maximumTransmitOctets == 200 && ours.maximumReceiveOctets == 27)
        #expect(ours.maximumTransmitTime == 1712 && ours.maximumReceiveTime == 328)
        let theirs = try #require(change(peripheral))
        #expect(theirs.maximumTransmitOctets == 27 && theirs.maximumReceiveOctets == 200)
        #expect(
            central.query(LESetDataLength(connectionHandle: link.central, transmitOctets: 252))?.status
                == .invalidCommandParameters)
        #expect(central.query(LEReadMaximumDataLength())?.maximumTransmitOctets == 251)
    }

    @Test("a suggested default makes every new link longer by itself")
    func suggestedDataLength() throws {
        central.perform(LEWriteSuggestedDefaultDataLength(maximumTransmitOctets: 251, maximumTransmitTime: 2120))
        peripheral.advertise()
        _ = try central.connect(to: SimulatedControllerConfiguration.address(2))
        run()
        #expect(
            central.events.contains {
                if case .leDataLengthChange(let event) = $0 { event.maximumTransmitOctets == 251 } else { false }
            })
    }

    @Test("a faster PHY is told to both sides; asking again changes nothing for the other")
    func phy() throws {
        let link = try connect()
        let command = LESetPHY(connectionHandle: link.central, preferences: .init(transmit: .le2M, receive: .le2M))
        func count(_ host: TestHost) -> Int {
            host.events.count {
                if case .lePHYUpdateComplete(let event) = $0 {
                    event.transmitPHY == .le2M && event.receivePHY == .le2M && event.status == .success
                } else {
                    false
                }
            }
        }
        #expect(central.perform(command) == .success)
        run()
        #expect(count(central) == 1 && count(peripheral) == 1)
        #expect(central.query(LEReadPHY(connectionHandle: link.central))?.transmitPHY == .le2M)
        central.perform(command)
        run()
        #expect(count(central) == 2 && count(peripheral) == 1)
    }

    @Test("a peer without other PHYs says so: 0x1A")
    func phyOfOldPeer() throws {
        let old = TestHost.ready(air, .core42(publicAddress: SimulatedControllerConfiguration.address(3)))
        old.advertise()
        let link = try central.connect(to: SimulatedControllerConfiguration.address(3))
        central.perform(LESetPHY(connectionHandle: link, preferences: .init(transmit: .le2M, receive: .le2M)))
        run()
        #expect(
            central.events.contains {
                if case .lePHYUpdateComplete(let event) = $0 {
                    event.status == .unsupportedRemoteFeature
                } else {
                    false
                }
            })
        #expect(
            old.perform(LESetPHY(connectionHandle: link, preferences: .init(transmit: .le2M, receive: .le2M)))
                == .unknownCommand)
    }

    @Test("PHYs that the controller does not have are refused with 0x11")
    func unsupportedPHY() throws {
        var configuration = SimulatedControllerConfiguration.numbered(3)
        configuration.features.remove(.leCodedPHY)
        let other = TestHost.ready(air, configuration)
        #expect(
            other.perform(LESetDefaultPHY(preferences: .init(transmit: .leCoded, receive: nil)))
                == .unsupportedFeatureOrParameterValue)
        #expect(
            other.perform(LESetDefaultPHY(preferences: .init(transmit: [], receive: nil))) == .invalidCommandParameters)
    }

    @Test("a second disconnect of the same link is refused, as are reasons that a host may not give")
    func disconnectTwice() throws {
        let link = try connect()
        #expect(
            central.perform(Disconnect(connectionHandle: link.central, reason: .connectionTimeout))
                == .invalidCommandParameters)
        #expect(central.perform(Disconnect(connectionHandle: link.central)) == .success)
        #expect(central.perform(Disconnect(connectionHandle: link.central)) == .commandDisallowed)
        run()
        #expect(central.disconnections.count == 1)
    }
}
