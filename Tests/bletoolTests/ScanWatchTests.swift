import BLE
import BLETransport
import Testing

@testable import bletool

@Suite("Whether a scan was on")
struct ScanWatchTests {
    private static let setParameters: [UInt8] = [1, 0x0B, 0x20, 7, 1, 0x10, 0, 0x10, 0, 0, 0]
    private static let enable: [UInt8] = [1, 0x0C, 0x20, 2, 1, 0]
    private static let disable: [UInt8] = [1, 0x0C, 0x20, 2, 0, 0]
    private static let enableExtended: [UInt8] = [1, 0x42, 0x20, 6, 1, 0, 0, 0, 0, 0]

    private static func complete(_ opcode: UInt16, _ status: UInt8) -> [UInt8] {
        [4, 0x0E, 4, 1, UInt8(opcode & 0xFF), UInt8(opcode >> 8), status]
    }
    private static func status(_ opcode: UInt16, _ status: UInt8) -> [UInt8] {
        [4, 0x0F, 4, status, 1, UInt8(opcode & 0xFF), UInt8(opcode >> 8)]
    }

    /// Shows packets in order; whose they are is in their first octet.
    private static func watch(_ packets: [[UInt8]], isShared: Bool = false) -> ScanWatch {
        let watch = ScanWatch(isShared: isShared)
        for packet in packets {
            let direction: PacketDirection = packet[0] == 1 ? .hostToController : .controllerToHost
            watch.observe(packet.span.bytes, direction: direction, unixMicroseconds: 0)
        }
        return watch
    }

    private static func show(_ event: HostEvent, to watch: ScanWatch) {
        watch.observe(.event(event), of: .simulator(scenario: nil))
    }

    @Test("a scan that the controller accepted was on, with either family of commands")
    func scanned() {
        for packets in [
            [Self.setParameters, Self.complete(0x200B, 0), Self.enable, Self.complete(0x200C, 0)],
            [Self.enableExtended, Self.complete(0x2042, 0)],
            [Self.enableExtended, Self.status(0x2042, 1), Self.enable, Self.complete(0x200C, 0)],
        ] {
            #expect(Self.watch(packets).state.starts == 1)
            #expect(Self.watch(packets).trouble == nil)
        }
    }

    @Test("a scan that the controller refused was never on, and the error names the command (A78)")
    func refused() throws {
        let unknown = HCIStatus(rawValue: 1)
        for packets in [
            [Self.enableExtended, Self.complete(0x2042, 1)], [Self.enableExtended, Self.status(0x2042, 1)],
        ] {
            let trouble = try #require(Self.watch(packets).trouble)
            #expect(trouble == .refused(unknown, LESetExtendedScanEnable.opcode))
            #expect(trouble.failure.message.contains("LE Set Extended Scan Enable"))
            #expect(trouble.failure.code == .controllerRefused && trouble.failure.status == .operationFailed)
        }
        // Switching it off is no wish to scan.
        let off = Self.watch([Self.disable, Self.complete(0x200C, 0x0C)])
        #expect(off.trouble == .tooShort)
    }

    @Test("where another owner scans, a refused scan reports devices nevertheless")
    func shared() {
        let packets = [Self.enable, Self.complete(0x200C, 0x0C)]
        #expect(Self.watch(packets, isShared: true).trouble == nil)
        #expect(Self.watch(packets).trouble == .refused(HCIStatus(rawValue: 0x0C), LESetScanEnable.opcode))
    }

    @Test("an answer to another command says nothing of the scan; cut packets neither")
    func strangers() {
        let watch = Self.watch(
            [
                Self.enable, Self.complete(0x2001, 0), [4, 0x0E, 3, 1, 0x0C], [4, 0x0E], [4], [1, 0x0C], [],
            ].filter { !$0.isEmpty })
        #expect(watch.state.starts == 0)
        #expect(watch.trouble == .unanswered(LESetScanEnable.opcode))
    }

    @Test("a controller that is being recovered does not scan (A78)")
    func recovering() throws {
        let watch = Self.watch([Self.enable, Self.complete(0x200C, 0), [1, 3, 0x0C, 0]])
        #expect(watch.trouble == nil)
        Self.show(.recovering(.reset), to: watch)
        #expect(watch.trouble == .recovering(unanswered: HCIOpcode(rawValue: 0x0C03)))
        #expect(try #require(watch.trouble).failure.code == .controllerSilent)
        Self.show(.ready(ControllerInformation()), to: watch)
        #expect(watch.trouble == .recovered(times: 1, unanswered: HCIOpcode(rawValue: 0x0C03)))
        // What was heard, was heard.
        var counters = HostCounters()
        counters.advertisingReports = 1
        watch.add(counters)
        #expect(watch.trouble == nil)
    }

    @Test("commands without answers, and what no recovery cures, end a scan without reports with an error")
    func silence() {
        let watch = Self.watch([Self.enable, Self.complete(0x200C, 0)])
        var counters = HostCounters()
        counters.commandTimeouts = 2
        watch.add(counters)
        #expect(watch.trouble == .timeouts(2))
        Self.show(.faultRemains(.noReports), to: watch)
        #expect(watch.trouble == .fault(.noReports))
    }

    @Test("a daemon's commands are not seen, and nothing is concluded from that")
    func daemon() {
        let watch = ScanWatch()
        #expect(watch.trouble == nil)
        Self.show(.recovering(.reset), to: watch)
        #expect(watch.trouble == .recovering(unanswered: nil))
    }
}
