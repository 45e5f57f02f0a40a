import BLEPackets
import BLESimulator
import Testing

@Suite("Faults of connecting, links and data")
struct LinkFaultTests {
    let air = SimulatedAir.demoWorld()
    let host: TestHost
    let heart = SimulatedPeripheral.jellingHeart.address
    let nobody = DeviceAddress(value: 0x99, kind: .public)

    init() { host = .ready(air) }

    private func change(_ change: (inout SimulatedControllerFaults) -> Void) {
        air.changeFaults(of: host.controller, change)
    }

    @Test("an attempt to connect is refused while a scan runs (A46)")
    func initiatingWhileScanning() {
        change { $0.initiatingWhileScanningStatus = .rejectedLimitedResources }
        host.scan()
        #expect(host.beginConnecting(to: nobody) == .rejectedLimitedResources)
        host.perform(LESetScanEnable(isEnabled: false))
        #expect(host.beginConnecting(to: nobody) == .success)
    }

    @Test("a second attempt to connect is refused with an error of the link layer (A97)")
    func secondAttempt() {
        change { $0.secondInitiationStatus = .unspecifiedError }
        #expect(host.beginConnecting(to: nobody) == .success)
        #expect(host.beginConnecting(to: nobody) == .unspecifiedError)
    }

    @Test("attempts to connect are accepted and never succeed (A62)")
    func zombie() {
        change { $0.initiatesNever = true }
        #expect(host.beginConnecting(to: heart) == .success)
        host.run(milliseconds: 30_000)
        #expect(host.connectionResults.isEmpty)
        #expect(host.perform(LECreateConnectionCancel()) == .success)
    }

    @Test("events lag behind the data of their link by a fixed time (A49)")
    func lag() throws {
        let peer = SimulatedScriptedPeer(
            name: "Eager", address: DeviceAddress(value: 0xC000_0000_0008, kind: .random), greeting: [[0x02, 23, 0]],
            respond: { _ in [] })
        air.addScriptedPeer(peer)
        change { $0.eventLagMicroseconds = 60_000 }
        host.beginConnecting(to: peer.address)
        host.run(milliseconds: 1000)
        let data = try #require(host.packets.firstIndex { $0[0] == 2 })
        let complete = try #require(host.packets.firstIndex { $0[0] == 4 && $0[1] == 0x3E && $0[3] == 0x0A })
        #expect(data < complete)
    }

    @Test("packets are reported as completed twice, and for a link that is none (A52)")
    func overcount() throws {
        let link = try host.connect(to: heart)
        change { $0.overcountsCompletedPackets = true }
        host.forget()
        #expect(host.request([0x0A, 3, 0], on: link)?.first == 0x0B)
        let links = host.events.flatMap { event -> [CompletedPackets] in
            if case .numberOfCompletedPackets(let report) = event { return report.links }
            return []
        }
        #expect(links.map(\.connectionHandle.rawValue) == [0x40, 0xEFF] && links.map(\.count) == [2, 1])
    }

    @Test("completed packets are not reported any more after some, on all links, until Reset (A53)")
    func stopsCompleted() throws {
        change { $0.stopsCompletedPacketsAfter = 2 }
        var link = try host.connect(to: heart)
        for _ in 0..<4 { _ = host.request([0x0A, 3, 0], on: link) }
        #expect(host.completedPackets == 2)
        host.prepare()
        air.advance(to: air.nowMicroseconds + 5_000_000)
        host.forget()
        link = try host.connect(to: heart)
        for _ in 0..<4 { _ = host.request([0x0A, 3, 0], on: link) }
        #expect(host.completedPackets == 2)
    }

    @Test("long data vanishes, short data arrives, and the buffers of both are free again (A54)")
    func longData() throws {
        let link = try host.connect(to: heart)
        change { $0.losesDataLongerThan = 63 }
        host.forget()
        #expect(host.request([0x12, 3, 0] + [UInt8](repeating: 0, count: 80), on: link) == nil)
        #expect(host.request([0x0A, 3, 0], on: link)?.first == 0x0B)
        #expect(host.completedPackets == 2)
    }

    @Test("a packet with a length that is a multiple of 64 is never taken (A55)")
    func multiples() throws {
        let link = try host.connect(to: heart)
        change { $0.losesMultiplesOf = 64 }
        host.forget()
        // Four octets of the packet's header and four of the frame's are added.
        #expect(host.request([0x12, 3, 0] + [UInt8](repeating: 0, count: 53), on: link) == nil)
        #expect(host.completedPackets == 0)
        #expect(host.request([0x12, 3, 0] + [UInt8](repeating: 0, count: 54), on: link) != nil)
    }

    @Test("a new link has the handle of the one before, which still exists (A59)")
    func reusedHandle() throws {
        let first = try host.connect(to: heart)
        change { $0.reusesHandles = true }
        host.forget()
        let other = TestHost.ready(air, .numbered(6))
        other.advertise()
        host.beginConnecting(to: SimulatedControllerConfiguration.address(6))
        host.run(milliseconds: 500)
        #expect(host.lastLink?.connectionHandle == first)
        #expect(host.disconnections.isEmpty)
    }

