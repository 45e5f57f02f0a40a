import BLEStateFiles
import Dispatch

/// What the worker does with the disk.
extension Delivery {
    private static let retryPause = DispatchTimeInterval.seconds(5)

    func openStore(_ own: inout Worker) {
        guard own.store == nil, let path, !state.withLock({ $0.retryIsScheduled }) else { return }
        do {
            if let folder { _ = try SafeFolder(path: folder, isMade: true) }
            let (known, positions, settings) = state.withLock { state in
                state.hasNewSettings = false
                return (own.window + state.onTheWay.messages + state.refusedAgain, state.acknowledged, state.settings)
            }
            let end = (positions + known.compactMap(\.id) + [own.windowEnd]).max() ?? 0
            let store = try MessageStore(
                path: path, settings: settings, isDamaged: own.isDamaged, known: known, end: end)
            own.isDamaged = false
            own.store = store
            if let rescue = store.rescue {
                logger.error("\(rescue.text)")
                // Everything has the position that it had.
                (own.window, own.windowEnd) = ([], 0)
            }
            own.hasMore = store.count > 0
            if store.count > 0 { logger.info("\(store.count) messages wait in \(path)") }
            storeWorks(store)
        } catch {
            storeFailed(error, &own)
        }
    }

    /// Gives new limits to the store.
    func obeySettings(_ own: inout Worker) {
        guard let store = own.store else { return }
        let settings = state.withLock { state -> QueueSettings? in
            guard state.hasNewSettings, !state.retryIsScheduled else { return nil }
            state.hasNewSettings = false
            return state.settings
        }
        guard let settings else { return }
        do {
            let dropped = try store.use(settings)
            state.withLock { state in
                state.counters.dropped += UInt64(dropped)
                state.depth = store.count
            }
            guard dropped > 0 else { return }
            (own.window, own.windowEnd, own.hasMore) = ([], 0, true)
        } catch {
            state.withLock { $0.hasNewSettings = true }
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

    func storeFailed(_ error: any Error, _ own: inout Worker) {
        if MessageStore.needsOpening(error) {
            own.store?.close()
            own.store = nil
        }
        if MessageStore.isDamage(error) { own.isDamaged = true }
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

    /// How many messages are written in one transaction: a full disk has room for so many, or for none.
    private static let commitLimit = 256

    /// Writes new messages, and removes acknowledged ones.
    /// - Returns: whether there are more to write.
    func commit(_ own: inout Worker) -> Bool {
        guard let store = own.store else {
            if path == nil { state.withLock { $0.acknowledged.removeAll() } }
            return false
        }
        let taken = state.withLock { state -> (incoming: [QueuedMessage], acknowledged: [Int64])? in
            // More acknowledgements will follow: collect them for one transaction.
            let isEarly = state.acknowledged.count < 32 && !state.onTheWay.isEmpty
            guard !state.retryIsScheduled, !state.incoming.isEmpty || !(state.acknowledged.isEmpty || isEarly) else {
                return nil
            }
            defer { state.acknowledged = [] }
            let incoming = state.incoming.take(Self.commitLimit)
            state.beingWritten = incoming.count
            return (incoming, state.acknowledged)
        }
        guard let (incoming, acknowledged) = taken else { return false }
        do {
            let outcome = try store.commit(adding: incoming, removing: acknowledged)
            let hasMore = state.withLock { state in
                state.beingWritten = 0
                state.counters.dropped += UInt64(outcome.dropped)
                return !state.incoming.isEmpty
            }
            storeWorks(store)
            if outcome.dropped > 0 {
                own.window = []
                own.windowEnd = 0
                own.hasMore = true
            } else if !own.hasMore, own.window.count < Self.windowLimit {
                own.window += outcome.messages
                if let last = outcome.messages.last?.id { own.windowEnd = last }
            } else if !incoming.isEmpty {
                own.hasMore = true
            }
            return hasMore
        } catch {
            state.withLock { state in
                state.beingWritten = 0
                state.incoming.putBack(incoming)
                state.acknowledged.insert(contentsOf: acknowledged, at: 0)
            }
            storeFailed(error, &own)
            return false
        }
    }
}
