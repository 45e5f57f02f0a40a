import BLE
import BLEGateway
import Dispatch

/// What happens on the client's thread.
extension Delivery: MQTTClient.Delegate {
    static var now: Instant { Instant(microseconds: Int64(EventLoop.nowMicroseconds)) }

    func connected(_ client: MQTTClient) {
        let limits = client.limits
        let settings = client.settings
        let notices = limits.notices(
            qualityOfService: settings.qualityOfService, keepAlive: settings.keepAlive,
            inFlight: settings.inFlightLimit)
        let (isOurs, newNotices, retained) = state.withLock { state -> (Bool, [String], (any RetainedSource)?) in
            guard state.client === client else { return (false, [], nil) }
            state.isConnected = true
            state.lastBrokerProblem = nil
            state.loss = .none
            state.refusedTopics.sessionBegan()
            if !state.suspicion.isOneAtATime { state.suspicion.forgetRefusals() }
            defer { state.limitNotices = notices }
            return (true, notices.filter { !state.limitNotices.contains($0) }, state.retained)
        }
        guard isOurs else { return }
        logger.info("connected to the broker \(client.settings.host):\(client.settings.port)")
        for notice in newNotices { logger.warning("\(notice)") }
        retained?.sessionBegan()
        schedule()
    }

    func disconnected(_ client: MQTTClient, _ ending: SessionEnding) {
        let onTheWay = onTheWay
        if let reason = ending.reason { client.learn(from: reason, onTheWay: onTheWay) }
        let (isNews, consequence) = state.withLock { state -> (Bool, Suspicion.Consequence) in
            guard state.client === client else { return (false, .none) }
            if state.isConnected { state.counters.disconnections += 1 }
            let isNews = state.isConnected || state.lastBrokerProblem != ending.text
            let consequence = state.suspicion.sessionEnded(
                withOnTheWay: state.onTheWay.count, isShort: ending.wasShort, isConnected: state.isConnected,
                blamesMessage: ending.reason?.verdict == .messageIsAtFault)
            state.isConnected = false
            state.lastBrokerProblem = ending.text
            state.dropUnqueued()
            return (isNews, consequence)
        }
        if isNews {
            logger.warning(
                "no session with \(client.settings.host):\(client.settings.port): \(ending.text); trying again")
        }
        apply(consequence, client)
        if case .atFault(let message) = consequence, message.isRetained {
            state.withLock { $0.retained }?.settled(message, .refused)
        }
        // The library keeps the limits of a session for the next ones, and forgets what was sent without an
        // acknowledgement.
        if consequence != .none || client.limits != SessionLimits() { worker.async { self.renew(client) } }
    }

    private func apply(_ consequence: Suspicion.Consequence, _ client: MQTTClient) {
        switch consequence {
        case .none, .oneAtATime: break
        case .atFault(let message):
            logger.error(
                """
                the broker ends the session when it receives a message of \(message.payload.count) octets for \
                \(message.topic); the message was dropped, and others like it are until the next session; check the \
                limits and permissions of the broker
                """)
        case .broken:
            let hint = client.settings.version == .v5 ? "" : "; with ‘mqtt.version’ \"5\" it can tell why"
            logger.error(
                """
                the broker ends every session without acknowledging a message; nothing is dropped for that; check the \
                broker's log, and what this user may publish\(hint)
                """)
        }
    }

    /// Switches to another client of the same session: libmosquitto would send what is on the way at once and together.
    private func renew(_ client: MQTTClient) {
        guard state.withLock({ $0.client === client }), let next = try? client.renewed() else { return }
        use(next)
    }

    func acknowledged(_ client: MQTTClient, _ number: Int32, _ reason: BrokerReason) {
        var answer = Answer()
        state.withLock { state in
            guard state.client === client else { return }
            answer.retained = state.retained
            if let written = state.unwritten.removeValue(forKey: number) {
                // That is all there is to know.
                answer.message = written
                return
            }
            answer.isStatus = true
            guard let message = state.onTheWay.remove(number: number) else { return }
            answer = Answer(message: message, retained: state.retained)
            answer.showsWork = state.suspicion.acknowledged(message)
            answer.isFirstRefusal = reason.verdict != .accepted && state.reports(reason)
            state.count(message, reason, &answer)
        }
        if answer.showsWork { client.works() }
        if reason.hasNoSubscribers, let message = answer.message { onUnwanted(message.topic) }
        if let message = answer.message, message.isRetained { answer.retained?.settled(message, answer.outcome) }
        if answer.isStatus { return statusWasRefused(client, reason) }
        if answer.isFirstRefusal, let message = answer.message { reportRefusal(of: message, reason, answer) }
        schedule()
    }

    /// What an acknowledgement means.
    struct Answer {
        var message: QueuedMessage?
        var retained: (any RetainedSource)?
        var isStatus = false
        var outcome = RetainedOutcome.accepted
        var showsWork = false
        var isFirstRefusal = false
    }

    private func reportRefusal(of message: QueuedMessage, _ reason: BrokerReason, _ answer: Answer) {
        let consequence =
            answer.outcome == .postponed
            ? "it waits and is sent again, with a growing pause; so do others"
            : "it was dropped, and so are others that it refuses like that"
        logger.error(
            "the broker refuses a message for \(message.topic): \(reason); \(consequence), which are only counted")
    }

    private func statusWasRefused(_ client: MQTTClient, _ reason: BrokerReason) {
        guard reason.verdict != .accepted else { return }
        logger.error("the broker refuses the gateway's status: \(reason)")
        guard case .messageIsKept = reason.verdict else { return }
        worker.asyncAfter(deadline: .now() + .seconds(10)) { client.publishStatusAgain() }
    }

    func notSubscribed(_ client: MQTTClient, _ reason: BrokerReason) {
        logger.warning(
            """
            the broker does not let the gateway subscribe to the start of Home Assistant: \(reason); announcements are \
            not repeated then
            """)
    }

    func received(topic: String, payload: [UInt8]) { onMessage(topic, payload) }
}

extension Delivery.State {
    /// Whether a refusal is news: some brokers end the session with each.
    fileprivate mutating func reports(_ reason: BrokerReason) -> Bool {
        let now = Delivery.now
        if let last = reportedReasons[reason.code], now < last.advanced(by: .seconds(600)) { return false }
        reportedReasons[reason.code] = now
        return true
    }

    /// Counts an acknowledgement, and keeps or drops the message.
    fileprivate mutating func count(
        _ message: QueuedMessage, _ reason: BrokerReason, _ answer: inout Delivery.Answer
    ) {
        switch reason.verdict {
        case .messageIsKept(let attempts):
            lastRefusal = reason.description
            let outcome = refusedTopics.refused(message.topic, attempts: attempts, at: Delivery.now)
            if outcome == .kept {
                counters.postponed += 1
                answer.outcome = .postponed
                // Another statement is made.
                if !message.isStatement { refusedAgain.append(message) }
                return
            }
            answer.outcome = .refused
            counters.refused += 1
        case .accepted:
            refusedTopics.accepted(message.topic)
            counters.acknowledged += 1
        default:
            refusedTopics.accepted(message.topic)
            answer.outcome = .refused
            counters.refused += 1
        }
        if let id = message.id { acknowledged.append(id) }
    }
}
