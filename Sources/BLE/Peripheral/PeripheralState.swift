import BLEHost
import BLEPackets

/// The adapter's state of a link.
struct PeripheralState {
    var information: LinkInformation
    /// Streams of values by the handle of the characteristic's value.
    private var subscribers: [AttributeHandle: [(token: UInt64, source: Notifications.Source)]] = [:]
    private var reporters: [(token: UInt64, source: BoundedStream<LinkReport>.Source)] = []
    private var endWaiters: [(token: UInt64, continuation: CheckedContinuation<DisconnectionReason?, Never>)] = []

    init(information: LinkInformation) { self.information = information }

    /// - Parameter now: the time, asked for only if a subscriber waits.
    mutating func handle(_ event: GATTClientEvent, at now: () -> Instant) {
        switch event {
        case .notification(let notification):
            guard let subscribers = subscribers[notification.handle], !subscribers.isEmpty else { break }
            let value = Notifications.Value(
                bytes: notification.value, isIndication: notification.isIndication, time: now())
            for subscriber in subscribers { subscriber.source.yield(value) }
        case .subscriptionsForgotten(let handles):
            for handle in handles {
                for subscriber in subscribers.removeValue(forKey: handle) ?? [] { subscriber.source.finishVoid() }
            }
        case .mtuChanged(let mtu):
            information.attMTU = Int(mtu)
        case .completed, .writeCommandsFull, .writeCommandsReady:
            break
        }
    }

    mutating func add(_ source: Notifications.Source, token: UInt64, handle: AttributeHandle) {
        subscribers[handle, default: []].append((token, source))
    }

    /// - Returns: whether the stream existed.
    mutating func remove(token: UInt64, handle: AttributeHandle) -> Bool {
        guard let index = subscribers[handle]?.firstIndex(where: { $0.token == token }) else { return false }
        subscribers[handle]?.remove(at: index)
        return true
    }

    mutating func add(_ source: BoundedStream<LinkReport>.Source, token: UInt64) { reporters.append((token, source)) }

    mutating func removeReporter(token: UInt64) { reporters.removeAll { $0.token == token } }

    func handle(_ report: LinkReport) {
        let frame = 64
        for reporter in reporters { reporter.source.yield(report, octets: frame) }
    }

    mutating func waitForEnd(_ continuation: CheckedContinuation<DisconnectionReason?, Never>, token: UInt64) {
        endWaiters.append((token, continuation))
    }

    /// A task no longer waits for the end of the link.
    mutating func stopWaiting(token: UInt64) {
        guard let index = endWaiters.firstIndex(where: { $0.token == token }) else { return }
        endWaiters.remove(at: index).continuation.resume(returning: nil)
    }

    func end(_ reason: DisconnectionReason) {
        for (_, list) in subscribers {
            for subscriber in list { subscriber.source.finish(reason) }
        }
        let error = reason == .releasedByClient ? nil : BLEError.linkLost(reason)
        for reporter in reporters { reporter.source.finish(throwing: error) }
        for waiter in endWaiters { waiter.continuation.resume(returning: reason) }
    }
}
