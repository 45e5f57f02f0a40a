import BLEAppLifecycle
import BLEHost
import BLEMessages
import FoundationEssentials

extension DaemonOperator {
    /// An alert for the user (SPEC ALR-1 to ALR-5).
    public struct Alert: Hashable, Sendable {
        /// Why an app wants the user's attention.
        public typealias Kind = BLEAppLifecycle.Alert.Kind

        /// The number with which it is answered.
        public var id: UInt32
        /// The app's identifier.
        public var app: String
        public var kind: Kind
        /// The app's identifier of the peripheral; `nil` for `powerOff`.
        public var peripheral: UUID?
        /// The name of the peripheral, if it is known.
        public var name: String?
        /// Whether it has been answered, or no longer matters.
        public var isOver: Bool
    }
}

extension DaemonOperator.Answer {
    init(_ answer: OperatorAnswer) {
        adapter = answer.adapter
        apps = answer.apps
        status = answer.status
        alerts = answer.alerts.map { DaemonOperator.Alert($0) }
        bonds = answer.bonds
        removed = answer.removed
        ignoredFiles = answer.ignoredFiles
    }
}

extension DaemonOperator.Alert {
    init(_ message: OperatorAlert) {
        let alert = message.alert
        id = alert.id.rawValue
        app = alert.app.rawValue
        kind = alert.kind
        peripheral = alert.peripheral.flatMap { UUID(uuidString: $0.identifier.description) }
        name = alert.peripheral?.name
        isOver = message.isOver
    }
}
