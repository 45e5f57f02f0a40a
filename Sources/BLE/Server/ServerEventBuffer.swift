import BLEHost
import Synchronization

/// The events of the peripheral role that wait to be taken, in their order.
///
/// Peers send as fast as the link allows, whether the app takes the events or not. Those that an app cannot do without,
/// and of which peers can cause only so many, are kept. Of the others the oldest are dropped once too many wait.
final class ServerEventBuffer: Sendable {
    private struct Waiting {
        var kept = Lane()
        var droppable = Lane()
        var last: UInt64 = 0
    }

    private let waiting = Mutex(Waiting())
    private let capacity: Int

    /// - Parameter capacity: how many of those that may be dropped wait at most.
    init(capacity: Int) { self.capacity = capacity }

    /// - Returns: whether an older event was dropped for this one.
    func append(_ event: ServerEvent) -> Bool {
        waiting.withLock { waiting in
            waiting.last += 1
            guard event.mayBeDropped else {
                waiting.kept.append(event, number: waiting.last)
                return false
            }
            waiting.droppable.append(event, number: waiting.last)
            guard waiting.droppable.count > capacity else { return false }
            _ = waiting.droppable.popFirst()
            return true
        }
    }

    /// Takes the oldest.
    func popFirst() -> ServerEvent? {
        waiting.withLock { waiting in
            let isKeptFirst = waiting.kept.firstNumber < waiting.droppable.firstNumber
            return isKeptFirst ? waiting.kept.popFirst() : waiting.droppable.popFirst()
        }
    }

    /// First in, first out, without moving the events at each step.
    private struct Lane {
        private var events: [(number: UInt64, event: ServerEvent?)] = []
        private var head = 0

        var count: Int { events.count - head }

        /// The oldest one's number among all events; the highest there is, while none waits.
        var firstNumber: UInt64 { head < events.count ? events[head].number : .max }

        mutating func append(_ event: ServerEvent, number: UInt64) { events.append((number, event)) }

        mutating func popFirst() -> ServerEvent? {
            guard head < events.count else { return nil }
            let event = events[head].event
            events[head].event = nil
            head += 1
            if head == events.count {
                events.removeAll(keepingCapacity: true)
                head = 0
            } else if head >= 64, head * 2 >= events.count {
                events.removeSubrange(..<head)
                head = 0
            }
            return event
        }
    }
}

extension ServerEvent {
    /// Whether nobody waits for what the app does about the event.
    fileprivate var mayBeDropped: Bool {
        switch self {
        case .connected, .disconnected: false
        case .gatt(.read), .gatt(.requestExpired), .gatt(.readyToUpdate): false
        case .gatt(.write(let request)): !request.needsAnswer
        case .gatt(.subscribed), .gatt(.unsubscribed), .gatt(.stored), .gatt(.confirmed): true
        case .advertisingStarted, .advertisingStopped, .mtuChanged, .pairing, .securityChanged, .bondNotKept: true
        }
    }
}
