import BLE
import BLEGateway
import Dispatch
import Glibc
import Logging
import Synchronization

/// Delivers the gateway's messages to the broker, through the queue on disk.
///
///     enqueued ──commit──▶ on disk ──window──▶ on the way ──acknowledged──▶ removed
///
/// A message is committed before it is sent; while one transaction is being written, messages collect for the next. A
/// message is removed after the broker has acknowledged it. So if the process ends or the broker is lost, messages may
/// be repeated but not lost. While the disk cannot be written, messages wait in memory, bounded, and are sent from
/// there.
///
/// Messages with quality of service 0 are dropped while there is no session. In a session, a few wait in memory if the
/// broker does not read, and the oldest of them are dropped.
final class Delivery: Sendable {
    /// Counters since the start.
    struct Counters {
        var enqueued: UInt64 = 0
        var sent: UInt64 = 0
        var acknowledged: UInt64 = 0
        /// Messages that the broker refused for good, and that were dropped.
        var refused: UInt64 = 0
        /// Refusals for the moment: the message was kept.
        var postponed: UInt64 = 0
        /// Messages dropped because the queue was full.
        var dropped: UInt64 = 0
        /// Messages with quality of service 0 dropped because the broker was away or did not read.
        var unsent: UInt64 = 0
        var storeFailures: UInt64 = 0
        var disconnections: UInt64 = 0
    }

    /// State that all threads use.
    struct State {
        var incoming = WaitingMessages(countLimit: 20_000, sizeLimit: 64 << 20)
        var acknowledged: [Int64] = []
        var onTheWay = MessagesOnTheWay()
        /// Messages that the broker refused for the moment, and that the worker has not put back yet.
        var refusedAgain: [QueuedMessage] = []
        var refusedTopics = RefusedTopics()
        /// Why the broker refused the last message.
        var lastRefusal = ""
        /// When the worker was last asked to look at them again.
        var refusalDue: Instant?
        /// Messages with quality of service 0 that wait until the broker reads.
        var unqueued = WaitingMessages(countLimit: 1000, sizeLimit: 4 << 20)
        /// Messages with quality of service 0 that libmosquitto has not written yet, by its identifiers.
        var unwritten: [Int32: QueuedMessage] = [:]
        /// Whether messages were dropped because the broker does not read: to be reported, or reported in this session.
        var loss = Loss.none
        var client: MQTTClient?
        var isConnected = false
        var isScheduled = false
        /// Whether messages in flight must be sent again, by another client.
        var startsAgain = false
        var counters = Counters()
        var depth = 0
        var beingWritten = 0
        var storeProblem: String?
        var lastBrokerProblem: String?
        var retryIsScheduled = false
        var suspicion = Suspicion()
        /// Problems with messages that have been reported.
        var reportedProblems: Set<String> = []
        /// When reasons of refusals were reported.
        var reportedReasons: [UInt8: Instant] = [:]
        /// What the broker does not allow, as reported.
        var limitNotices: [String] = []
        weak var retained: (any RetainedSource)?
        var settings: QueueSettings
        /// Whether the worker has to tell the store.
        var hasNewSettings = false
    }

    enum Loss { case none, unreported, reported }

    let state: Mutex<State>
    let worker = DispatchQueue(label: "delivery")
    let logger: Logger
    let path: String?
    /// The folder that only this user may change, if the queue is in it.
    let folder: String?
    /// Called for every message of the subscribed topics.
    let onMessage: @Sendable (String, [UInt8]) -> Void
    /// Called with the topic of a message that nobody subscribes to, as brokers of MQTT 5 say.
    let onUnwanted: @Sendable (String) -> Void

    /// The maximum number of messages that are read from disk at once.
    static let windowLimit = 512
    /// So many are read if those before them have to wait, because the broker refused others for their topics.
    static let longestWindow = 8192

    /// State that only the worker uses; nothing ever waits for its lock.
    struct Worker {
        var store: MessageStore?
        var window: [QueuedMessage] = []
        /// The queue position of the last message in the window.
        var windowEnd: Int64 = 0
        /// Whether the disk has messages after the window.
        var hasMore = false
        /// Whether the file on disk has to be replaced.
        var isDamaged = false
    }

    private let own = Mutex(Worker())

    /// - Parameters:
    ///   - path: the file of the queue; `nil`: in memory.
    ///   - folder: the state folder, if the file is in it: it is made, and must be this user's.
    init(
        settings: QueueSettings, path: String?, folder: String?, logger: Logger,
        onMessage: @escaping @Sendable (String, [UInt8]) -> Void,
        onUnwanted: @escaping @Sendable (String) -> Void
    ) {
        state = Mutex(State(settings: settings))
        self.path = path
        self.folder = folder
        self.logger = logger
        self.onMessage = onMessage
        self.onUnwanted = onUnwanted
        schedule()
    }

    // MARK: From all threads

