import BLEHost
import BLEPackets

/// The adapter's state of a link.
struct PeripheralState {
    var information: LinkInformation
    /// The streams of a characteristic's values.
    private struct Subscription {
        var members: [(token: UInt64, source: Notifications.Source)] = []
        /// Whether a value has come since the loop last handled something else: those that follow wait for each other,
        /// because each one that wakes its reader costs more than all else about it.
        var isBursting = false
        var burst: [Notifications.Value] = []

        /// - Returns: whether values that follow wait for each other from now on.
        mutating func receive(_ value: Notifications.Value) -> Bool {
            guard isBursting else {
                isBursting = true
                for member in members { member.source.yield(value) }
                return true
            }
            burst.append(value)
            if burst.count >= PeripheralState.burstLimit { pass() }
            return false
        }

        mutating func pass() {
            guard !burst.isEmpty else { return }
            for member in members { member.source.yield(burst) }
            burst.removeAll(keepingCapacity: burst.count <= PeripheralState.burstLimit)
        }
    }

    /// So many values wait for each other at most.
    private static let burstLimit = 512

    /// By the handle of the characteristic's value.
    private var subscriptions: [AttributeHandle: Subscription] = [:]
    private var reporters: [(token: UInt64, source: BoundedStream<LinkReport>.Source)] = []
    private var endWaiters: [(token: UInt64, continuation: CheckedContinuation<DisconnectionReason?, Never>)] = []

    init(information: LinkInformation) { self.information = information }

    /// - Parameter now: the time, asked for only if a subscriber waits.
    /// - Returns: the characteristic whose values wait for each other from now on, until `endBurst(of:)`; `nil` for none.
    mutating func handle(_ event: GATTClientEvent, at now: () -> Instant) -> AttributeHandle? {
        switch event {
        case .notification(let notification):
            let handle = notification.handle
            guard let place = subscriptions.index(forKey: handle) else { break }
            let value = Notifications.Value(
                bytes: notification.value, isIndication: notification.isIndication, time: now())
            return subscriptions.values[place].receive(value) ? handle : nil
        case .subscriptionsForgotten(let handles):
            for handle in handles {
                guard var subscription = subscriptions.removeValue(forKey: handle) else { continue }
                subscription.pass()
                for member in subscription.members { member.source.finishVoid() }
            }
        case .mtuChanged(let mtu):
            information.attMTU = Int(mtu)
        case .completed, .writeCommandsFull, .writeCommandsReady:
            break
        }
        return nil
    }

    /// Passes on the values of a characteristic that waited for each other.
    mutating func endBurst(of handle: AttributeHandle) {
        guard let place = subscriptions.index(forKey: handle) else { return }
        subscriptions.values[place].pass()
        subscriptions.values[place].isBursting = false
    }

    mutating func add(_ source: Notifications.Source, token: UInt64, handle: AttributeHandle) {
        // It gets what comes from now on.
        subscriptions[handle]?.pass()
        subscriptions[handle, default: Subscription()].members.append((token, source))
    }

    /// - Returns: whether the stream existed.
    mutating func remove(token: UInt64, handle: AttributeHandle) -> Bool {
        guard let index = subscriptions[handle]?.members.firstIndex(where: { $0.token == token }) else { return false }
        subscriptions[handle]?.members.remove(at: index)
        if subscriptions[handle]?.members.isEmpty == true { subscriptions[handle] = nil }
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

    mutating func end(_ reason: DisconnectionReason) {
        for place in subscriptions.indices {
            subscriptions.values[place].pass()
            for member in subscriptions.values[place].members { member.source.finish(reason) }
        }
        let error = reason == .releasedByClient ? nil : BLEError.linkLost(reason)
        for reporter in reporters { reporter.source.finish(throwing: error) }
        for waiter in endWaiters { waiter.continuation.resume(returning: reason) }
    }
}
