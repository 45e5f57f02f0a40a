import BLEPackets
import BLESimulator
import Testing

@Suite("Faults")
struct FaultTests {
    let air = SimulatedAir.demoWorld()
    let host: TestHost
    let heart = SimulatedPeripheral.jellingHeart.address

    init() { host = .ready(air) }

    @Test("a command is never answered; the next one is")
    func unanswered() {
        air.changeFaults(of: host.controller) { $0.unansweredCommands = [LERand.opcode] }
        #expect(host.perform(LERand()) == nil)
        host.run(milliseconds: 10_000)
        #expect(host.perform(ReadBDADDR()) == .success)
        air.changeFaults(of: host.controller) { $0.unansweredCommands = [] }
        #expect(host.perform(LERand()) == .success)
    }

    @Test("a command is answered with a given status, a number of times")
    func refused() {
        air.changeFaults(of: host.controller) {
            $0.refusals = [
                .init(LESetScanEnable.opcode, status: .hardwareFailure, count: 2),
                .init(LECreateConnection.opcode, status: .controllerBusy),
            ]
        }
        #expect(host.scan() == .hardwareFailure)
        #expect(host.scan() == .hardwareFailure)
        #expect(host.scan() == .success)
        for _ in 0..<3 { #expect(host.beginConnecting(to: heart) == .controllerBusy) }
    }

    @Test("a hardware error comes at its time")
    func hardwareError() {
        air.sendHardwareError(0x42, from: host.controller, at: air.nowMicroseconds + 5000)
        host.run(milliseconds: 4)
        #expect(!host.events.contains(.hardwareError(.init(hardwareCode: 0x42))))
        host.run(milliseconds: 2)
        #expect(host.events.contains(.hardwareError(.init(hardwareCode: 0x42))))
    }

    @Test("credits are never returned")
    func keptCredits() throws {
        let link = try host.connect(to: heart)
        air.changeFaults(of: host.controller) { $0.keepsCompletedPackets = true }
        #expect(host.request([0x0A, 3, 0], on: link)?.first == 0x0B)
        #expect(host.completedPackets == 0)
    }

    @Test("data comes before the Connection Complete of its link (pain 11)")
    func earlyData() {
        let peer = SimulatedScriptedPeer(
            name: "Eager", address: DeviceAddress(value: 0xC000_0000_0008, kind: .random), greeting: [[0x02, 23, 0]],
            respond: { _ in [] })
        air.addScriptedPeer(peer)
        air.changeFaults(of: host.controller) { $0.connectionCompleteDelayMicroseconds = 50_000 }
        host.beginConnecting(to: peer.address)
        host.run(milliseconds: 1000)
        let data = host.packets.firstIndex { $0[0] == 2 }
        let complete = host.packets.firstIndex { $0[0] == 4 && $0[1] == 0x3E && $0[3] == 0x0A }
        #expect(data != nil && complete != nil)
        if let data, let complete { #expect(data < complete) }
        #expect(host.frames.map(\.payload) == [[0x02, 23, 0]])
    }

    @Test("events overtake one another, answers to commands do not")
    func disorder() {
        func order(disorder: Int64) -> [UInt64] {
            let air = SimulatedAir.demoWorld()
            let host = TestHost.ready(air)
            air.changeFaults(of: host.controller) { $0.eventDisorderMicroseconds = disorder }
            host.scan(.passive)
            host.run(milliseconds: 3000)
            return host.legacyReports.map(\.address.value)
        }
        let inOrder = order(disorder: 0)
        let mixed = order(disorder: 200_000)
        #expect(inOrder != mixed)
        #expect(inOrder.count >= mixed.count && mixed.count > 50)
    }

    @Test("reports stop while scanning goes on (pain 5)")
    func silence() {
        host.scan()
        host.run(milliseconds: 300)
        let count = host.legacyReports.count
        #expect(count > 0)
        air.changeFaults(of: host.controller) { $0.silencesReports = true }
        host.run(milliseconds: 1)
        let silent = host.legacyReports.count
        host.run(milliseconds: 3000)
        #expect(host.legacyReports.count == silent)
        air.changeFaults(of: host.controller) { $0.silencesReports = false }
        host.run(milliseconds: 300)
        #expect(host.legacyReports.count > silent)
    }

    @Test("the transport closes at a time; links fall silent, and it can be opened again (pain 7)")
    func transportCloses() throws {
        _ = try host.connect(to: heart)
        host.scan()
        air.closeTransport(of: host.controller, at: air.nowMicroseconds + 100_000)
        host.run(milliseconds: 99)
        #expect(!air.isTransportClosed(of: host.controller))
        host.run(milliseconds: 2)
        #expect(air.isTransportClosed(of: host.controller))
        host.forget()
        host.run(milliseconds: 2000)
        #expect(host.events.isEmpty)
        #expect(host.perform(LERand()) == nil)
        air.reopenTransport(of: host.controller)
        host.prepare()
        #expect(host.scan() == .success)
        host.run(milliseconds: 300)
        #expect(host.legacyReports.contains { $0.address == heart })
    }

    @Test("the transport closes after any number of packets (pain 4)")
    func transportClosesAfterPackets() {
        for count in 0..<40 {
            let air = SimulatedAir.demoWorld()
            let host = TestHost(air)
            air.closeTransport(of: host.controller, afterPackets: count)
            host.prepare()
            host.beginConnecting(to: heart)
            host.run(milliseconds: 300)
            host.scan()
            host.run(milliseconds: 2000)
            #expect(air.isTransportClosed(of: host.controller))
            #expect(host.packets.count <= count)
        }
    }

    @Test("any packet can be injected to the host")
    func injected() {
        air.inject([4, 0x05, 4, 0, 0x99, 0, 0x13], from: host.controller)
        host.run(milliseconds: 1)
        #expect(host.disconnections.map(\.connectionHandle.rawValue) == [0x99])
    }

    @Test("two reports come in one event where the controller packs them (pain 16)")
    func packedReports() {
        var configuration = SimulatedControllerConfiguration.numbered(5)
        configuration.packsReports = true
        let other = TestHost.ready(air, configuration)
        other.scan()
        other.run(milliseconds: 300)
        let counts = other.events.compactMap { event -> Int? in
            if case .leAdvertisingReport(let report) = event { return report.reports.count }
            return nil
        }
        #expect(counts.contains(2) && counts.contains(1))
    }
}
