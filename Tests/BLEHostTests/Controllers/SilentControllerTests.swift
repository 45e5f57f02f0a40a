import BLEPackets
import Testing

@testable import BLEHost

/// Controllers that answer every command and report nothing any more (home-assistant/core#99053).
@Suite("A controller that reports nothing any more")
struct SilentControllerTests {
    private func scanning(_ request: ScanRequest = ScanRequest(isActive: false, allowsDuplicates: true)) -> HostRig {
        let rig = HostRig()
        rig.reopensTransport = true
        rig.start()
        rig.submit(.radio(.scan(request)))
        return rig
    }

    @Test("is restarted, then recovered step by step, and the client's scan goes on after each (A28)")
    func escalates() {
        let rig = scanning()
        rig.run(for: .seconds(60))
        rig.forget()
        rig.runSilently(for: .seconds(11))
        #expect(rig.counters.scanRestarts == 1)
        #expect(rig.recoveries.isEmpty)
        for count in 1...3 {
            rig.runSilently(for: .seconds(21))
            #expect(rig.recoveries.count == count)
            #expect(rig.isReady && rig.isScanOn)
        }
        #expect(!rig.events.contains(.faultRemains(.noReports)))
        rig.runSilently(for: .seconds(21))
        #expect(rig.events.contains(.faultRemains(.noReports)))
        #expect(rig.isReady && rig.isScanOn, "restarts go on")
        rig.forget()
        rig.runSilently(for: .seconds(3600))
        #expect(rig.recoveries.isEmpty && !rig.events.contains(.faultRemains(.noReports)))
        rig.run(for: .seconds(1))
        #expect(!rig.discoveries.isEmpty)
    }

    @Test("is cured by the first recovery, and nothing else is done (A28)")
    func cured() {
        let rig = scanning()
        rig.run(for: .seconds(60))
        rig.runSilently(for: .seconds(31))
        #expect(rig.recoveries == [.recovering(.reset)])
        rig.run(for: .seconds(600))
        #expect(rig.recoveries.count == 1)
        #expect(rig.counters.scanRestarts == 1)
        #expect(!rig.events.contains(.faultRemains(.noReports)))
    }

    @Test("and reports for two seconds after each restart only, climbs the steps all the same (A28)")
    func shortSuccess() {
        let rig = scanning()
        rig.run(for: .seconds(60))
        rig.forget()
        var enabled = rig.now
        var count = 0
        rig.run(for: .seconds(300)) { number in
            let enables = rig.count(of: LESetScanEnable.opcode)
            if enables != count { (count, enabled) = (enables, rig.now) }
            guard rig.now < enabled.advanced(by: .seconds(2)) else { return nil }
            return HostRig.report(HostRig.peer(number % 7))
        }
        #expect(rig.recoveries.count == 3)
        #expect(rig.events.count { $0 == .faultRemains(.noReports) } == 1)
        #expect(rig.isScanOn)
    }

    @Test("keeps its links while few reports came before (A28)")
    func links() {
        let rig = scanning()
        _ = rig.connect()
        rig.run(for: .seconds(60), every: .seconds(1))
        rig.runSilently(for: .seconds(3600))
        #expect(rig.recoveries.isEmpty && rig.disconnections.isEmpty)
        #expect(rig.counters.scanRestarts > 5)
    }

    @Test("loses its links after five minutes if many reports came before (A28)")
    func busyLinks() {
        let rig = scanning()
        _ = rig.connect()
        rig.run(for: .seconds(60))
        rig.runSilently(for: .seconds(299))
        #expect(rig.recoveries.isEmpty && rig.disconnections.isEmpty)
        rig.runSilently(for: .seconds(330))
        #expect(!rig.recoveries.isEmpty)
        #expect(rig.disconnections == [.controllerLost])
    }

    @Test("while clients scan for certain devices only, is restarted and not recovered (A28)")
    func acceptList() {
        var request = ScanRequest(isActive: false)
        request.acceptList = [HostRig.peer(1)]
        let rig = scanning(request)
        #expect(rig.scanParameters.last == 1, "by the accept list")
        rig.run(for: .seconds(60))
        rig.runSilently(for: .seconds(3600))
        #expect(rig.recoveries.isEmpty)
        #expect(rig.counters.scanRestarts > 5)
    }

    @Test("sends what it always sent where an engine does not adapt to its controller (A28)")
    func recording() {
        var configuration = HostConfiguration()
        configuration.adaptsToController = false
        let rig = HostRig(configuration: configuration)
        rig.start()
        rig.submit(.radio(.scan(ScanRequest(isActive: false))))
        rig.run(for: .seconds(60))
        rig.forget()
        rig.runSilently(for: .seconds(400))
        #expect(rig.recoveries.isEmpty)
        // 10, 30, 70, 150 and 310 s after the last report, each off and on.
        #expect(rig.counters.scanRestarts == 5)
        #expect(rig.commands.count == 15)
    }

    @Test("and empties all advertisements is recovered, too (A29)")
    func emptied() {
        let rig = scanning()
        rig.run(for: .seconds(60))
        rig.forget()
        rig.run(for: .seconds(90)) { HostRig.report(HostRig.peer($0 % 7), data: []) }
        #expect(!rig.recoveries.isEmpty)
        let count = rig.recoveries.count
        rig.run(for: .seconds(600))
        #expect(rig.recoveries.count == count)
        #expect(rig.isScanOn)
    }

    @Test("an empty place: every step once, and no fault (A28)")
    func emptyPlace() {
        let rig = scanning()
        rig.runSilently(for: .seconds(86_400))
        #expect(rig.recoveries.count == 3)
        #expect(!rig.events.contains(.faultRemains(.noReports)))
        rig.run(for: .seconds(1))
        #expect(!rig.discoveries.isEmpty)
    }
}
