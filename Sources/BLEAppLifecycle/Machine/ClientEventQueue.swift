/// The events that wait for one manager while its app does not run: in order, bounded, and without repetitions (SPEC
/// 5.5 rule 2, FGO-5).
///
/// It keeps the latest discovery of each peripheral, the latest state with what lower ones lost before, and every
/// value. When it is full, it drops the oldest discoveries first, then the oldest values, then the oldest events that
/// the app can request again, then pairs of events that cancel each other, and last the ends of the app's own requests,
/// which are few unless it makes more and more of them and handles none. It never drops a disconnection that is not
/// followed by another one of the same peripheral.
struct ClientEventQueue {
    struct Entry {
        var event: ClientEvent
        /// Orders the events of all managers of an app.
        var sequence: UInt64
        var octets: Int
        /// Whether it ends a request of the app.
        var endsRequest = false
    }

    /// What an event takes in a queue beside its octets: its place among as many again that are free, and what the
    /// allocator adds.
    private static let placeOctets = 2 * MemoryLayout<Entry?>.stride + 32

    private let eventLimit: Int
    private let octetLimit: Int
    /// Entries; `nil` for dropped events.
    private var entries: [Entry?] = []
    private var head = 0
    private(set) var count = 0
    private(set) var octets = 0
    private(set) var lost = 0
    /// Only for lookup, never iterated.
    private var discoveries: [PeerIdentifier: Int] = [:]

    init(eventLimit: Int, octetLimit: Int) {
        self.eventLimit = max(1, eventLimit)
        self.octetLimit = max(1, octetLimit)
    }

    var isEmpty: Bool { count == 0 && lost == 0 }

    /// The sequence number of the next event.
    var nextSequence: UInt64? {
        if lost > 0 { return 0 }
        return entries[head...].first { $0 != nil }??.sequence
    }

    /// - Parameter endsRequest: whether a value in the event ends a request of the app; other events say so themselves.
    mutating func append(_ event: ClientEvent, sequence: UInt64, endsRequest: Bool = false) {
        switch event {
        case .discovered(let peripheral, _, _):
            if let place = discoveries[peripheral.identifier] { remove(at: place) }
            discoveries[peripheral.identifier] = entries.count
        case .stateChanged:
            passState(before: event)
        case .readyToUpdateSubscribers:
            // One such event is enough for an app to try again.
            if contains(where: { $0 == .readyToUpdateSubscribers }) { return }
        default: break
        }
        let entry = Entry(
            event: event, sequence: sequence, octets: event.approximateOctets + Self.placeOctets,
            endsRequest: event.endsRequest || endsRequest && event.isValue)
        entries.append(entry)
        count += 1
        octets += entry.octets
        if entries.count > 2 * count + 64 { compact() }
        while count > eventLimit || octets > octetLimit, count > 1 {
            if !dropOne() { break }
        }
    }

    /// The waiting state is dropped. If it was lower than the next one, the losses that it caused are kept.
    private mutating func passState(before next: ClientEvent) {
        guard case .stateChanged(let next, _) = next,
            let index = entries.indices.last(where: {
                if case .stateChanged? = entries[$0]?.event { true } else { false }
            }), case .stateChanged(let state, _)? = entries[index]?.event
        else { return }
        // The unknown state causes no losses.
        guard state < next, state != .unknown else { return remove(at: index) }
        for earlier in entries.indices {
            if case .statePassed(let other)? = entries[earlier]?.event, other >= state { remove(at: earlier) }
        }
        entries[index]?.event = .statePassed(state)
    }

    /// Counts an event that was refused before it was queued, because there was no room.
    mutating func countLost() { lost += 1 }

    /// Inserts events before all others.
    mutating func prepend(_ events: [ClientEvent]) {
        compact()
        for event in events.reversed() {
            let octets = event.approximateOctets + Self.placeOctets
            entries.insert(Entry(event: event, sequence: 0, octets: octets), at: 0)
            count += 1
            self.octets += octets
        }
        reindex()
    }

    mutating func popFirst() -> ClientEvent? {
        if lost > 0 {
            defer { lost = 0 }
            return .eventsLost(count: lost)
        }
        skipHoles()
        guard head < entries.count, let entry = entries[head] else { return nil }
        remove(at: head)
        if head > 64, head * 2 > entries.count { compact() }
        return entry.event
    }

    /// Makes `head` the oldest entry again.
    private mutating func skipHoles() {
        while head < entries.count, entries[head] == nil { head += 1 }
    }

    mutating func removeDiscoveries() {
        for index in entries.indices where entries[index]?.event.isDiscovery == true { remove(at: index) }
    }

    mutating func removeAll(where isUnwanted: (ClientEvent) -> Bool) {
        for index in entries.indices {
            if let entry = entries[index], isUnwanted(entry.event) { remove(at: index) }
        }
    }

    /// Whether any event meets the condition.
    func contains(where isWanted: (ClientEvent) -> Bool) -> Bool {
        entries.contains { entry in entry.map { isWanted($0.event) } ?? false }
    }

    /// Drops what can be spared best, because other queues need the room.
    /// - Returns: whether an event was dropped.
    mutating func drop() -> Bool { count > 1 && dropOne() }

