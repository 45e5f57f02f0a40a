import BLEPackets
import Testing

@testable import BLEHost

/// Copies of CSR's chips that report each device with their own address (noble#237).
@Suite("A controller that reports itself")
struct OwnAddressReportTests {
    private static let own = DeviceAddress(value: 0x0011_2233_4455, kind: .public)

    private func scanning(_ configuration: HostConfiguration = HostConfiguration()) -> (HostRig, OperationID) {
        let rig = HostRig(configuration: configuration)
        rig.reopensTransport = true
        rig.start()
        return (rig, rig.submit(.radio(.scan(ScanRequest(isActive: false)))))
    }

    private func run(_ rig: HostRig, for span: Microseconds, contents: Int = 5) {
        rig.run(for: span) { HostRig.report(Self.own, data: [2, 1, UInt8($0 % contents)]) }
    }

    private func isTold(_ rig: HostRig, _ scan: OperationID) -> Bool {
        rig.events.count { $0 == .faultRemains(.reportsItself) } == 1 && rig.results(of: scan).isEmpty
            && rig.recoveries.isEmpty
    }

    @Test("in place of every device is told, once; the scan goes on, as somebody may feign that (A30)")
    func ends() {
        let (rig, scan) = scanning()
        run(rig, for: .seconds(120))
        #expect(isTold(rig, scan))
    }

    @Test("in place of every device, with its scan responses, is told, too (A30)")
    func scanResponses() {
        let rig = HostRig()
        rig.start()
        let scan = rig.submit(.radio(.scan(ScanRequest())))
        rig.run(for: .seconds(60)) {
            HostRig.report(
                Self.own, type: $0 % 2 == 0 ? .scanResponse : .connectableUndirected, data: [2, 1, UInt8($0 % 5)])
        }
        #expect(isTold(rig, scan))
    }

    @Test("now and then, among others, is a replay by somebody: the scan goes on (A30)")
    func replay() {
        let (rig, scan) = scanning()
        rig.run(for: .seconds(4), every: .seconds(1))
        run(rig, for: .seconds(600))
        #expect(rig.results(of: scan).isEmpty && rig.recoveries.isEmpty)

        let (other, second) = scanning()
        other.run(for: .seconds(60)) {
            HostRig.report($0 % 2 == 0 ? Self.own : HostRig.peer($0 % 7), data: [2, 1, UInt8($0 % 3)])
        }
        #expect(other.results(of: second).isEmpty)
        #expect(other.recoveries.isEmpty)
    }

    @Test("once, or in a burst, proves nothing (A30)")
    func burst() {
        let (rig, scan) = scanning()
        for _ in 0..<200 { rig.receive(HostRig.report(Self.own)) }
        rig.advance(by: .seconds(4))
        for _ in 0..<200 { rig.receive(HostRig.report(Self.own)) }
        #expect(rig.results(of: scan).isEmpty && rig.recoveries.isEmpty)
    }

    @Test("after it has reported others for long is no fault of the controller (A30)")
    func later() {
        let (rig, scan) = scanning()
        rig.run(for: .seconds(60))
        run(rig, for: .seconds(300))
        #expect(rig.results(of: scan).isEmpty)
    }

    @Test("is not confused with another controller of the same address, which always sends the same (A30)")
    func sharedAddress() {
        var configuration = HostConfiguration()
        configuration.experience.found = .sharesPublicAddress
        let (rig, scan) = scanning(configuration)
        run(rig, for: .seconds(60), contents: 1)
        #expect(rig.results(of: scan).isEmpty && rig.recoveries.isEmpty)
        let (faulty, second) = scanning(configuration)
        run(faulty, for: .seconds(120))
        #expect(isTold(faulty, second))
    }

    @Test("changes nothing where an engine does not adapt (A30)")
    func recording() {
        var configuration = HostConfiguration()
        configuration.adaptsToController = false
        let (rig, scan) = scanning(configuration)
        run(rig, for: .seconds(60))
        #expect(rig.results(of: scan).isEmpty && rig.recoveries.isEmpty)
    }
}
