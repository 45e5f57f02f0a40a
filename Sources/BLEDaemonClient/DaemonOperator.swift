import BLEHost
import BLEMessages
import BLEPackets
import BLETransport
import FoundationEssentials

/// Manages a daemon and the apps that are installed at it. Only root, the daemon's own user and the group of its
/// operators may use it.
public enum DaemonOperator {
    /// A request of an operator.
    public typealias Request = OperatorRequest
    /// An app that is installed.
    public typealias App = AppStatus
    /// What was done to remove an app.
    public typealias RemovedApp = BLEMessages.RemovedApp

    /// The answer to a request; what the request does not ask for is empty.
    public struct Answer: Sendable {
        /// The transport of the adapter that answers; empty if the daemon is older than this library.
        public var adapter = ""
        /// Of `list`, `reload` and `show`.
        public var apps: [App] = []
        /// Of `status`.
        public var status: DaemonStatus?
        /// Of `alerts`, oldest first.
        public var alerts: [Alert] = []
        /// Of `bonds`; without keys.
        public var bonds: [Bond] = []
        /// Of `remove`.
        public var removed: RemovedApp?
        /// Of `reload`: how many files of the folder of apps were ignored; the log of `bled` says why.
        public var ignoredFiles = 0
    }

    /// What an operator watches.
    public enum Watched: Sendable {
        /// Alerts as they come and end.
        case alerts
        /// What crosses HCI.
        case packets
    }

    /// What is reported to an operator who watches.
    public enum Event: Sendable {
        /// An alert that waits for an answer, or one that is over. Those that wait already come first.
        case alert(Alert)
        /// An H4 packet, type octet first. Octets of keys in it are zero. `lost`: packets before it that were dropped
        /// because they were read too slowly.
        case packet([UInt8], PacketDirection, unixMicroseconds: UInt64, lost: UInt32)
    }

    /// Why a request failed.
    public enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// There is no daemon, or the connection to it broke.
        case transport(TransportError)
        /// The daemon refused; the text is for people. `isNotPermitted`: because only operators may ask for it.
        case refused(String, isNotPermitted: Bool = false)
        /// There is no bond to remove.
        case noBond
        /// The daemon did not answer in time.
        case noAnswer(after: Duration)
        /// The task was cancelled. The daemon may still carry the request out.
        case cancelled

        public var description: String {
            switch self {
            case .transport(let error): error.description
            case .refused(let text, _): text
            case .noBond: OperatorAnswer.noBond
            case .noAnswer(let limit):
                "bled has not answered for \(limit.components.seconds) s, so it hangs; restart it (systemctl restart bled)"
            case .cancelled: "cancelled"
            }
        }
    }

    /// No request needs long: what takes long, such as the start of an app, is only begun. An operator waits for its
    /// turn behind other programs, and on a busy machine for the processor.
    public static let patience: Duration = .seconds(60)

    /// Sends a request to the daemon at a socket, and waits for the answer.
    /// - Parameter limit: how long the answer may take.
    /// - Throws: `Failure`; `cancelled` if the task is.
    public static func perform(
        _ request: Request, at path: String, within limit: Duration = patience
    ) async throws(Failure) -> Answer {
        let conversation = OperatorConversation(path, request)
        let answer: Result<Answer, Failure> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                conversation.begin(within: limit) { event in
                    switch event {
                    case .answer(let answer): continuation.resume(returning: .success(answer))
                    case .ended(let failure): continuation.resume(returning: .failure(failure))
                    case .event: return true
                    }
                    return false
                }
            }
        } onCancel: {
            conversation.end(with: .cancelled)
        }
        return try answer.get()
    }

    /// Watches until the loop over the sequence ends or its task is cancelled.
    /// - Returns: a sequence that throws `Failure`; if it is read too slowly, the oldest events are dropped.
    public static func watch(_ watched: Watched, at path: String) -> AsyncThrowingStream<Event, any Error> {
        watch(watched, at: [path]) { $1 }
    }

    /// Watches several adapters of a daemon, each with its socket, until the first of them ends.
    /// - Returns: a sequence as that of one adapter, with the place in `paths` of the adapter that reports.
    public static func watch(
        _ watched: Watched, at paths: [String]
    ) -> AsyncThrowingStream<(place: Int, event: Event), any Error> {
        watch(watched, at: paths) { (place: $0, event: $1) }
    }

    private static func watch<Element: Sendable>(
        _ watched: Watched, at paths: [String], as element: @escaping @Sendable (Int, Event) -> Element
    ) -> AsyncThrowingStream<Element, any Error> {
        let asked: Request =
            switch watched {
            case .alerts: .followAlerts
            case .packets: .capture
            }
        return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(65536)) { continuation in
            let conversations = paths.map { OperatorConversation($0, asked) }
            continuation.onTermination = { _ in for conversation in conversations { conversation.end(with: .cancelled) }
            }
            for (place, conversation) in conversations.enumerated() {
                conversation.begin { event in
                    switch event {
                    case .answer(let answer):
                        for alert in answer.alerts { continuation.yield(element(place, .alert(alert))) }
                    case .event(let event): continuation.yield(element(place, event))
                    case .ended(let failure):
                        // The task that has cancelled the sequence sees its end, whichever thread is first.
                        continuation.finish(throwing: failure == .cancelled ? nil : failure)
                        return false
                    }
                    return true
                }
            }
        }
    }
}
