/// What the worker does with the broker.
extension Delivery {
    func send(_ own: inout Worker) {
        while let room = room(), room > 0 {
            fillWindow(&own)
            guard own.window.isEmpty ? sendFromMemory(room) : sendFromWindow(room, &own) else { break }
        }
        sendUnqueued()
    }

    private func fillWindow(_ own: inout Worker) {
        guard own.window.isEmpty, own.hasMore, let store = own.store else { return }
        do {
            own.window = try store.messages(after: own.windowEnd, limit: Self.windowLimit)
            own.windowEnd = own.window.last?.id ?? own.windowEnd
            own.hasMore = own.window.count == Self.windowLimit
        } catch {
            storeFailed(error, &own)
        }
    }

    /// - Returns: whether there may be more to send.
    private func sendFromWindow(_ room: Int, _ own: inout Worker) -> Bool {
        if state.withLock({ $0.suspicion.isOneAtATime }) {
            guard let index = state.withLock({ $0.suspicion.next(of: own.window) }), transmit(own.window[index]) else {
                return false
            }
            // Those before it are still to be sent.
            if index == 0 { own.lastSent = own.window[0].id ?? own.lastSent }
            own.window.remove(at: index)
            return true
        }
        var sent = 0
        for message in own.window.prefix(room) {
            guard transmit(message) else { break }
            own.lastSent = message.id ?? own.lastSent
            sent += 1
        }
        own.window.removeFirst(sent)
        return sent > 0
    }

    /// Sends from memory: while the disk cannot be written, or if there is no queue on disk.
    /// - Returns: whether there may be more to send.
    private func sendFromMemory(_ room: Int) -> Bool {
        guard path == nil || state.withLock({ $0.retryIsScheduled }) else { return false }
        let (messages, index) = state.withLock { state -> ([QueuedMessage], Int) in
            guard state.suspicion.isOneAtATime else { return (state.incoming.take(room), 0) }
            guard let index = state.suspicion.next(of: state.incoming.messages) else { return ([], 0) }
            return ([state.incoming.take(at: index)], index)
        }
        for (position, message) in messages.enumerated() where !transmit(message) {
            state.withLock { $0.incoming.putBack(messages[position...], at: index) }
            return false
        }
        return !messages.isEmpty
    }

    /// Sends messages with quality of service 0. libmosquitto keeps them until the broker reads, so only a few at a
    /// time.
    private func sendUnqueued() {
        let (messages, isNews) = state.withLock { state -> ([QueuedMessage], Bool) in
            let isNews = state.loss == .untold
            if isNews { state.loss = .told }
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

    /// How many messages may be sent now; `nil` while there is no session.
    private func room() -> Int? {
        state.withLock { state in
            guard state.isConnected, let client = state.client else { return nil }
            if state.suspicion.isOneAtATime { return state.onTheWay.isEmpty ? 1 : 0 }
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
                    state.onTheWay[number] = SentMessage(message: message, order: state.order)
                    state.order += 1
                    state.suspicion.sent(message)
                } else {
                    state.unwritten.insert(number)
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
