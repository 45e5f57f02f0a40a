import BLEPackets
import Testing

@testable import BLEHost

/// Controllers that claim LE Coded, and receive nothing while they scan on it (Linux btintel.c, hci_bcm4377.c).
@Suite("Scanning on LE Coded with a controller that cannot")
struct CodedScanTests {
    private func rig(
        experience: ControllerExperience = ControllerExperience(), controller: ControllerIdentity? = nil
    ) -> HostRig {
        var configuration = HostConfiguration()
        configuration.experience = experience
        configuration.controller = controller
        let rig = HostRig(configuration: configuration)
        rig.features = [.extendedAdvertising, .leCodedPHY]
        rig.reopensTransport = true
        rig.start()
        return rig
    }

    private func scan(_ rig: HostRig, coded: Bool = true) -> OperationID {
        var request = ScanRequest(isActive: false, allowsDuplicates: true)
        request.scansCodedPHY = coded
        return rig.submit(.radio(.scan(request)))
    }

    /// Scanning_PHYs of the last LE Set Extended Scan Parameters.
    private func phys(_ rig: HostRig) -> UInt8? {
        rig.scanParameters.count > 2 ? rig.scanParameters[2] : nil
    }

    private func learned(_ rig: HostRig) -> ControllerTraits? {
        for case .controllerLearned(let experience) in rig.events.reversed() { return experience.found }
        return nil
    }

    @Test("a controller that is known for it scans on LE 1M, and the client's scan is on (A27)")
    func known() {
        // AX200.
        let rig = rig(controller: ControllerIdentity(usbVendor: 0x8087, usbProduct: 0x0029))
        let scan = scan(rig)
        #expect(phys(rig) == 1)
        rig.run(for: .seconds(1))
        #expect(!rig.discoveries.isEmpty && rig.results(of: scan).isEmpty)
    }

    @Test("what was learned earlier counts, also against the family (A27)")
    func experience() {
        let learned = rig(experience: ControllerExperience(found: .cannotScanOnCodedPHY))
        _ = scan(learned)
        #expect(phys(learned) == 1)
        let refuted = rig(
            experience: ControllerExperience(refuted: .cannotScanOnCodedPHY),
            controller: ControllerIdentity(usbVendor: 0x8087, usbProduct: 0x0029))
        _ = scan(refuted)
        #expect(phys(refuted) == 5)
    }

    @Test("a controller that is deaf on LE Coded is found out, and scans without it from then on (A27)")
    func found() {
        let rig = rig()
        let scan = scan(rig)
        #expect(phys(rig) == 5)
        rig.run(for: .seconds(120)) { self.phys(rig) == 1 ? HostRig.report(HostRig.peer($0 % 7)) : nil }
        #expect(learned(rig) == .cannotScanOnCodedPHY)
        #expect(phys(rig) == 1)
        #expect(rig.recoveries.isEmpty, "no more than that was wrong")
        rig.forget()
        rig.run(for: .seconds(60))
        #expect(!rig.discoveries.isEmpty && rig.results(of: scan).isEmpty)
        #expect(rig.commands.isEmpty)
    }

    @Test("silence on all PHYs proves nothing about LE Coded: it is scanned again, and the controller recovered (A27)")
    func silent() {
        let rig = rig()
        _ = scan(rig)
        rig.run(for: .seconds(60))
        rig.runSilently(for: .seconds(80))
        #expect(learned(rig) == nil)
        #expect(phys(rig) == 5)
        #expect(!rig.recoveries.isEmpty)
    }

    @Test("a device that appears while LE Coded is left out proves nothing, as it is received with it, too (A27)")
    func chance() {
        let rig = rig()
        _ = scan(rig)
        let arrival = rig.now.advanced(by: .seconds(40))
        rig.run(for: .seconds(300)) { rig.now > arrival ? HostRig.report(HostRig.peer($0 % 7)) : nil }
        #expect(learned(rig) == nil)
        #expect(phys(rig) == 5)
        #expect(rig.recoveries.isEmpty)
    }

    @Test("a scan that ends during the trial leaves nothing behind (A27)")
    func ended() {
        let rig = rig()
        let first = scan(rig)
        rig.runSilently(for: .seconds(35))
        #expect(phys(rig) == 1)
        rig.submit(.cancel(first))
        rig.runSilently(for: .seconds(60))
        _ = scan(rig)
        #expect(phys(rig) == 5)
        #expect(learned(rig) == nil)
    }
}
