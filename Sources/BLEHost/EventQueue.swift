import BLEPackets

/// What the engine has to tell, in order.
///
/// The owner of the engine may be slow: a bond that has to reach the disk first holds back what follows it. Nothing that
/// a peer or the controller can cause without end may pile up meanwhile. Discoveries and values that
/// peers send unasked may be dropped under load, and are counted; the rest is bounded by what the protocol allows each link,
/// and never dropped (DESIGN section 1).
struct EventQueue {
    private enum Kind { case lasting, bond, discovery, value }

    private var events = Queue<HostEvent>()
    private let discoveryLimit: Int
    private let valueLimit: Int
    private let octetLimit: Int
    private var discoveries = 0
    private var values = 0
    private var octets = 0
    /// Changes of bonds that wait.
    private(set) var changedBonds = 0
    private(set) var droppedDiscoveries: UInt64 = 0
    /// Values that peers sent unasked, and malformed packets.
    private(set) var droppedValues: UInt64 = 0

    /// - Parameters:
    ///   - valueLimit: of notifications, write commands, values that the server keeps, and malformed packets together.
    ///   - octetLimit: of the values in them.
    init(discoveryLimit: Int = 4096, valueLimit: Int = 4096, octetLimit: Int = 1 << 20) {
        self.discoveryLimit = discoveryLimit
        self.valueLimit = valueLimit
        self.octetLimit = octetLimit
    }

    var isEmpty: Bool { events.isEmpty }

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
        }
        events.append(event)
    }

    mutating func popFirst() -> HostEvent? {
        guard let event = events.popFirst() else { return nil }
        switch Self.kind(of: event) {
        case (.lasting, _): break
        case (.bond, _): changedBonds -= 1
        case (.discovery, _): discoveries -= 1
        case (.value, let count):
            values -= 1
            octets -= count
        }
        return event
    }

    /// What becomes of an event while the owner is slow, and the octets of its value.
    @inline(__always)
    private static func kind(of event: HostEvent) -> (Kind, octets: Int) {
        switch event {
        case .discovered: (.discovery, 0)
        case .bondChanged: (.bond, 0)
        // Indications too: nothing forces a peer to wait for their confirmation.
        case .gatt(_, .notification(let notification)): (.value, notification.value.count)
        case .server(.write(let request)) where !request.needsAnswer:
            (.value, request.writes.first?.value.count ?? 0)
        case .server(.stored(_, let write)): (.value, write.value.count)
        case .malformedPacket: (.value, 0)
        case .ready, .recovering, .failed, .reopenTransport, .stopped, .advertisingChanged, .completed, .connected,
            .disconnected, .gatt, .centralConnected, .centralDisconnected, .server, .pairing, .encryptionChanged,
            .cleartextRefused, .bondRemoved, .channel, .connectionParametersChanged, .phyChanged, .dataLengthChanged,
            .identityFound, .ambiguousIdentity:
            (.lasting, 0)
        }
    }
}
