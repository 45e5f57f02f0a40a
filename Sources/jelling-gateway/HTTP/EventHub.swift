import BLEGateway
import Synchronization

/// The events of the gateway, from all threads, for those who watch.
final class EventHub: Sendable {
    private let log: Mutex<EventLog>
    private let wake = Mutex<(@Sendable () -> Void)?>(nil)

    init() {
        // The clock may have been set back: a number of this run alone is what distinguishes it.
        log = Mutex(EventLog(run: String(UInt64.random(in: 0...0xFFFF_FFFF), radix: 36)))
    }

    /// Calls this when there are new events.
    func onEvents(_ wake: @escaping @Sendable () -> Void) { self.wake.withLock { $0 = wake } }

    func post(_ events: [GatewayEvent]) {
        guard !events.isEmpty else { return }
        log.withLock { log in for event in events { log.append(event) } }
        wake.withLock { $0 }?()
    }

    func reader(_ filter: EventFilter, usesWebSocket: Bool, lastEventID: String?) -> EventReader {
        log.withLock { EventReader(filter, usesWebSocket: usesWebSocket, lastEventID: lastEventID, $0) }
    }

    /// The octets that come next; empty: there are none now; `nil`: the reader is too slow.
    func next(_ reader: inout EventReader) -> [UInt8]? {
        log.withLock { log in reader.isBehind(log) ? reader.next(log) : [] }
    }
}