    /// - Returns: whether an event was dropped.
    private mutating func dropOne() -> Bool {
        // The newest event is the one that needs the room.
        let old = head..<entries.count - 1
        if !discoveries.isEmpty, let index = old.first(where: { entries[$0]?.event.isDiscovery == true }) {
            remove(at: index)
        } else if let index = old.first(where: { isSpare(entries[$0]) { $0.isValue } }) {
            remove(at: index)
        } else if let index = old.first(where: { isSpare(entries[$0]) { $0.mayBeLost } }) {
            remove(at: index)
        } else if let (first, second) = oldestSubscriptionPair(in: old) ?? oldestPair(in: old) {
            remove(at: first)
            remove(at: second)
            lost += 1
        } else if let index = old.first(where: { entries[$0]?.endsRequest == true }) {
            remove(at: index)
        } else {
            return false
        }
        lost += 1
        return true
    }

    private func isSpare(_ entry: Entry?, _ isOfKind: (ClientEvent) -> Bool) -> Bool {
        entry.map { !$0.endsRequest && isOfKind($0.event) } ?? false
    }

    /// A connection and its end, if the same peripheral was connected again later.
    private func oldestPair(in range: Range<Int>) -> (Int, Int)? {
        for first in range {
            guard case .connected(let description, _)? = entries[first]?.event else { continue }
            let identifier = description.identifier
            guard
                let second = range.first(where: {
                    $0 > first && entries[$0]?.event.isDisconnection(of: identifier) == true
                }),
                range.contains(where: { $0 > second && entries[$0]?.event.isDisconnection(of: identifier) == true })
            else { continue }
            return (first, second)
        }
        return nil
    }

    /// A subscription and its end.
    private func oldestSubscriptionPair(in range: Range<Int>) -> (Int, Int)? {
        // Peers may connect repeatedly: only the first entries are searched, which bounds the cost of a flood.
        for first in range.prefix(64) {
            guard case .subscribed(let central, let characteristic)? = entries[first]?.event else { continue }
            let second = range.first {
                guard $0 > first, case .unsubscribed(let other, let same)? = entries[$0]?.event else { return false }
                return other.identifier == central.identifier && same == characteristic
            }
            if let second { return (first, second) }
        }
        return nil
    }

    private mutating func remove(at index: Int) {
        guard entries.indices.contains(index), let entry = entries[index] else { return }
        if case .discovered(let peripheral, _, _) = entry.event, discoveries[peripheral.identifier] == index {
            discoveries[peripheral.identifier] = nil
        }
        entries[index] = nil
        count -= 1
        octets -= entry.octets
        if index == head { skipHoles() }
    }

    private mutating func compact() {
        entries = entries.filter { $0 != nil }
        head = 0
        reindex()
    }

    private mutating func reindex() {
        discoveries.removeAll(keepingCapacity: true)
        for (index, entry) in entries.enumerated() {
            if case .discovered(let peripheral, _, _)? = entry?.event { discoveries[peripheral.identifier] = index }
        }
    }
}

extension ClientEvent {
    var isDiscovery: Bool { if case .discovered = self { true } else { false } }
    var isValue: Bool { if case .peripheral(_, .valueUpdated) = self { true } else { false } }
    var isStateChange: Bool {
        if case .stateChanged = self { return true }
        if case .statePassed = self { return true }
        return false
    }

    func isConnection(of identifier: PeerIdentifier) -> Bool {
        if case .connected(let peripheral, _) = self { peripheral.identifier == identifier } else { false }
    }

    func isDisconnection(of identifier: PeerIdentifier) -> Bool {
        if case .disconnected(identifier, _, _, _) = self { true } else { false }
    }

    /// Whether the event ends a request of the app, or lets it send again. A value may end one, too, but without an
    /// error it may as well be a notification.
    var endsRequest: Bool {
        guard case .peripheral(_, let event) = self else { return false }
        return switch event {
        case .valueUpdated(_, _, let error): error != nil
        case .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered, .descriptorsDiscovered,
            .descriptorValueUpdated, .valueWritten, .descriptorWritten, .notificationStateUpdated, .rssiRead,
            .channelOpened, .writeWithoutResponseAvailable:
            true
        case .nameUpdated, .servicesModified, .writeLimitsChanged: false
        }
    }

    /// Whether the event may be dropped when there is no room, because the app can ask again.
    var mayBeLost: Bool {
        switch self {
        case .discovered, .peripheral, .connectionEvent: true
        default: false
        }
    }

    /// Whether the event is a delegate call for which a suspended app is woken (SPEC BGC-2). Stream events wake no app
    /// (SPEC section 4).
    var wakesApp: Bool {
        switch self {
        case .peripheral(_, .writeLimitsChanged), .peripheral(_, .writeWithoutResponseAvailable(false)), .eventsLost,
            .statePassed, .channel:
            false
        default: true
        }
    }

    /// The approximate memory that a discovery takes, in octets.
    public static func approximateOctets(ofDiscovery content: AdvertisementContent) -> Int { 296 + content.octets }

    /// The approximate memory that the event takes, in octets.
    public var approximateOctets: Int {
        let frame = 96
        return switch self {
        case .discovered(_, let content, _): Self.approximateOctets(ofDiscovery: content)
        case .peripheral(_, .valueUpdated(_, let value, _)), .peripheral(_, .descriptorValueUpdated(_, let value, _)):
            frame + (value?.count ?? 0)
        case .peripheral(_, .servicesDiscovered(let services, _)),
            .peripheral(_, .includedServicesDiscovered(_, let services, _)):
            frame + services.reduce(0) { $0 + 96 + ($1.characteristics?.count ?? 0) * 96 }
        case .peripheral(_, .characteristicsDiscovered(_, let found, _)): frame + found.count * 96
        case .peripheral(_, .descriptorsDiscovered(_, let found, _)): frame + found.count * 32
        case .writeRequests(let group): frame + group.writes.reduce(0) { $0 + 48 + $1.value.count }
        case .channel(_, .received(let octets)): frame + octets.count
        default: frame
        }
    }
}
