import BLE
import BLEJSON
import BLETransport
import Testing

@testable import bletool

@Suite("The verdict of a check")
struct CheckVerdictTests {
    private static let good = CheckFinding(.scan, .ok, "12 reports")

    @Test("an adapter without a weak point is usable")
    func usable() {
        let verdict = CheckVerdict(
            [Self.good, CheckFinding(.reset, .skipped, "shared")], traits: [.hasStaticAddresses])
        #expect(verdict.grade == .ok && verdict.text == "usable" && verdict.weaknesses.isEmpty)
        #expect(verdict.lines == "usable")
    }

    @Test(
        "the advice about a reset fits the transport",
        arguments: [
            ("user:0", "‘bletool -t hci0 power reset’"), ("usb:1-2", "‘bletool -t usb:1-2 power reset’"),
            ("bled", "‘bletool -t bled power reset’"), ("uart:/dev/x@9600", "switch its power off and on"),
            ("unix:/x", "start the program behind it again"),
        ])
    func reset(transport: String, words: String) throws {
        let verdict = CheckVerdict([Self.good], traits: .needsDeviceReset, at: try TransportAddress(transport))
        #expect(verdict.weaknesses.count == 1 && verdict.weaknesses[0].contains(words), "\(verdict.weaknesses)")
    }

    @Test("a check that was interrupted says nothing of the adapter")
    func interrupted() {
        let verdict = CheckVerdict([Self.good], traits: [], isComplete: false)
        #expect(verdict.grade == .skipped && verdict.text == "unknown: the check was interrupted")
    }

    @Test("a weak step, and a trait that may disturb, are weak points with advice")
    func weak() {
        let verdict = CheckVerdict(
            [Self.good, CheckFinding(.power, .weak, "the kernel may suspend it")],
            traits: [.losesReception, .suffersFromAutosuspend, .lacksFirmware, .sendsDataBeforeEvents])
        #expect(verdict.grade == .weak)
        #expect(verdict.text == "usable, with 2 weak points")
        // Power and firmware are said by their steps, and what the stack copes with by nobody.
        #expect(verdict.weaknesses.first == "power: the kernel may suspend it")
        #expect(verdict.weaknesses.last == TraitTexts.weaknesses(of: .losesReception).first)
    }

    @Test("a failed step makes the adapter unusable, whatever else is good")
    func unusable() {
        let verdict = CheckVerdict([Self.good, CheckFinding(.reset, .failed, "hears nothing any more")], traits: [])
        #expect(verdict.grade == .failed)
        #expect(verdict.text == "not usable: “reset” failed")
        #expect(verdict.weaknesses == ["reset: hears nothing any more"])
        #expect(verdict.points == ["step “reset”"])
    }

