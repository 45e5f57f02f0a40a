import BLE
import BLEGateway
import Dispatch

/// What the worker does with the broker.
extension Delivery {
    func send(_ own: inout Worker) {
        putBackRefused(&own)
        while let room = room(), room > 0 {
            if own.window.isEmpty { readWindow(&own) }
            // What is in memory is newer than what a damaged file still has.
            if own.window.isEmpty ? !own.isDamaged && sendFromMemory(room) : sendFromWindow(room, &own) { continue }
            // All of these have to wait; others may not.
            guard !own.window.isEmpty, own.window.count < Self.longestWindow, readWindow(&own) else { break }
        }
        if own.window.isEmpty, !own.hasMore { sendStatements() }
        sendUnqueued()
        scheduleRefused()
    }

    /// Adds messages from disk to the window.
    /// - Returns: whether there were any.
    @discardableResult private func readWindow(_ own: inout Worker) -> Bool {
        while own.hasMore, let store = own.store {
            do {
                let messages = try store.messages(after: own.windowEnd, limit: Self.windowLimit)
                own.windowEnd = messages.last?.id ?? own.windowEnd
                own.hasMore = messages.count == Self.windowLimit
                let known = state.withLock { Set($0.onTheWay.identifiers + $0.acknowledged) }
                let new = messages.filter { message in message.id.map { !known.contains($0) } ?? true }
                own.window += new
                if !new.isEmpty { return true }
            } catch {
                storeFailed(error, &own)
                return false
            }
        }
        return false
    }

    /// Puts messages back that the broker refused for the moment, each before the later ones of its topic.
    private func putBackRefused(_ own: inout Worker) {
        let refused = state.withLock { state in
            defer { state.refusedAgain = [] }
            state.incoming.putBack(state.refusedAgain.filter { $0.id == nil })
            return state.refusedAgain
        }
        for message in refused {
            // What comes after the window is read from disk.
            guard let id = message.id, id <= own.windowEnd else { continue }
            let index = own.window.firstIndex { ($0.id ?? 0) >= id } ?? own.window.endIndex
            if index < own.window.endIndex, own.window[index].id == id { continue }
            own.window.insert(message, at: index)
        }
    }

    /// - Returns: whether there may be more to send.
    private func sendFromWindow(_ room: Int, _ own: inout Worker) -> Bool {
        let indexes = state.withLock { $0.next(of: own.window, room: room) }
        var sent: Set<Int> = []
        for index in indexes {
            guard transmit(own.window[index]) else { break }
            sent.insert(index)
        }
        guard !sent.isEmpty else { return false }
        if sent.count == (indexes.last ?? 0) + 1 {
            own.window.removeFirst(sent.count)
        } else {
            own.window = own.window.indices.filter { !sent.contains($0) }.map { own.window[$0] }
        }
        return sent.count == indexes.count
    }

    /// Sends from memory: while the disk cannot be written, or if there is no queue on disk.
    /// - Returns: whether there may be more to send.
    private func sendFromMemory(_ room: Int) -> Bool {
        guard path == nil || state.withLock({ $0.retryIsScheduled }) else { return false }
        let (messages, first) = state.withLock { state -> ([QueuedMessage], Int) in
            let indexes = state.next(of: state.incoming.messages, room: room)
            return (state.incoming.take(at: indexes), indexes.first ?? 0)
        }
        for (position, message) in messages.enumerated() where !transmit(message) {
            // Those before the first are of other topics.
            state.withLock { $0.incoming.putBack(messages[position...], at: first) }
            return false
        }
        return !messages.isEmpty
    }

    /// Sends what makes true what is retained; only when everything before it was sent.
    private func sendStatements() {
        while let room = room(), room > 0 {
            guard let source = state.withLock({ $0.incoming.isEmpty ? $0.retained : nil }) else { return }
            let now = Self.now
            func statements(includesAside: Bool) -> [QueuedMessage] {
                source.statements(limit: min(room, Self.windowLimit)) { topic in
                    state.withLock { state in
                        !state.onTheWay.contains(topic: topic) && !state.refusedTopics.waits(topic, at: now)
                            && (includesAside || !state.suspicion.isAside(topic))
                    }
                }
            }
            var found = statements(includesAside: false)
            if found.isEmpty { found = statements(includesAside: true) }
            guard !found.isEmpty else { return }
            for statement in found where !transmit(statement) { source.settled(statement, .postponed) }
        }
    }

