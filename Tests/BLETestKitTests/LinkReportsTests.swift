import BLETestKit
import Testing

@Suite("What is measured on a link")
struct LinkReportsTests {
    private func lamp() async throws -> (TestRadio, TestPeer, Adapter, Peripheral) {
        let radio = try TestRadio()
        let peer = radio.add(TestDevice("Lamp") { TestService(.batteryService) }.signal(-50))
        let adapter = try await radio.openAdapter()
        return (radio, peer, adapter, try await adapter.connect(to: "Lamp"))
    }

    @Test("the peripheral reads power, and reports path loss until the device ends the link")
    func reports() async throws {
        let (_, peer, adapter, lamp) = try await lamp()
        let (own, remote) = (try await lamp.readTransmitPower(), try await lamp.readRemoteTransmitPower())
        #expect(own.level != nil && remote.level != nil)
        try await lamp.reportTransmitPower(local: true, remote: true)
        var reports = try await lamp.reports().makeAsyncIterator()
        var others = try await lamp.reports().makeAsyncIterator()
        try await lamp.monitorPathLoss(zones: PathLossZones(low: 40, high: 70))
        let steps: [(Int8?, PathLoss.Zone)] = [(nil, .middle), (-95, .high), (-20, .low)]
        for (signal, zone) in steps {
            if let signal { peer.setSignal(signal) }
            guard case .pathLoss(let loss)? = try await reports.next() else {
                Issue.record("no path loss was reported")
                return
            }
            #expect(loss.zone == zone)
            #expect(try await others.next() == .pathLoss(loss))
        }
        peer.disconnect()
        let reason = BLEError.linkLost(.controller(.remoteUserTerminatedConnection))
        await #expect(throws: reason) { try await reports.next() }
        await #expect(throws: BLEError.notConnected) { try await lamp.reports() }
        // Asked for afterwards, too.
        #expect(try await lamp.waitForDisconnection() == .controller(.remoteUserTerminatedConnection))
        await adapter.close()
    }

    @Test("reports end without an error when this side disconnects, and with their task")
    func ends() async throws {
        let (_, _, adapter, lamp) = try await lamp()
        var reports = try await lamp.reports().makeAsyncIterator()
        let task = Task { [lamp] in
            for try await _ in try await lamp.reports() {}
            return true
        }
        task.cancel()
        #expect(try await task.value)
        try await lamp.disconnect()
        #expect(try await reports.next() == nil)
        #expect(try await lamp.waitForDisconnection() == .releasedByClient)
        await adapter.close()
    }
}
