import BLEHost
import BLEPackets
import Synchronization

/// Waiting events of the peripheral role, in their order.
///
/// Peers send as fast as the link allows, whether or not the app consumes the events. Events that an app needs are
/// kept: requests up to a limit, beyond which they are refused; connections and disconnections of centrals, unless a
/// central disconnected before the app saw it. If too many other events wait, the oldest are dropped.
final class ServerEventBuffer: Sendable {
    private struct Waiting {
        var kept = Lane()
        var droppable = Lane()
        var last: UInt64 = 0
    }

    private let waiting = Mutex(Waiting())
    private let capacity: Int
    private let octetLimit: Int

    /// - Parameters:
    ///   - capacity: the number of droppable events that can wait; a quarter of it for requests and links.
    ///   - octetLimit: of the values in them; a quarter of it for values in requests.
    init(capacity: Int, octetLimit: Int = 1 << 20) {
        self.capacity = capacity
        self.octetLimit = octetLimit
    }

    /// - Returns: whether there was room, and how many events were dropped to make it.
    func append(_ event: ServerEvent) -> (isTaken: Bool, lost: Int) {
        waiting.withLock { waiting in
            let octets = event.octets
            if event.question != nil {
                guard waiting.kept.count < capacity / 4, waiting.kept.octets + octets <= octetLimit / 4 else {
                    return (false, 1)
                }
            }
            waiting.last += 1
            var lost = 0
            guard event.mayBeDropped else {
                if waiting.kept.count >= capacity / 4 { lost = waiting.kept.forgetCentralsThatWent() }
                waiting.kept.append(event, octets, number: waiting.last)
                return (true, lost)
            }
            waiting.droppable.append(event, octets, number: waiting.last)
            while waiting.droppable.count > capacity || waiting.droppable.octets > octetLimit {
                _ = waiting.droppable.popFirst()
                lost += 1
            }
            return (true, lost)
        }
    }

    /// Removes and returns the oldest event.
    func popFirst() -> ServerEvent? {
        waiting.withLock { waiting in
            let isKeptFirst = waiting.kept.firstNumber < waiting.droppable.firstNumber
            return isKeptFirst ? waiting.kept.popFirst() : waiting.droppable.popFirst()
        }
    }

    /// Events of one kind, with the octets of their values.
    private struct Lane {
        private var events = Queue<(number: UInt64, event: ServerEvent, octets: Int)>()
        private(set) var octets = 0

        var count: Int { events.count }

        /// The number of the oldest event among all events; the highest possible number if none waits.
        var firstNumber: UInt64 { events.first?.number ?? .max }

        mutating func append(_ event: ServerEvent, _ octets: Int, number: UInt64) {
            events.append((number, event, octets))
            self.octets += octets
        }

        mutating func popFirst() -> ServerEvent? {
            guard let (_, event, count) = events.popFirst() else { return nil }
            octets -= count
            return event
        }

        /// Removes links whose start and end both wait, with all requests on them.
        /// - Returns: the number of removed events.
        mutating func forgetCentralsThatWent() -> Int {
            var begun: Set<LinkID> = []
            var ended: Set<LinkID> = []
            for (_, event, _) in events {
                switch event {
                case .connected(let link): begun.insert(link.id)
                case .disconnected(let link, _): if begun.contains(link) { ended.insert(link) }
                default: break
                }
            }
            let before = count
            events.retain { entry in entry.event.link.map { !ended.contains($0) } ?? true }
            octets = events.reduce(0) { $0 + $1.octets }
            return before - count
        }
    }
}

extension ServerEvent {
    /// Whether no peer waits for the app's reaction to the event.
    fileprivate var mayBeDropped: Bool {
        switch self {
        case .connected, .disconnected: false
        case .gatt(.read), .gatt(.requestExpired), .gatt(.readyToUpdate): false
        case .gatt(.write(let request)): !request.needsAnswer
        case .gatt(.subscribed), .gatt(.unsubscribed), .gatt(.stored), .gatt(.confirmed), .gatt(.fellBehind): true
        case .advertisingStarted, .advertisingStopped, .advertisingRoom, .mtuChanged, .pairing, .securityChanged,
            .bondNotKept:
            true
        }
    }

    /// The request that a central waits for.
    var question: GATTRequestID? {
        switch self {
        case .gatt(.read(let request)): request.id
        case .gatt(.write(let request)) where request.needsAnswer: request.id
        default: nil
        }
    }

    /// The link of an event that is kept.
    fileprivate var link: LinkID? {
        switch self {
        case .connected(let information): information.id
        case .disconnected(let link, _), .gatt(.requestExpired(_, let link)): link
        case .gatt(.read(let request)): request.link
        case .gatt(.write(let request)): request.link
        default: nil
        }
    }

    /// Roughly the memory that the event takes, in octets.
    fileprivate var octets: Int {
        let frame = 128
        return switch self {
        case .gatt(.write(let request)): request.writes.reduce(frame) { $0 + 48 + $1.value.count }
        case .gatt(.stored(_, let write)): frame + write.value.count
        default: frame
        }
    }
}