    @Test("a shared controller is judged by what was tried")
    func shared() {
        #expect(
            CheckVerdict([Self.good], traits: [], isShared: true).text
                == "usable, as far as a shared controller can be checked")
    }

    @Test("each trait has a word, a sentence and advice")
    func traits() {
        let all = (0..<31).map { ControllerTraits(rawValue: 1 << $0) }.filter { !TraitTexts.names(of: $0).isEmpty }
        #expect(all.count == TraitTexts.advices.count)
        for trait in all { #expect(TraitTexts.weaknesses(of: trait).count == 1, "\(TraitTexts.names(of: trait))") }
        // What a family is expected to have can be told.
        for family in ControllerFamily.allCases {
            #expect(TraitTexts.weaknesses(of: family.traits).count == family.traits.rawValue.nonzeroBitCount)
        }
    }

    // MARK: Steps

    private static func discovery(_ address: UInt64, rssi: Int8 = -60, data: [UInt8] = [2, 1, 6]) -> Discovery {
        Discovery(
            scan: OperationID(rawValue: 1), client: ClientID(rawValue: 1),
            address: DeviceAddress(value: address, kind: .public), rssi: rssi, isConnectable: true, isScannable: true,
            advertisement: data, scanResponse: [], txPower: nil, isExtended: false, time: .zero)
    }

    private static func figures(_ discoveries: [Discovery], own: UInt64 = 0xAA) -> ScanFigures {
        var figures = ScanFigures()
        for discovery in discoveries { figures.add(discovery, own: [DeviceAddress(value: own, kind: .public)]) }
        figures.seconds = 10
        return figures
    }

    @Test("reports are counted by device, strength and data; an unknown strength is none")
    func figures() {
        let figures = Self.figures([
            Self.discovery(1), Self.discovery(1, rssi: -40), Self.discovery(2, rssi: 127), Self.discovery(3, data: []),
        ])
        #expect(figures.reports == 4 && figures.devices == 3 && figures.strongest == -40)
        #expect(figures.emptyShare == 0.25 && figures.perSecond == 0.4)
        #expect(figures.text == "4 reports of 3 devices in 10 s (0.4 a second), strongest -40 dBm, 25 % without data")
    }

    @Test("silence is no proof without a second adapter, and a fault with one")
    func silence() {
        let none = Self.figures([])
        #expect(CheckJudge.scan(none, trouble: nil, hasSecond: false).grade == .weak)
        #expect(CheckJudge.scan(none, trouble: nil, hasSecond: true).grade == .failed)
        let refused = CheckJudge.scan(
            none, trouble: .refused(HCIStatus(rawValue: 0x0C), LESetScanEnable.opcode), hasSecond: false)
        #expect(refused.grade == .failed && refused.text.contains("LE Set Scan Enable"))
    }

    @Test("a clone that reports itself is weak, as somebody nearby may feign it; one report proves nothing (A30)")
    func ownAddress() {
        let own = Array(repeating: Self.discovery(0xAA), count: 10)
        #expect(CheckJudge.scan(Self.figures(own), trouble: nil, hasSecond: false).grade == .weak)
        let others = (1...20).map { Self.discovery($0) }
        #expect(CheckJudge.scan(Self.figures(own + others), trouble: nil, hasSecond: false).grade == .ok)
    }

    @Test("reports without data are a weak point (A29)")
    func empty() {
        let empty = (0..<60).map { Self.discovery(UInt64($0 + 1), data: []) }
        #expect(CheckJudge.scan(Self.figures(empty), trouble: nil, hasSecond: false).grade == .weak)
        #expect(CheckJudge.scan(Self.figures(Array(empty.prefix(10))), trouble: nil, hasSecond: false).grade == .ok)
    }

    @Test("claimed commands that do not work are told by what they are for (A7)")
    func commands() {
        var information = ControllerInformation()
        #expect(CheckJudge.commands(information).figures["claimed"] == "legacy")
        information.features = .extendedAdvertising
        #expect(CheckJudge.commands(information).grade == .ok)
        information.traits = [.scansWithLegacyCommands, .initiatesWithLegacyCommands]
        let finding = CheckJudge.commands(information)
        #expect(finding.grade == .weak)
        #expect(finding.text == "it claims the extended ones, and needs legacy ones for scanning, connecting")
        #expect(finding.figures["advertise"] == "extended")
    }

    @Test("the chip has its family's name and its maker's")
    func chip() {
        var information = ControllerInformation()
        information.companyIdentifier = 0x005D
        information.hciVersion = 0x0A
        information.family = .realtek8761
        let finding = CheckJudge.chip(information)
        #expect(finding.text.hasPrefix("Realtek RTL8761B, reported as Realtek"))
        #expect(finding.figures["family"] == "Realtek RTL8761B" && finding.figures["version"] == "5.1")
    }

    @Test("an adapter that may be suspended is weak only on USB (A82)")
    func power() {
        var hardware = AdapterHardware(index: 0)
        #expect(CheckJudge.power(hardware).grade == .skipped)
        hardware.power = .init(isAutomatic: true, delayMilliseconds: 2000, path: "/sys/…/power/control")
        #expect(CheckJudge.power(hardware).grade == .ok)
        hardware.usb = .init(vendor: 0x0BDA, product: 0x8771, release: 0x0200, port: "1-2", bus: 1, device: 3)
        #expect(CheckJudge.power(hardware).grade == .weak)
        hardware.power?.isAutomatic = false
        #expect(CheckJudge.power(hardware).grade == .ok)
        #expect(CheckJudge.device(hardware, transport: "user").text == "USB 0bda:8771, release 0200, port 1-2")
        #expect(CheckJudge.device(nil, transport: "tcp").grade == .skipped)
    }

    @Test("after a reset the adapter must hear again what it heard before")
    func reset() {
        func grade(_ before: Int, _ after: Int, _ trouble: ScanTrouble? = nil) -> CheckGrade {
            CheckJudge.reset(answer: 3, start: 40, reports: (before, after), trouble: trouble).grade
        }
        #expect(grade(10, 1) == .ok && grade(0, 0) == .ok && grade(10, 0) == .failed)
        #expect(grade(0, 0, .timeouts(1)) == .failed)
    }

    @Test("counters of faults are weak points, restarts of a silent scan are none")
    func counters() {
        var counters = HostCounters()
        #expect(CheckJudge.counters(counters).text == "nothing went wrong")
        counters.scanRestarts = 1
        #expect(CheckJudge.counters(counters).grade == .ok)
        counters.commandTimeouts = 2
        let sum = CheckJudge.counters(counters + counters)
        #expect(sum.grade == .weak && sum.text == "left 4 commands unanswered; its scan was restarted 2 times")
    }

    @Test("lost packets fail, a slow link is weak")
    func bench() {
        var result = BenchResult(scenario: .send, bearer: "gatt", bearerText: "GATT")
        (result.packets, result.bytes, result.seconds) = (200, 40_000, 2)
        #expect(CheckJudge.bench(.write, result).grade == .ok)
        result.seconds = 100
        #expect(CheckJudge.bench(.write, result).grade == .weak)
        result.lost = 1
        #expect(CheckJudge.bench(.notify, result).grade == .failed)
        result.lost = 0
        result.roundTrips = [0.6, 0.7, 0.8]
        #expect(CheckJudge.bench(.latency, result).grade == .weak)
    }
}
