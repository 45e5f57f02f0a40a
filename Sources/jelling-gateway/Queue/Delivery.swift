import BLEGateway
import Dispatch
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
/// Messages with quality of service 0 are sent if the broker is connected, and otherwise dropped.
final class Delivery: MQTTClient.Delegate {
    /// Counters since the start.
    struct Counters {
        var enqueued: UInt64 = 0
        var sent: UInt64 = 0
        var acknowledged: UInt64 = 0
        var refused: UInt64 = 0
        /// Messages dropped because the queue was full.
        var dropped: UInt64 = 0
        /// Messages with quality of service 0 dropped while the broker was away.
        var unsent: UInt64 = 0
        var storeFailures: UInt64 = 0
        var disconnections: UInt64 = 0
    }

    private struct State {
        var incoming = WaitingMessages()
        var acknowledged: [Int64] = []
        /// Messages in flight, by libmosquitto's identifiers.
        var onTheWay: [Int32: SentMessage] = [:]
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
        /// Problems with messages that have been told.
        var toldProblems: Set<String> = []
    }

    private let state = Mutex(State())
    private let worker = DispatchQueue(label: "delivery")
    private let logger: Logger
    private let settings: QueueSettings
    private let path: String?
    /// Called for every message of the subscribed topics.
    private let onMessage: @Sendable (String, [UInt8]) -> Void

    /// The maximum number of messages that are read from disk at once.
    private static let windowLimit = 512
    private static let retryPause = DispatchTimeInterval.seconds(5)

    /// State that only the worker uses; nothing ever waits for its lock.
    private struct Worker {
        var store: MessageStore?
        var window: [QueuedMessage] = []
        /// The queue position of the last message in the window.
        var windowEnd: Int64 = 0
        /// The queue position of the last message that was sent.
        var lastSent: Int64 = 0
        /// Whether the disk has messages after the window.
        var hasMore = false
        /// Whether the file on disk has to be replaced.
        var isDamaged = false
    }

    private let own = Mutex(Worker())

    /// - Parameter path: the file of the queue; `nil`: in memory.
    init(
        settings: QueueSettings, path: String?, logger: Logger,
        onMessage: @escaping @Sendable (String, [UInt8]) -> Void
    ) {
        self.settings = settings
        self.path = path
        self.logger = logger
        self.onMessage = onMessage
        schedule()
    }

    // MARK: From all threads

    var counters: Counters { state.withLock { $0.counters } }
    /// The number of messages on disk.
    var depth: Int { state.withLock { $0.depth } }
    /// The number of messages in memory that are not on disk yet.
    var unwritten: Int { state.withLock { $0.incoming.count + $0.beingWritten } }
    var onTheWay: Int { state.withLock { $0.onTheWay.count } }
    var isConnected: Bool { state.withLock { $0.isConnected } }
    /// Why the disk cannot be written; `nil` if it can.
    var storeProblem: String? { state.withLock { $0.storeProblem } }
    /// Why the broker is away; `nil` while it is connected.
    var brokerProblem: String? { state.withLock { $0.isConnected ? nil : $0.lastBrokerProblem } }
    var connections: Int { state.withLock { $0.client }?.connections ?? 0 }

    /// Adds messages to the queue, in order.
    func enqueue(_ messages: [QueuedMessage]) {
        guard !messages.isEmpty else { return }
        state.withLock { state in
            state.counters.enqueued += UInt64(messages.count)
            state.counters.dropped += UInt64(state.incoming.add(messages))
        }
        schedule()
    }

    /// Switches to another session; `nil`: none. Messages in flight are sent again.
    func use(_ client: MQTTClient?, after delay: DispatchTimeInterval = .seconds(0)) {
        let old = state.withLock { state in
            defer {
                state.client = client
                state.isConnected = false
                state.onTheWay.removeAll()
                state.startsAgain = true
            }
            return state.client
        }
        old?.stop()
        client?.start(after: delay)
        schedule()
    }

