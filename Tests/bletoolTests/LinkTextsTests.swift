import BLE
import Testing

@testable import bletool

@Suite("Texts of a link")
struct LinkTextsTests {
    @Test("parameters are numbers with their units")
    func parameters() {
        let parameters = ConnectionParameters(
            interval: ConnectionInterval(rawValue: 9), peripheralLatency: 4,
            supervisionTimeout: SupervisionTimeout(rawValue: 500))
        #expect(LinkTexts.text(parameters) == "interval 11.25 ms, latency 4, timeout 5000 ms")
    }

    @Test("power is a level, with what is known of its bounds")
    func power() {
        var power = TransmitPower(phy: .le1M, level: 4, maximum: nil, isLeast: false, isGreatest: true)
        #expect(LinkTexts.text(power, maximum: 10) == "4 dBm (greatest), at most 10 dBm")
        #expect(LinkTexts.text(.transmitPower(power, isPeers: true)) == "the device sends with 4 dBm (greatest)")
        power = TransmitPower(phy: .le1M, level: nil, maximum: nil, isLeast: false, isGreatest: false)
        #expect(LinkTexts.text(.transmitPower(power, isPeers: false)) == "this side sends with unknown power")
    }

    @Test("reports are sentences")
    func reports() {
        #expect(LinkTexts.text(.pathLoss(PathLoss(zone: .high, decibels: 81))) == "path loss high, 81 dB")
        #expect(LinkTexts.text(.pathLoss(PathLoss(zone: .low, decibels: nil))) == "path loss low")
        #expect(LinkTexts.text(.unauthenticated).hasPrefix("no packet has proved"))
        let timeout = SupervisionTimeout(rawValue: 500)
        let every = LinkSubrate(factor: 1, continuationNumber: 0, latency: 0, supervisionTimeout: timeout)
        let some = LinkSubrate(factor: 4, continuationNumber: 1, latency: 0, supervisionTimeout: timeout)
        #expect(LinkTexts.text(every) == "every connection event is used")
        #expect(LinkTexts.text(some) == "one of 4 connection events is used")
    }

    @Test("`link` prints no debug text of Swift")
    func command() async throws {
        let run = try await ToolRun(
            "-t", "sim", "link", "Jelling Heart", "--path-loss", "60-80", interruptAt: ["path loss"])
        #expect(run.output.contains("parameters       interval "))
        #expect(run.output.contains("own power        "))
        #expect(!run.output.contains("rawValue") && !run.output.contains("BLE"), "\(run.output)")
    }
}
