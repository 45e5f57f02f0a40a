import BLEPackets
import Testing

@testable import BLEHost

/// Controllers that lose events or crash under many reports (zephyr#20250, esp-hosted#138, NicoIIT/ha-ble-adv#60), and
/// some that disturb their links by scanning (bluetooth-next#104).
@Suite("The load of a scan on weak controllers")
struct ReportLoadTests {
    private static let full: [UInt8] = [1, 0x60, 0, 0x60, 0]
    private static let spared: [UInt8] = [0, 0x60, 0, 0x30, 0]

    private func scanning(_ traits: ControllerTraits, adapts: Bool = true) -> HostRig {
        var configuration = HostConfiguration()
        configuration.experience.found = traits
        configuration.adaptsToController = adapts
        let rig = HostRig(configuration: configuration)
        rig.start()
        rig.submit(.radio(.scan(ScanRequest())))
        return rig
    }

    private func parameters(_ rig: HostRig) -> [UInt8] { Array(rig.scanParameters.prefix(5)) }

    private func flood(_ rig: HostRig, for span: Microseconds, every pause: Microseconds = .milliseconds(3)) {
        rig.run(for: span, every: pause) { HostRig.report(HostRig.peer($0 % 7)) }
    }

    @Test("after ten seconds with too many reports, a controller that cannot stand them is spared for a minute (A41)")
    func flood() {
        let rig = scanning(.failsUnderManyReports)
        flood(rig, for: .seconds(9))
        #expect(parameters(rig) == Self.full)
        flood(rig, for: .seconds(12))
        #expect(parameters(rig) == Self.spared)
        #expect(rig.isScanOn)
        rig.run(for: .seconds(55))
        #expect(parameters(rig) == Self.spared)
        rig.run(for: .seconds(20))
        #expect(parameters(rig) == Self.full)
        #expect(rig.isScanOn)
    }

    @Test("while there are too many, it is spared on and on, and its scan is not changed each time (A41)")
    func onAndOn() {
        let rig = scanning(.failsUnderManyReports)
        flood(rig, for: .seconds(180))
        #expect(parameters(rig) == Self.spared)
        #expect(rig.count(of: LESetScanParameters.opcode) == 2)
    }

    @Test("fewer reports, another controller, or an engine that does not adapt: the scan stays as it is (A41)")
    func others() {
        let few = scanning(.failsUnderManyReports)
        flood(few, for: .seconds(30), every: .milliseconds(5))
        #expect(parameters(few) == Self.full)
        let strong = scanning([])
        flood(strong, for: .seconds(30))
        #expect(parameters(strong) == Self.full)
        let recorded = scanning(.failsUnderManyReports, adapts: false)
        flood(recorded, for: .seconds(30))
        #expect(parameters(recorded) == Self.full)
    }

    @Test("after a hardware error while reports came, it is spared for five minutes (A41) (A80)")
    func hardwareError() {
        let rig = scanning(.failsUnderManyReports)
        rig.run(for: .seconds(5))
        rig.receive(HardwareError(hardwareCode: 3))
        #expect(parameters(rig) == Self.spared)
        rig.run(for: .seconds(295))
        #expect(parameters(rig) == Self.spared)
        rig.run(for: .seconds(10))
        #expect(parameters(rig) == Self.full)
    }

    @Test("a scan beside links has the background's duty, where scanning disturbs them (A42)")
    func links() {
        let rig = scanning(.disturbsLinksByScanning)
        #expect(parameters(rig) == Self.full)
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(rig.connectionComplete())
        #expect(parameters(rig) == [1, 0xE0, 1, 0x30, 0])
        #expect(rig.isScanOn)
        rig.receive(
            DisconnectionComplete(connectionHandle: .init(rawValue: 0x40), reason: .remoteUserTerminatedConnection))
        #expect(parameters(rig) == Self.full)
        #expect(rig.isScanOn)
    }

    @Test("elsewhere links do not change the scan (A42)", arguments: [true, false])
    func unchanged(adapts: Bool) {
        let rig = scanning(adapts ? [] : .disturbsLinksByScanning, adapts: adapts)
        rig.submit(.radio(.connect(ConnectRequest(peer: HostRig.peer))))
        rig.receive(rig.connectionComplete())
        #expect(parameters(rig) == Self.full)
    }
}
