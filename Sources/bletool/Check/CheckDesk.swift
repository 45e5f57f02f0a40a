import BLE
import Synchronization

/// Collects the findings of a check and prints each as it comes.
final class CheckDesk: Sendable {
    private struct State {
        var findings: [CheckFinding] = []
        var information: ControllerInformation?
        var counters = HostCounters()
        var experience = ControllerExperience()
        var isGone = false
    }

    private let console: Console
    private let state = Mutex(State())

    init(_ console: Console) { self.console = console }

    func add(_ finding: CheckFinding) {
        state.withLock { $0.findings.append(finding) }
        // What was shown of this step is over.
        console.showProgress("")
        console.print(finding.object, text: finding.line)
    }

    func skip(_ steps: [CheckStep], because reason: String) {
        for step in steps { add(CheckFinding(step, .skipped, reason)) }
    }

    var findings: [CheckFinding] { state.withLock { $0.findings } }

    /// What the controller last reported about itself; `nil` until it has started.
    var information: ControllerInformation? {
        get { state.withLock { $0.information } }
        set { state.withLock { $0.information = newValue } }
    }

    /// Whether the controller has left or answers nothing any more.
    var isGone: Bool {
        get { state.withLock { $0.isGone } }
        set { state.withLock { $0.isGone = newValue } }
    }

    /// What all engines of the controller have counted.
    var counters: HostCounters { state.withLock { $0.counters } }

    func add(_ counters: HostCounters) { state.withLock { $0.counters = $0.counters + counters } }
}