    @Test("Disconnection Complete comes twice (A60)")
    func doubleDisconnection() throws {
        let link = try host.connect(to: heart)
        change { $0.reportsDisconnectionTwice = true }
        host.perform(Disconnect(connectionHandle: link, reason: .remoteUserTerminatedConnection))
        host.run(milliseconds: 200)
        #expect(host.disconnections.map(\.connectionHandle) == [link, link])
    }

    @Test("Disconnection Complete never comes (A61)")
    func keptDisconnection() throws {
        let link = try host.connect(to: heart)
        change { $0.keepsDisconnection = true }
        #expect(
            host.perform(Disconnect(connectionHandle: link, reason: .remoteUserTerminatedConnection)) == .success)
        host.run(milliseconds: 10_000)
        #expect(host.disconnections.isEmpty)
    }

    @Test("the peer's address is marked as an identity although nothing was resolved (A63)")
    func markedIdentity() throws {
        change { $0.marksIdentities = true }
        _ = try host.connect(to: heart)
        #expect(host.lastLink?.peerAddress == DeviceAddress(value: heart.value, kind: .randomIdentity))
    }

    @Test("a link is reported by both kinds of Connection Complete, even against the mask (A64)")
    func doubleConnection() {
        change { $0.reportsConnectionTwice = true }
        host.perform(LESetEventMask(mask: .afterReset))
        host.beginConnecting(to: heart)
        host.run(milliseconds: 500)
        let events = host.packets.filter { $0[1] == 0x3E && ($0[3] == 0x01 || $0[3] == 0x0A) }
        #expect(events.map { $0[3] } == [0x01, 0x0A])
        // The same handle in both.
        #expect(events[0][5...6] == events[1][5...6])
    }

    @Test("a link is reported by Enhanced Connection Complete only, or not at all (A65)")
    func enhancedOnly() {
        change { $0.sendsEnhancedOnly = true }
        host.perform(LESetEventMask(mask: .afterReset))
        host.beginConnecting(to: heart)
        host.run(milliseconds: 500)
        #expect(host.connectionResults.isEmpty)
        host.prepare()
        air.advance(to: air.nowMicroseconds + 5_000_000)
        host.beginConnecting(to: heart)
        host.run(milliseconds: 500)
        #expect(host.lastLink != nil)
    }

    @Test("an accepted identity does not match after a change of the resolving list until it is added again (A71)")
    func staleAcceptList() {
        change { $0.forgetsAcceptedIdentities = true }
        let add = LEAddDeviceToFilterAcceptList(address: heart)
        host.perform(add)
        host.perform(
            LEAddDeviceToResolvingList(
                peerIdentityAddress: nobody, peerIdentityResolvingKey: .zero, localIdentityResolvingKey: .zero))
        func hears() -> Bool {
            host.perform(LESetScanParameters(filterPolicy: .acceptListOnly))
            host.forget()
            host.perform(LESetScanEnable(isEnabled: true))
            host.run(milliseconds: 500)
            host.perform(LESetScanEnable(isEnabled: false))
            return !host.legacyReports.isEmpty
        }
        #expect(!hears())
        host.perform(add)
        #expect(hears())
    }

    @Test("Disconnect is refused, and the link goes on (A95)")
    func refusedDisconnect() throws {
        let link = try host.connect(to: heart)
        change { $0.refusesDisconnect = .unspecifiedError }
        #expect(
            host.perform(Disconnect(connectionHandle: link, reason: .remoteUserTerminatedConnection))
                == .unspecifiedError)
        #expect(host.request([0x0A, 3, 0], on: link)?.first == 0x0B)
    }

    @Test("the length of packets changes only when the host orders it (A105)")
    func dataLength() throws {
        for onlyByCommand in [false, true] {
            var configuration = SimulatedControllerConfiguration.numbered(9)
            configuration.changesDataLengthByCommandOnly = onlyByCommand
            let host = TestHost.ready(air, configuration)
            configuration.publicAddress = SimulatedControllerConfiguration.address(10)
            let peer = TestHost.ready(air, configuration)
            peer.advertise()
            host.perform(LEWriteSuggestedDefaultDataLength(maximumTransmitOctets: 251, maximumTransmitTime: 2120))
            let link = try host.connect(to: SimulatedControllerConfiguration.address(10))
            func changes() -> Int {
                host.events.filter { if case .leDataLengthChange = $0 { true } else { false } }.count
            }
            #expect(changes() == (onlyByCommand ? 0 : 1))
            host.perform(LESetDataLength(connectionHandle: link, transmitOctets: 251, transmitTime: 2120))
            host.run(milliseconds: 200)
            #expect(changes() == 1)
            air.closeTransport(of: host.controller)
            air.closeTransport(of: peer.controller)
        }
    }
}