    /// Writes waiting messages to disk and ends the session.
    func finish() {
        let client = state.withLock { $0.client }
        // Everything received so far is committed and, if the broker is connected, sent.
        worker.sync { work() }
        let end = DispatchTime.now() + 2
        while client?.isConnected == true, onTheWay > 0 || !state.withLock({ $0.incoming.isEmpty }),
            DispatchTime.now() < end
        {
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

    /// Whether the worker responds within this time, in seconds.
    func answers(within seconds: Double) -> Bool {
        let done = DispatchSemaphore(value: 0)
        worker.async { done.signal() }
        return done.wait(timeout: .now() + seconds) == .success
    }

    // MARK: From the client's thread

    func connected(_ client: MQTTClient) {
        let isOurs = state.withLock { state in
            guard state.client === client else { return false }
            state.isConnected = true
            state.lastBrokerProblem = nil
            if state.suspicion.suspects == 0 {
                // The broker may have been configured since.
                state.suspicion.refusedCount = .max
                state.suspicion.refusedTopics = []
                state.suspicion.longestTaken = 0
            }
            return true
        }
        guard isOurs else { return }
        logger.info("connected to the broker \(client.settings.host):\(client.settings.port)")
        schedule()
    }

    func disconnected(_ client: MQTTClient, _ reason: String, wasShort: Bool) {
        let (isNews, isSuspicious) = state.withLock { state in
            guard state.client === client else { return (false, false) }
            if state.isConnected { state.counters.disconnections += 1 }
            let isNews = state.isConnected || state.lastBrokerProblem != reason
            let isOneAtATime = state.suspicion.suspects > 0
            let hasSent = !state.onTheWay.isEmpty
            if wasShort, hasSent, state.isConnected || !isOneAtATime { state.suspicion.sessions += 1 }
            state.isConnected = false
            state.lastBrokerProblem = reason
            return (isNews, hasSent && (isOneAtATime || state.suspicion.sessions >= Suspicion.limit))
        }
        if isSuspicious { worker.async { self.sendOneAtATime() } }
        if isNews {
            logger.warning("no session with \(client.settings.host):\(client.settings.port): \(reason); trying again")
        }
    }

    func acknowledged(_ client: MQTTClient, _ message: Int32, problem: String?) {
        let isFirstProblem = state.withLock { state in
            guard state.client === client, let sent = state.onTheWay.removeValue(forKey: message) else { return false }
            if sent.id > 0 { state.acknowledged.append(sent.id) }
            state.suspicion.longestTaken = max(state.suspicion.longestTaken, sent.count)
            state.suspicion.sessions = 0
            state.suspicion.current = nil
            state.suspicion.suspects = max(0, state.suspicion.suspects - 1)
            guard problem != nil else {
                state.counters.acknowledged += 1
                return false
            }
            state.counters.refused += 1
            return state.counters.refused == 1
        }
        if let problem, isFirstProblem {
            logger.error("the broker refuses messages: \(problem); check what this user may publish")
        }
        schedule()
    }

    func received(topic: String, payload: [UInt8]) { onMessage(topic, payload) }

    // MARK: The worker

    /// Starts a session in which one message at a time is on the way, and drops the one at which such sessions end.
    private func sendOneAtATime() {
        let (client, culprit) = state.withLock { state -> (MQTTClient?, QueuedMessage?) in
            let isFirst = state.suspicion.suspects == 0
            let culprit = state.suspicion.sessions >= Suspicion.limit ? state.suspicion.current : nil
            if isFirst { state.suspicion.suspects = state.onTheWay.count }
            if isFirst || culprit != nil { state.suspicion.sessions = 0 }
            state.suspicion.current = nil
            if let id = culprit?.id { state.acknowledged.append(id) }
            if let culprit {
                state.counters.refused += 1
                state.suspicion.refuse(culprit)
            }
            return (state.client, culprit)
        }
        if let culprit {
            logger.error(
                """
                the broker ends the session when it receives a message of \(culprit.payload.count) octets for \
                \(culprit.topic); the message was dropped, and others like it are until the next session; check the \
                limits and permissions of the broker
                """)
        }
        guard let next = try? client?.renewed() else { return }
        use(next, after: .seconds(1))
    }

    private func schedule() {
        let isFirst = state.withLock { state in
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isFirst { worker.async { self.work() } }
    }

    private func work() { own.withLock { work(&$0) } }

    private func work(_ own: inout Worker) {
        state.withLock { $0.isScheduled = false }
        openStore(&own)
        if state.withLock({ state in
            defer { state.startsAgain = false }
            return state.startsAgain
        }) {
            own.window = []
            own.windowEnd = 0
            own.lastSent = 0
            own.hasMore = own.store != nil
        }
        commit(&own)
        send(&own)
    }

    private func openStore(_ own: inout Worker) {
        guard own.store == nil, let path, !state.withLock({ $0.retryIsScheduled }) else { return }
        do {
            let store = try MessageStore(
                path: path, settings: settings, isDamaged: own.isDamaged)
            own.isDamaged = false
            own.store = store
            if let file = store.damagedFile {
                logger.error("the queue was damaged and is now \(file); the messages in it were not sent")
            }
            own.hasMore = store.count > 0
            if store.count > 0 { logger.info("\(store.count) messages wait in \(path)") }
            storeWorks(store)
        } catch {
            storeFailed(error, &own)
        }
    }

    private func storeWorks(_ store: MessageStore) {
        let hadProblem = state.withLock { state in
            defer { state.storeProblem = nil }
            state.depth = store.count
            return state.storeProblem != nil
        }
        if hadProblem { logger.info("the queue can be written again") }
    }

    private func storeFailed(_ error: any Error, _ own: inout Worker) {
        if MessageStore.needsOpening(error) {
            own.store?.close()
            own.store = nil
        }
        if !own.isDamaged, MessageStore.isDamage(error) {
            own.isDamaged = true
            // The positions are those of the old file; what was read of it can still be sent.
            let window = own.window
            own.window = []
            (own.windowEnd, own.lastSent, own.hasMore) = (0, 0, false)
            state.withLock { state in
                state.acknowledged = []
                for number in state.onTheWay.keys { state.onTheWay[number]?.id = 0 }
                let rescued = window.map { message in
                    var message = message
                    message.id = nil
                    return message
                }
                state.incoming.putBack(rescued)
            }
        }
        let text = "\(error)"
        let (isNews, schedules) = state.withLock { state in
            defer {
                state.storeProblem = text
                state.retryIsScheduled = true
            }
            state.counters.storeFailures += 1
            return (state.storeProblem != text, !state.retryIsScheduled)
        }
        if isNews {
            logger.error("cannot use the queue: \(text); messages wait in memory; trying again every 5 s")
        }
        guard schedules else { return }
        worker.asyncAfter(deadline: .now() + Self.retryPause) {
            self.state.withLock { $0.retryIsScheduled = false }
            self.work()
        }
    }

    /// Writes new messages, and removes acknowledged ones.
    private func commit(_ own: inout Worker) {
        guard let store = own.store else {
            if path == nil { state.withLock { $0.acknowledged.removeAll() } }
            return
        }
        let taken = state.withLock { state -> (incoming: [QueuedMessage], acknowledged: [Int64])? in
            // More acknowledgements will follow: collect them for one transaction.
            let isEarly = state.acknowledged.count < 32 && !state.onTheWay.isEmpty
            guard !state.retryIsScheduled, !state.incoming.isEmpty || !(state.acknowledged.isEmpty || isEarly) else {
                return nil
            }
            defer { state.acknowledged = [] }
            state.beingWritten = state.incoming.count
            return (state.incoming.take(), state.acknowledged)
        }
        guard let (incoming, acknowledged) = taken else { return }
        let durable = incoming.filter { $0.qualityOfService > 0 }
        do {
            let outcome = try store.commit(adding: durable, removing: acknowledged)
            state.withLock { state in
                state.beingWritten = 0
                state.counters.dropped += UInt64(outcome.dropped)
            }
            storeWorks(store)
            if outcome.dropped > 0 {
                own.window = []
                own.windowEnd = own.lastSent
                own.hasMore = true
            } else if !own.hasMore, own.window.count < Self.windowLimit {
                own.window += outcome.messages
                if let last = outcome.messages.last?.id { own.windowEnd = last }
            } else if !durable.isEmpty {
                own.hasMore = true
            }
            sendUnqueued(incoming.filter { $0.qualityOfService == 0 })
        } catch {
            state.withLock { state in
                state.beingWritten = 0
                state.incoming.putBack(incoming)
                state.acknowledged.insert(contentsOf: acknowledged, at: 0)
            }
            storeFailed(error, &own)
        }
    }

    private func sendUnqueued(_ messages: [QueuedMessage]) {
        for message in messages {
            guard transmit(message) else {
                state.withLock { $0.counters.unsent += 1 }
                continue
            }
        }
    }

    private func send(_ own: inout Worker) {
        while let room = room(), room > 0 {
            if own.window.isEmpty, own.hasMore, let store = own.store {
                let next: [QueuedMessage]
                do { next = try store.messages(after: own.windowEnd, limit: Self.windowLimit) } catch {
                    storeFailed(error, &own)
                    return sendFromMemory(room)
                }
                own.window = next
                own.windowEnd = next.last?.id ?? own.windowEnd
                own.hasMore = next.count == Self.windowLimit
            }
            guard !own.window.isEmpty else {
                return sendFromMemory(room)
            }
            var sent = 0
            for message in own.window.prefix(room) {
                guard transmit(message) else { break }
                own.lastSent = message.id ?? own.lastSent
                sent += 1
            }
            own.window.removeFirst(sent)
            if sent == 0 { return }
        }
    }

    /// Sends from memory: while the disk cannot be written, or if there is no queue on disk.
    private func sendFromMemory(_ room: Int) {
        guard path == nil || state.withLock({ $0.retryIsScheduled }) else { return }
        let messages = state.withLock { $0.incoming.take(room) }
        for (index, message) in messages.enumerated() where !transmit(message) {
            state.withLock { $0.incoming.putBack(messages[index...]) }
            return
        }
    }

    /// How many messages may be sent now; `nil` while there is no session.
    private func room() -> Int? {
        state.withLock { state in
            guard state.isConnected, let client = state.client else { return nil }
            if state.suspicion.suspects > 0 { return state.onTheWay.isEmpty ? 1 : 0 }
            return client.settings.inFlightLimit - state.onTheWay.count
        }
    }

    private func transmit(_ message: QueuedMessage) -> Bool {
        let problem = state.withLock { state -> MQTTProblem?? in
            guard state.isConnected, let client = state.client else { return .some(nil) }
            if state.suspicion.refuses(message) {
                if let id = message.id { state.acknowledged.append(id) }
                state.counters.refused += 1
                return nil
            }
            do throws(MQTTProblem) {
                // The lock delays the acknowledgement until the message is registered.
                let number = try client.publish(
                    topic: message.topic, payload: message.payload, qualityOfService: message.qualityOfService,
                    isRetained: message.isRetained)
                guard let number else { return .some(nil) }
                state.counters.sent += 1
                if message.qualityOfService > 0 {
                    state.onTheWay[number] = SentMessage(id: message.id ?? 0, count: message.payload.count)
                    if state.suspicion.suspects > 0 { state.suspicion.current = message }
                }
                return nil
            } catch {
                if let id = message.id { state.acknowledged.append(id) }
                state.counters.refused += 1
                return error
            }
        }
        switch problem {
        case .none: return true
        case .some(.none): return false
        case .some(.some(let problem)):
            // The message would always fail, and must not block those after it.
            if state.withLock({ $0.toldProblems.count < 100 && $0.toldProblems.insert("\(problem)").inserted }) {
                logger.error("\(problem); the message was dropped; the next ones with this problem are only counted")
            }
            return true
        }
    }
}

private func usleepShortly() {
    // Only at the end of the program.
    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(20))
}
