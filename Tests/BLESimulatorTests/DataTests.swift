import BLEPackets
import BLESimulator
import Testing

@Suite("Data and its credits")
struct DataTests {
    let air = SimulatedAir()

    private func pair(
        _ first: SimulatedControllerConfiguration = .numbered(1),
        _ second: SimulatedControllerConfiguration = .numbered(2)
    ) throws -> (central: TestHost, peripheral: TestHost, handle: ConnectionHandle) {
        let central = TestHost.ready(air, first)
        let peripheral = TestHost.ready(air, second)
        peripheral.advertise()
        let handle = try central.connect(to: try #require(second.publicAddress))
        peripheral.collect()
        central.forget()
        peripheral.forget()
        return (central, peripheral, handle)
    }

    @Test("each packet comes back once, when it has arrived")
    func credits() throws {
        let (central, peripheral, link) = try pair()
        for number in 0..<8 as Range<UInt8> { central.send([number], to: link) }
        #expect(central.completedPackets == 0)
        central.run(milliseconds: 200)
        peripheral.collect()
        #expect(central.completedPackets == 8)
        #expect(peripheral.frames.map(\.payload) == (0..<8).map { [UInt8($0)] })
    }

    @Test("a packet without a buffer, or longer than one, is dropped and Data Buffer Overflow says so")
    func overflow() throws {
        var configuration = SimulatedControllerConfiguration.numbered(1)
        configuration.aclDataCount = 2
        configuration.aclDataLength = 27
        let (central, peripheral, link) = try pair(configuration)
        for number in 0..<3 as Range<UInt8> { central.send([number], to: link) }
        central.send([UInt8](repeating: 0, count: 40), to: link)
        central.run(milliseconds: 100)
        peripheral.collect()
        #expect(peripheral.frames.map(\.payload) == [[0], [1]])
        #expect(central.events.count { if case .dataBufferOverflow = $0 { true } else { false } } == 2)
        #expect(air.statistics(of: central.controller).bufferOverflows == 2)
        #expect(central.completedPackets == 2)
    }

    @Test("what the link layer carries in pieces arrives in pieces of 27, or 251 after the data length has changed")
    func fragments() throws {
        let (central, peripheral, link) = try pair()
        let payload = (0..<100).map { UInt8($0) }
        central.send(payload, to: link)
        central.run(milliseconds: 100)
        peripheral.collect()
        #expect(peripheral.frames.map(\.payload) == [payload])
        #expect(peripheral.dataLengths == [27, 27, 27, 23])
        central.perform(LESetDataLength(connectionHandle: link))
        central.run(milliseconds: 100)
        peripheral.forget()
        central.send(payload, to: link)
        central.run(milliseconds: 100)
        peripheral.collect()
        #expect(peripheral.dataLengths == [104])
    }

    @Test("data to the host may come in smaller packets still")
    func hostBoundFragments() throws {
        var configuration = SimulatedControllerConfiguration.numbered(2)
        configuration.hostBoundDataLength = 10
        let (central, peripheral, link) = try pair(.numbered(1), configuration)
        let payload = (0..<30).map { UInt8($0) }
        central.send(payload, to: link)
        central.run(milliseconds: 100)
        peripheral.collect()
        #expect(peripheral.dataLengths == [10, 10, 7, 7])
        #expect(peripheral.frames.map(\.payload) == [payload])
    }

    @Test("the number of packets in one connection event is limited")
    func packetsPerEvent() throws {
        var configuration = SimulatedControllerConfiguration.numbered(1)
        configuration.packetsPerConnectionEvent = 2
        let (central, _, link) = try pair(configuration)
        for number in 0..<6 as Range<UInt8> { central.send([number], to: link) }
        // 30 ms are one interval.
        central.run(milliseconds: 30)
        #expect(central.completedPackets == 2)
        central.run(milliseconds: 60)
        #expect(central.completedPackets == 6)
    }

    @Test("packets of a link that ends never come back: the host takes them as done (pain 11)")
    func reclaimed() throws {
        let (central, peripheral, link) = try pair()
        air.setInRange(false, peripheral.controller)
        central.send([1], to: link)
        central.send([2], to: link)
        central.run(milliseconds: 1500)
        #expect(central.completedPackets == 0)
        #expect(central.disconnections.map(\.reason) == [.connectionTimeout])
        air.setInRange(true, peripheral.controller)
        peripheral.collect()
        peripheral.advertise()
        let again = try central.connect(to: SimulatedControllerConfiguration.address(2))
        for number in 0..<8 as Range<UInt8> { central.send([number], to: again) }
        central.run(milliseconds: 100)
        #expect(central.completedPackets == 8)
    }

    @Test("data for a link that does not exist is dropped and counted")
    func unknownLink() throws {
        let (central, _, _) = try pair()
        central.send([1], to: ConnectionHandle(rawValue: 0x99))
        central.run(milliseconds: 100)
        #expect(central.completedPackets == 0)
        #expect(air.statistics(of: central.controller).dataPacketsWithoutLink == 1)
    }

    @Test("a host must begin frames with the flag of LE")
    func boundaryFlag() throws {
        let (central, _, link) = try pair()
        central.send([0x02, UInt8(link.rawValue), 0x20, 5, 0, 1, 0, 4, 0, 7])
        #expect(air.statistics(of: central.controller).malformedPackets == 1)
    }

    @Test("a host that controls the flow gets no more than it has room for")
    func hostFlowControl() throws {
        let central = TestHost.ready(air, .numbered(1))
        let peripheral = TestHost.ready(air, .numbered(2))
        peripheral.perform(HostBufferSize(aclDataPacketLength: 255, totalACLDataPackets: 2))
        peripheral.perform(SetControllerToHostFlowControl(mode: .aclOnly))
        peripheral.advertise()
        let link = try central.connect(to: SimulatedControllerConfiguration.address(2))
        for number in 0..<5 as Range<UInt8> { central.send([number], to: link) }
        central.run(milliseconds: 200)
        peripheral.collect()
        #expect(peripheral.frames.count == 2)
        let handle = try #require(peripheral.lastLink).connectionHandle
        peripheral.send(HostNumberOfCompletedPackets(links: [.init(connectionHandle: handle, count: 2)]))
        peripheral.run(milliseconds: 1)
        #expect(peripheral.frames.count == 4)
        peripheral.send(HostNumberOfCompletedPackets(links: [.init(connectionHandle: handle, count: 2)]))
        peripheral.run(milliseconds: 1)
        #expect(peripheral.frames.map(\.payload) == (0..<5).map { [UInt8($0)] })
    }

    @Test("loss on the air delays data and loses none")
    func loss() throws {
        let air = SimulatedAir(configuration: .init(lossPerMille: 400))
        let central = TestHost.ready(air, .numbered(1))
        let peripheral = TestHost.ready(air, .numbered(2))
        peripheral.advertise()
        central.beginConnecting(to: SimulatedControllerConfiguration.address(2))
        central.run(milliseconds: 3000)
        let link = try #require(central.lastLink).connectionHandle
        for number in 0..<40 as Range<UInt8> {
            central.send([number], to: link)
            central.run(milliseconds: 200)
        }
        central.run(milliseconds: 1000)
        peripheral.collect()
        #expect(peripheral.frames.map(\.payload) == (0..<40).map { [UInt8($0)] })
    }
}
