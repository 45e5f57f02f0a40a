import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEHost

/// Whole engines on simulated controllers whose reception fails.
@Suite("A scan on simulated controllers that stop receiving")
struct SimulatedReceptionTests {
    private func scanning(_ request: ScanRequest = ScanRequest(allowsDuplicates: true)) -> (HostStation, OperationID) {
        let rig = HostStation(World(.demoWorld()))
        rig.start()
        let scan = rig.submit(.radio(.scan(request)))
        rig.run(for: .seconds(60))
        return (rig, scan)
    }

    @Test(
        "goes on after the step that cures the controller: restart, reset, reopening (A28)",
        arguments: [SimulatedControllerRemedy.scanRestart, .reset, .reopening])
    func cured(remedy: SimulatedControllerRemedy) {
        let (rig, scan) = scanning()
        rig.air.changeFaults(of: rig.controller, until: remedy) { $0.silencesReports = true }
        rig.run(for: .seconds(180))
        rig.forget()
        rig.run(for: .seconds(10))
        #expect(rig.discoveries.count > 10)
        #expect(rig.results(of: scan).isEmpty)
        #expect(!rig.events.contains(.faultRemains(.noReports)))
    }

    @Test("goes on with a controller that nothing cures, once it receives again by itself (A28)")
    func incurable() {
        let (rig, scan) = scanning()
        rig.air.changeFaults(of: rig.controller) { $0.silencesReports = true }
        rig.run(for: .seconds(1200))
        #expect(rig.events.count { $0 == .faultRemains(.noReports) } == 1)
        #expect(rig.results(of: scan).isEmpty)
        rig.air.changeFaults(of: rig.controller) { $0.silencesReports = false }
        rig.forget()
        rig.run(for: .seconds(10))
        #expect(rig.discoveries.count > 10)
    }

    @Test("climbs all steps with one that receives for two seconds after each restart (A28)")
    func twoSeconds() {
        let (rig, scan) = scanning()
        rig.air.changeFaults(of: rig.controller) { $0.hearsOnlyForMicroseconds = 2_000_000 }
        rig.run(for: .seconds(600))
        #expect(rig.events.count { $0 == .faultRemains(.noReports) } == 1)
        #expect(rig.results(of: scan).isEmpty)
    }

    @Test("is cured of reports without data (A29)")
    func emptied() {
        let (rig, scan) = scanning()
        rig.air.changeFaults(of: rig.controller, until: .reset) { $0.emptiesReports = true }
        rig.run(for: .seconds(180))
        #expect(rig.counters.controllerResets > 0)
        rig.forget()
        rig.run(for: .seconds(10))
        #expect(rig.discoveries.contains { !$0.advertisement.isEmpty })
        #expect(rig.results(of: scan).isEmpty)
    }

    @Test("says of a controller that it reports itself in place of the devices (A30)")
    func own() {
        let rig = HostStation(World(.demoWorld()))
        rig.air.changeFaults(of: rig.controller) { $0.reportsOwnAddress = true }
        rig.start()
        let scan = rig.submit(.radio(.scan(ScanRequest(allowsDuplicates: true))))
        rig.run(for: .seconds(180))
        #expect(rig.events.count { $0 == .faultRemains(.reportsItself) } == 1 && rig.results(of: scan).isEmpty)
    }

    @Test("leaves out LE Coded where it makes the controller deaf (A27)")
    func coded() {
        let rig = HostStation(World(.demoWorld()))
        rig.air.changeFaults(of: rig.controller) { $0.codedScanIsDeaf = true }
        rig.start()
        var request = ScanRequest(allowsDuplicates: true)
        request.scansCodedPHY = true
        let scan = rig.submit(.radio(.scan(request)))
        rig.run(for: .seconds(120))
        var learned: ControllerTraits?
        for case .controllerLearned(let experience) in rig.events { learned = experience.found }
        #expect(learned == .cannotScanOnCodedPHY)
        rig.forget()
        rig.run(for: .seconds(10))
        #expect(rig.discoveries.count > 10)
        #expect(rig.results(of: scan).isEmpty)
        #expect(rig.counters.controllerResets == 0)
    }

    @Test("finds the same devices with odd reports as with good ones: filter by address, no RSSI, reserved bits (A31)")
    func odd() {
        func found(_ change: (inout SimulatedControllerFaults) -> Void) -> Set<String> {
            let rig = HostStation(World(.demoWorld()))
            rig.air.changeFaults(of: rig.controller, change)
            rig.start()
            rig.submit(.radio(.scan(ScanRequest())))
            rig.run(for: .seconds(30))
            return Set(rig.discoveries.map { "\($0.address.map { "\($0)" } ?? "–") \($0.advertisement)" })
        }
        let good = found { _ in }
        #expect(good.count >= 3)
        #expect(found { $0.strictDuplicates = true } == good)
        #expect(found { $0.reportsNoRSSI = true } == good)
        #expect(found { $0.fillsReservedBits = true } == good)
    }
}