    /// Sends messages with quality of service 0. libmosquitto keeps them until the broker reads, so only a few at a
    /// time.
    private func sendUnqueued() {
        let (messages, isNews) = state.withLock { state -> ([QueuedMessage], Bool) in
            let isNews = state.loss == .unreported
            if isNews { state.loss = .reported }
            guard let client = state.client else { return ([], isNews) }
            return (state.unqueued.take(max(0, client.settings.inFlightLimit - state.unwritten.count)), isNews)
        }
        if isNews {
            logger.warning(
                "the broker does not read fast enough: messages with quality of service 0 are dropped, the oldest first"
            )
        }
        for message in messages where !transmit(message) { state.withLock { $0.counters.unsent += 1 } }
    }

    /// Looks again when the next refused topic is due.
    private func scheduleRefused() {
        let now = Self.now
        let due = state.withLock { state -> Instant? in
            state.refusedTopics.forgetOld(at: now)
            guard let due = state.refusedTopics.nextDue(after: now) else { return nil }
            if let known = state.refusalDue, known > now, known <= due { return nil }
            state.refusalDue = due
            return due
        }
        guard let due else { return }
        worker.asyncAfter(deadline: .now() + .microseconds(Int(now.distance(to: due).rawValue) + 1000)) { self.work() }
    }

    /// How many messages may be sent now; `nil` while there is no session.
    private func room() -> Int? {
        state.withLock { state in
            guard state.isConnected, let client = state.client else { return nil }
            if state.suspicion.isOneAtATime { return state.onTheWay.isEmpty ? 1 : 0 }
            return client.inFlightLimit - state.onTheWay.count
        }
    }

    private func transmit(_ message: QueuedMessage) -> Bool {
        var isRefused = false
        let problem = state.withLock { state -> MQTTProblem?? in
            guard state.isConnected, let client = state.client else { return .some(nil) }
            if state.suspicion.refuses(message) {
                if let id = message.id { state.acknowledged.append(id) }
                state.counters.refused += 1
                isRefused = true
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
                    state.onTheWay.add(message, number: number)
                    state.suspicion.sent(message)
                } else {
                    state.unwritten[number] = message
                }
                return nil
            } catch {
                if let id = message.id { state.acknowledged.append(id) }
                state.counters.refused += 1
                isRefused = true
                return error
            }
        }
        if isRefused, message.isRetained { state.withLock { $0.retained }?.settled(message, .refused) }
        switch problem {
        case .none: return true
        case .some(.none): return false
        case .some(.some(let problem)):
            // The message would always fail, and must not block those after it.
            if state.withLock({ $0.reportedProblems.count < 100 && $0.reportedProblems.insert("\(problem)").inserted })
            {
                logger.error(
                    """
                    message of \(message.payload.count) octets for \(message.topic): \(problem); it was dropped; the next \
                    ones with this problem are only counted
                    """)
            }
            return true
        }
    }
}

extension Delivery.State {
    /// The indexes of the messages to send next, in ascending order; the order of each topic is kept.
    fileprivate mutating func next(of messages: [QueuedMessage], room: Int) -> [Int] {
        guard let client, !messages.isEmpty else { return [] }
        // With MQTT 3.1.1 a broker cannot refuse a message.
        if client.settings.version == .v311, !suspicion.isOneAtATime { return Array(0..<min(room, messages.count)) }
        let now = Delivery.now
        var seen: Set<String> = []
        var indexes: [Int] = []
        // A message that is refused is sent again: until then no later one for its topic may be accepted.
        for (index, message) in messages.prefix(Delivery.longestWindow).enumerated()
        where seen.insert(message.topic).inserted {
            if refusedTopics.waits(message.topic, at: now) || onTheWay.contains(topic: message.topic) { continue }
            indexes.append(index)
            if indexes.count == room, !suspicion.isOneAtATime { break }
        }
        guard suspicion.isOneAtATime else { return indexes }
        return suspicion.next(of: indexes.map { messages[$0] }).map { [indexes[$0]] } ?? []
    }
}
