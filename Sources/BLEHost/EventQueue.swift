import BLEPackets

/// The events of the engine, in order.
///
/// The owner of the engine may be slow: a bond must reach the disk before the events that follow it. Meanwhile no event
/// that a peer or the controller can cause without limit may accumulate. Under load, discoveries and values that peers
/// send unasked may be dropped, and are counted. All other events are bounded by what the protocol allows on each link,
/// and are never dropped (DESIGN section 1).
struct EventQueue {
    private enum Kind { case lasting, bond, discovery, value, emptySlot }

    private var events = Queue<HostEvent>()
    private let discoveryLimit: Int
    private let valueLimit: Int
    private let octetLimit: Int
    private let emptySlotLimit: Int
    private var discoveries = 0
    private var values = 0
    private var octets = 0
    private var emptySlots = 0
    /// Changes of bonds that wait in the queue.
    private(set) var changedBonds = 0
    private(set) var droppedDiscoveries: UInt64 = 0
    /// How many values that peers sent unasked, response slots without any, and malformed packets were dropped.
    private(set) var droppedValues: UInt64 = 0

    /// - Parameters:
    ///   - valueLimit: the maximum number of notifications, write commands, values that the server stores, and malformed
    ///     packets together. Response slots in which nothing was received have separate room, a quarter of it, so
    ///     that a train with many slots and few devices keeps no value out.
    ///   - octetLimit: the maximum number of octets in their values.
    init(discoveryLimit: Int = 4096, valueLimit: Int = 4096, octetLimit: Int = 1 << 20) {
        self.discoveryLimit = discoveryLimit
        self.valueLimit = valueLimit
        self.octetLimit = octetLimit
        emptySlotLimit = valueLimit / 4
    }

    var isEmpty: Bool { events.isEmpty }
    var count: Int { events.count }

    mutating func append(_ event: HostEvent) {
        switch Self.kind(of: event) {
        case (.lasting, _): break
        case (.bond, _): changedBonds += 1
        case (.discovery, _):
            guard discoveries < discoveryLimit else {
                droppedDiscoveries &+= 1
                return
            }
            discoveries += 1
        case (.value, let count):
            guard values < valueLimit, octets + count <= octetLimit else {
                droppedValues &+= 1
                return
            }
            values += 1
            octets += count
        case (.emptySlot, _):
            guard emptySlots < emptySlotLimit else {
                droppedValues &+= 1
                return
            }
            emptySlots += 1
        }
        events.append(event)
    }

    mutating func popFirst() -> HostEvent? {
        if events.isEmpty { return nil }
        let event = events.popFirst()
        if events.isEmpty {
            // Nothing is left to count, which spares a look at the event.
            (changedBonds, discoveries, values, octets, emptySlots) = (0, 0, 0, 0, 0)
        } else if let event {
            uncount(event)
        }
        return event
    }

    private mutating func uncount(_ event: HostEvent) {
        switch Self.kind(of: event) {
        case (.lasting, _): break
        case (.bond, _): changedBonds -= 1
        case (.discovery, _): discoveries -= 1
        case (.value, let count):
            values -= 1
            octets -= count
        case (.emptySlot, _): emptySlots -= 1
        }
    }

    /// How an event is treated while the owner is slow, and the octets of its value.
    @inline(__always)
    private static func kind(of event: HostEvent) -> (Kind, octets: Int) {
        switch event {
        case .discovered: (.discovery, 0)
        case .bondChanged: (.bond, 0)
        // Indications too: nothing forces a peer to wait for the confirmation.
        case .gatt(_, .notification(let notification)): (.value, notification.value.count)
        case .server(.write(let request)) where !request.needsAnswer:
            (.value, request.writes.first?.value.count ?? 0)
        case .server(.stored(_, let write)): (.value, write.value.count)
        case .train(_, _, .report(let report)): (.value, report.data.count)
        case .advertisingSet(_, _, .response(let response)) where response.data == nil: (.emptySlot, 0)
        case .advertisingSet(_, _, .response(let response)): (.value, response.data?.count ?? 0)
        case .malformedPacket, .linkReport, .advertisingSet(_, _, .dataRequested): (.value, 0)
        default: (.lasting, 0)
        }
    }
}

extension Effects {
    /// Ends an operation, once.
    mutating func complete(_ operation: OperationID, _ result: Result<HostResult, HostFailure>) {
        events.append(.completed(operation, result))
    }
}