    var counters: Counters { state.withLock { $0.counters } }
    /// The number of messages on disk.
    var depth: Int { state.withLock { $0.depth } }
    /// The number of messages in memory that are not on disk yet.
    var unwritten: Int { state.withLock { $0.incoming.count + $0.beingWritten } }
    var onTheWay: Int { state.withLock { $0.onTheWay.count } }
    /// The number of messages with quality of service 0 that wait until the broker reads.
    var unqueued: Double { state.withLock { Double($0.unqueued.count + $0.unwritten.count) } }
    var isConnected: Bool { state.withLock { $0.isConnected } }
    /// Why the disk cannot be written; `nil` if it can.
    var storeProblem: String? { state.withLock { $0.storeProblem } }
    /// The number of topics for which the broker refused a message for the moment.
    var refusedTopics: Int { state.withLock { $0.refusedTopics.count } }
    /// Why messages wait for which the broker was connected; `nil`: none do.
    var refusal: String? { state.withLock { $0.refusedTopics.isEmpty ? nil : $0.lastRefusal } }
    /// What the broker does not allow, one sentence each.
    var limitNotices: [String] { state.withLock { $0.isConnected ? $0.limitNotices : [] } }
    /// Why the broker is away; `nil` while it is connected.
    var brokerProblem: String? { state.withLock { $0.isConnected ? nil : $0.lastBrokerProblem } }
    var connections: Int { state.withLock { $0.client }?.connections ?? 0 }

    /// Adds messages to the queue, in order.
    func enqueue(_ messages: [QueuedMessage]) {
        guard !messages.isEmpty else { return }
        let durable = messages.filter { $0.qualityOfService > 0 }
        let unqueued = messages.filter { $0.qualityOfService == 0 }
        state.withLock { state in
            state.counters.enqueued += UInt64(messages.count)
            state.counters.dropped += UInt64(state.incoming.add(durable))
            guard state.isConnected else {
                state.counters.unsent += UInt64(unqueued.count)
                return
            }
            let excess = state.unqueued.add(unqueued)
            state.counters.unsent += UInt64(excess)
            if excess > 0, state.loss == .none { state.loss = .unreported }
        }
        schedule()
    }

    /// Changes the limits of the queue on disk.
    func use(_ settings: QueueSettings) {
        state.withLock { state in
            state.settings = settings
            state.hasNewSettings = true
        }
        schedule()
    }

    /// Asks for what has to be retained, from now on.
    func obey(_ source: any RetainedSource) { state.withLock { $0.retained = source } }

    /// Switches to another session; `nil`: none. Messages in flight are sent again.
    func use(_ client: MQTTClient?) {
        let old = state.withLock { state in
            let old = state.client
            state.client = client
            state.isConnected = false
            // The others are read from disk again.
            let refused = state.refusedAgain.filter { $0.id == nil }
            state.incoming.putBack((refused + state.onTheWay.removeAll()).filter { !$0.isStatement })
            state.refusedAgain = []
            state.dropUnqueued()
            state.startsAgain = true
            return old
        }
        old?.stop()
        client?.start()
        schedule()
    }

    /// Writes waiting messages to disk and ends the session.
    func finish() {
        let client = state.withLock { $0.client }
        // Everything received so far is committed and, if the broker is connected, sent.
        worker.sync { work() }
        let end = DispatchTime.now() + 2
        while client?.isConnected == true, state.withLock({ $0.hasUnsent }), DispatchTime.now() < end {
            worker.sync { work() }
            usleepShortly()
        }
        use(nil)
        worker.sync {
            work()
            own.withLock { own in
                own.store?.close()
                own.store = nil
            }
        }
    }

    /// Whether the worker responds within this time.
    func answers(within time: Duration) async -> Bool {
        final class Answer: Sendable {
            let isThere = Mutex(false)
        }
        let answer = Answer()
        worker.async { answer.isThere.withLock { $0 = true } }
        let end = ContinuousClock.now + time
        repeat {
            try? await Task.sleep(for: .milliseconds(20))
            if answer.isThere.withLock({ $0 }) { return true }
        } while ContinuousClock.now < end && !Task.isCancelled
        return false
    }

    // MARK: The worker

    func schedule() {
        let isFirst = state.withLock { state in
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { worker.async { self.work() } }
    }

    func work() { own.withLock { work(&$0) } }

    private func work(_ own: inout Worker) {
        state.withLock { $0.isScheduled = false }
        openStore(&own)
        obeySettings(&own)
        if state.withLock({ state in
            defer { state.startsAgain = false }
            return state.startsAgain
        }) {
            own.window = []
            own.windowEnd = 0
            own.hasMore = own.store != nil
        }
        while commit(&own) {}
        send(&own)
        // Nothing follows the messages that were dropped.
        if state.withLock({ $0.onTheWay.isEmpty && !$0.acknowledged.isEmpty }) { _ = commit(&own) }
    }
}

extension Delivery.State {
    var hasUnsent: Bool {
        !(onTheWay.isEmpty && incoming.isEmpty && unqueued.isEmpty && unwritten.isEmpty)
    }

    /// Drops the messages with quality of service 0 that the broker did not read in the session.
    mutating func dropUnqueued() {
        counters.unsent += UInt64(unqueued.take().count + unwritten.count)
        unwritten = [:]
    }
}

private func usleepShortly() {
    // Only at the end of the program.
    usleep(20_000)
}
