import BLEPackets
import BLESimulator
import TestSupport
import Testing

@testable import BLEHost

/// For any command that the engine sends, refused or not answered, from the start or from later on: what clients want
/// is met within 60 s, or ends with an error that names the command.
@Suite("Any one command that fails")
struct SingleFaultTests {
    static let statuses: [HCIStatus?] = [
        .unknownCommand, .commandDisallowed, .rejectedLimitedResources, .unsupportedFeatureOrParameterValue,
        .invalidCommandParameters, .unspecifiedError, nil,
    ]

    static let controllers: [SimulatedControllerConfiguration] = [.core40(), SimulatedControllerConfiguration()]

    @Test(
        "a wish is met or ends with an error that names the command (A78)", arguments: ClientWish.allCases,
        [0, 1])
    func isMetOrNamed(wish: ClientWish, controller: Int) {
        let configuration = Self.controllers[controller]
        let healthy = FaultTrial(controller: configuration)
        #expect(healthy.start() == .met)
        let atStart = Set(healthy.opcodes)
        #expect(healthy.outcome(of: wish) == .met)
        let all = Set(healthy.opcodes).sorted { $0.rawValue < $1.rawValue }
        var trials = 0
        for opcode in all {
            for status in Self.statuses {
                for isFromStart in [true, false] where isFromStart || !atStart.contains(opcode) || wish != .start {
                    let fault = CommandFault(opcode: opcode, status: status)
                    let trial = FaultTrial(controller: configuration)
                    if isFromStart { trial.set(fault) }
                    var outcome = trial.start()
                    if outcome == .met {
                        if !isFromStart { trial.set(fault) }
                        outcome = trial.outcome(of: wish)
                    }
                    trials += 1
                    let isGood: Bool =
                        switch outcome {
                        case .met: true
                        case .ended(let failure): failure.names(opcode)
                        case .open: false
                        }
                    #expect(
                        isGood, "\(wish): \(fault)\(isFromStart ? " from the start" : ""): \(outcome)")
                }
            }
        }
        print("single faults: \(wish.rawValue), controller \(controller): \(all.count) commands, \(trials) trials")
    }
}
