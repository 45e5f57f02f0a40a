import BLEAppLifecycle

/// The events of one turn of the loop that wait for each other on their way to the managers. Used on the loop only.
///
///     idle ──first event: handed over at once──▶ begun ──events: they wait──▶ handed over together, again and again
///      ▲                                                                        │ the turn ends
///      └────────────────────────────────────────────────────────────────────────┘
///
/// Each manager receives its events in their order. Each manager delivers on a queue of its own, so that between
/// managers there is no order.
final class TurnOfEvents: @unchecked Sendable {
    // @unchecked Sendable is safe because only the loop's thread uses it.

    /// So many events wait for each other at most: the delegate's queue works on the first part while the next one comes.
    static let partLimit = 64
    /// The arrays of so many managers are used again.
    private static let managersAtOnce = 4

    private struct Part {
        let manager: ManagerID
        var events: [ClientEvent] = []
    }

    private var hasBegun = false
    /// One for each manager that has had events.
    private var parts: [Part] = []

    /// - Returns: how many events wait for the manager with this one; `nil` if it does not wait, as it is the first of the
    ///   turn.
    func add(_ event: ClientEvent, for manager: ManagerID) -> Int? {
        guard hasBegun else {
            hasBegun = true
            return nil
        }
        if let place = parts.firstIndex(where: { $0.manager == manager }) {
            parts[place].events.append(event)
            return parts[place].events.count
        }
        parts.append(Part(manager: manager, events: [event]))
        return 1
    }

    /// Takes what waits for each manager.
    func takeParts(_ body: ([ClientEvent], ManagerID) -> Void) {
        for place in parts.indices where !parts[place].events.isEmpty {
            body(parts[place].events, parts[place].manager)
            parts[place].events.removeAll(keepingCapacity: true)
        }
    }

    /// The next event does not wait.
    func end() {
        hasBegun = false
        // Managers may be gone.
        if parts.count > Self.managersAtOnce { parts = [] }
    }
}
