import BLE
import Synchronization

/// Says on a terminal what is tried with a controller that does not answer.
final class RecoveryNotes: AdapterObserver {
    private let console: Console
    private let isRecovering = Mutex(false)

    init(_ console: Console) { self.console = console }

    func observe(_ activity: AdapterActivity, of address: TransportAddress) {
        guard case .event(let event) = activity else { return }
        switch event {
        case .recovering(let step):
            isRecovering.withLock { $0 = true }
            console.note("\(address.adapterName) does not answer; \(step.attempt) …")
        case .ready:
            let wasRecovering = isRecovering.withLock { state in
                defer { state = false }
                return state
            }
            if wasRecovering { console.note("\(address.adapterName) answers again") }
        default: break
        }
    }
}

extension RecoveryStep {
    fileprivate var attempt: String {
        switch self {
        case .reset: "trying a Reset"
        case .reopenTransport: "opening it again"
        case .resetDevice: "resetting its device"
        }
    }
}
