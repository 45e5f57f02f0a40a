import BLEPackets
import Testing

@testable import BLEHost

@Suite("The ladder of recovery")
struct RecoveryLadderTests {
    private func at(_ seconds: Int64) -> Instant { Instant(microseconds: seconds * 1_000_000) }

    @Test("a controller that never becomes ready climbs one step each time (A78)")
    func neverReady() {
        var ladder = RecoveryLadder(canReset: true)
        let steps = (0..<4).map { ladder.fall(at: at($0 * 2)) }
        #expect(steps == [.reset, .reopenTransport, .resetDevice, .giveUp])
    }

    @Test("a short success does not bring the first step back (A78)")
    func shortSuccess() {
        var ladder = RecoveryLadder(canReset: true)
        var steps: [RecoveryLadder.Step] = []
        for second in stride(from: Int64(0), to: 140, by: 20) {
            steps.append(ladder.fall(at: at(second)))
            ladder.isReady(at: at(second + 1))
        }
        #expect(
            steps == [
                .reset, .reset, .reopenTransport, .reopenTransport, .resetDevice, .resetDevice, .giveUp,
            ])
    }

    @Test("a minute of work is forgotten failures")
    func longSuccess() {
        var ladder = RecoveryLadder(canReset: true)
        _ = ladder.fall(at: at(0))
        _ = ladder.fall(at: at(2))
        ladder.isReady(at: at(3))
        #expect(ladder.fall(at: at(70)) == .reset)
    }

    @Test("silence is judged by reports, not by time (A28)")
    func silence() {
        var ladder = RecoveryLadder(canReset: true)
        #expect(ladder.fall(at: at(0), lastWorked: at(0), isRepeatable: false) == .reset)
        ladder.isReady(at: at(1))
        // Two seconds of reports after the reset, and silence for minutes.
        #expect(ladder.fall(at: at(200), lastWorked: at(3), isRepeatable: false) == .reopenTransport)
        ladder.isReady(at: at(201))
        #expect(ladder.fall(at: at(500), lastWorked: at(300), isRepeatable: false) == .reset)
    }

    @Test("a controller that is shared is not reset")
    func shared() {
        var ladder = RecoveryLadder(canReset: false)
        #expect(ladder.fall(at: at(0)) == .reopenTransport)
    }

    @Test("a command that is never answered, with a Reset that is, ends with the command's name (A78)")
    func hangsAfterReset() {
        let rig = HostRig()
        rig.answers[LESetScanEnable.opcode] = .silence
        rig.start()
        let scan = rig.submit(.radio(.scan(ScanRequest())))
        var reopened: [Bool] = []
        for _ in 0..<240 {
            rig.advance(by: .milliseconds(250))
            guard let index = rig.events.firstIndex(where: { if case .reopenTransport = $0 { true } else { false } })
            else { continue }
            if case .reopenTransport(let resetsDevice) = rig.events[index] { reopened.append(resetsDevice) }
            let results = rig.results(of: scan)
            rig.forget()
            #expect(results.isEmpty, "the wish survives every step")
            rig.closeTransport()
            rig.start()
        }
        #expect(reopened == [false, false, true, true])
        #expect(rig.results(of: scan) == [.failure(.controllerFault(.unanswered(LESetScanEnable.opcode)))])
    }
}
