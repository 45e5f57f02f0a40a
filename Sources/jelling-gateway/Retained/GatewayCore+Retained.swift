import BLE
import BLEGateway

extension GatewayCore: RetainedSource {
    private static var unix: Int64 { Int64(EventLoop.unixMicroseconds) }

    /// Lets a delivery state what has to be retained.
    /// - Parameters:
    ///   - record: what an earlier run stated.
    ///   - keepsOnDisk: whether changes are taken for the disk.
    ///   - quality: the quality of service of documents.
    func begin(
        with record: RetainedRecord, keepsOnDisk: Bool, delivery: Delivery, quality: @escaping @Sendable () -> Int
    ) {
        state.withLock { state in
            state.wake = { [weak delivery] in delivery?.schedule() }
            state.quality = quality
        }
        change { gateway in
            gateway.collectsRetainedChanges(keepsOnDisk)
            gateway.restore(record, at: Self.now, unix: Self.unix)
        }
        delivery.obey(self)
    }

    func sessionBegan() { change { $0.sessionBegan(at: Self.now) } }

    func statements(limit: Int, mayBeSent: (String) -> Bool) -> [QueuedMessage] {
        state.withLock { state in
            state.gateway.nextStatements(limit: limit, mayBeSent: mayBeSent).map { message in
                var queued = QueuedMessage(message, qualityOfService: state.quality())
                queued.isStatement = true
                return queued
            }
        }
    }

    func settled(_ message: QueuedMessage, _ outcome: RetainedOutcome) {
        state.withLock { $0.gateway.settled(topic: message.topic, payload: message.payload, outcome) }
    }

    /// The number of topics for which the broker retains something, and of those whose message it has to remove.
    var retainedCounts: (all: Int, withdrawn: Int) {
        state.withLock { ($0.gateway.retainedCount, $0.gateway.withdrawnCount) }
    }

    func drainRetainedChanges() -> RetainedRecord { state.withLock { $0.gateway.drainRetainedChanges() } }

    /// Everything, for a new file: changes are collected from here on.
    func drainRetainedRecord() -> RetainedRecord {
        state.withLock { state in
            state.gateway.collectsRetainedChanges(true)
            _ = state.gateway.drainRetainedChanges()
            return state.gateway.retainedRecord
        }
    }

    /// Changes are no longer collected, because they cannot be written.
    func dropRetainedChanges() { state.withLock { $0.gateway.collectsRetainedChanges(false) } }
}

extension QueuedMessage {
    /// - Parameter qualityOfService: that of documents; everything else has 1.
    init(_ message: GatewayMessage, qualityOfService: Int) {
        self.init(
            topic: message.topic, payload: message.payload,
            qualityOfService: message.kind == .document ? qualityOfService : 1, isRetained: message.isRetained)
    }
}
