/// Events that wait to be taken, within a bound for those that may be lost.
///
/// Discoveries are dropped, and counted, when more wait than the bound; everything else is always kept (pain 14).
struct EventQueue {
    private var events = Queue<HostEvent>()
    private let discoveryLimit: Int
    private var discoveries = 0
    private(set) var droppedDiscoveries: UInt64 = 0

    init(discoveryLimit: Int = 4096) { self.discoveryLimit = discoveryLimit }

    var isEmpty: Bool { events.isEmpty }

    mutating func append(_ event: HostEvent) {
        if case .discovered = event {
            guard discoveries < discoveryLimit else {
                droppedDiscoveries &+= 1
                return
            }
            discoveries += 1
        }
        events.append(event)
    }

    mutating func popFirst() -> HostEvent? {
        guard let event = events.popFirst() else { return nil }
        if case .discovered = event { discoveries -= 1 }
        return event
    }
}
