import BLEHost

/// What is retained at the broker: by topic, with the device that it belongs to.
///
///     stated ──message in the queue──▶ acknowledged: confirmed ──new session──▶ stated again
///        ▲                                │
///        └── stated again ─── withdrawn ◀─┘ no longer true
///                                 └──empty message──▶ acknowledged: removed
///
/// Statements are first messages of the queue like others. What is not confirmed when the queue is empty is stated
/// again by `next`, so nothing depends on what became of a message.
struct RetainedTable: Sendable {
    struct Owner {
        var firstHeard: Instant
        var lastHeard: Instant
        var isResolved: Bool
        /// `lastHeard` on disk.
        var written: Instant
        /// What an earlier run has written; `nil`: the device was received in this run.
        var stored: RetainedOwner?
        var topics: [String] = []
    }

    private struct Entry {
        var statement: RetainedStatement
        /// Whether the broker acknowledged it in this session.
        var isConfirmed = false
        /// Whether `pending` has its topic.
        var isPending = false
        /// How often the broker refused it for good, and until when it is not stated again. Some brokers end the
        /// session with the refusal, and would end the next one for the same statement.
        var refusals = 0
        var refusedUntil: Instant?
        /// Later entries have higher numbers.
        var number: UInt64
    }

    private var entries: [String: Entry] = [:]
    private(set) var owners: [String: Owner] = [:]
    private var pending: [String] = []
    private var number: UInt64 = 0
    private(set) var size = 0
    /// What has changed since `drainChanges`; `nil`: changes are not collected.
    private var changes: (topics: Set<String>, owners: Set<String>)?

    let countLimit: Int
    let sizeLimit: Int
    /// `lastHeard` is written when it is so much later than on disk.
    private static let grain = Microseconds.seconds(600)
    private static let refusalPause: Int64 = 600_000_000

    /// - Parameters:
    ///   - countLimit: the maximum number of topics; devices without settings may use three quarters of it.
    ///   - sizeLimit: the maximum number of octets, likewise.
    init(countLimit: Int = 32_768, sizeLimit: Int = 32 << 20) {
        self.countLimit = countLimit
        self.sizeLimit = sizeLimit
    }

    /// The number of topics, also of those that are being removed.
    var count: Int { entries.count }
    /// Whether `next` may have something.
    var hasPending: Bool { !pending.isEmpty }
    /// The number of topics that the broker has to remove.
    var withdrawnCount: Int { entries.values.count { $0.statement.isWithdrawn } }

    subscript(topic: String) -> RetainedStatement? { entries[topic]?.statement }

    /// The statements of a device that are not withdrawn, in the order in which they were made.
    func statements(of owner: String) -> [RetainedStatement] {
        (owners[owner]?.topics ?? []).compactMap { entries[$0]?.statement }.filter { !$0.isWithdrawn }
    }

    /// All statements that are not withdrawn, the oldest first.
    var statements: [RetainedStatement] {
        entries.values.filter { !$0.statement.isWithdrawn }.sorted { $0.number < $1.number }.map(\.statement)
    }

    // MARK: Stating

    /// Notes that a message states something.
    /// - Returns: whether there is room; otherwise the message must not be retained.
    mutating func state(_ statement: RetainedStatement, isNamed: Bool, isResolved: Bool, at now: Instant) -> Bool {
        guard hasRoom(for: statement, isNamed: isNamed) else { return false }
        if owners[statement.owner] == nil {
            owners[statement.owner] = Owner(firstHeard: now, lastHeard: now, isResolved: isResolved, written: now)
            changes?.owners.insert(statement.owner)
        }
        for other in replaced(by: statement) { withdraw(other) }
        put(statement)
        return true
    }

    private func hasRoom(for statement: RetainedStatement, isNamed: Bool) -> Bool {
        let old = entries[statement.topic]?.statement
        let share = isNamed ? 4 : 3
        let newCount = count + (old == nil ? 1 : 0)
        let newSize = size - (old?.size ?? 0) + statement.size
        return newCount <= countLimit / 4 * share && newSize <= sizeLimit / 4 * share
    }

    /// The topics at which the same was stated before.
    private func replaced(by statement: RetainedStatement) -> [String] {
        statements(of: statement.owner).filter { other in
            guard other.kind == statement.kind, other.topic != statement.topic else { return false }
            // The same value as an entity of another type differs in the second level only.
            return statement.kind != .entity || Self.object(other.topic) == Self.object(statement.topic)
        }.map(\.topic)
    }

    private static func object(_ topic: String) -> ArraySlice<Substring> {
        topic.split(separator: "/", omittingEmptySubsequences: false).suffix(3)
    }

    private mutating func put(_ statement: RetainedStatement) {
        let topic = statement.topic
        guard let old = entries[topic] else {
            number += 1
            entries[topic] = Entry(statement: statement, number: number)
            owners[statement.owner]?.topics.append(topic)
            size += statement.size
            changes?.topics.insert(topic)
            return enqueue(topic)
        }
        // Another device may have the same name.
        if old.statement.owner != statement.owner {
            leave(old.statement.owner, topic)
            owners[statement.owner]?.topics.append(topic)
        }
        var isSame = old.statement
        isSame.payload = statement.kind == .document ? statement.payload : isSame.payload
        if isSame != statement { changes?.topics.insert(topic) }
        size += statement.size - old.statement.size
        if old.statement.payload != statement.payload { entries[topic]?.refusedUntil = nil }
        entries[topic]?.statement = statement
        entries[topic]?.isConfirmed = false
        enqueue(topic)
    }

    /// Notes that something is no longer true.
    mutating func withdraw(_ topic: String) {
        guard let old = entries[topic]?.statement, !old.isWithdrawn else { return }
        var statement = old
        statement.isWithdrawn = true
        statement.payload = []
        size += statement.size - old.size
        entries[topic]?.statement = statement
        entries[topic]?.isConfirmed = false
        changes?.topics.insert(topic)
        enqueue(topic)
    }

    /// Notes that a device was received, if something of it is retained.
    mutating func received(_ owner: String, at now: Instant) {
        guard let known = owners[owner], known.lastHeard < now else { return }
        owners[owner]?.lastHeard = now
        owners[owner]?.stored = nil
        guard known.written.advanced(by: Self.grain) <= now else { return }
        owners[owner]?.written = now
        changes?.owners.insert(owner)
    }

    private mutating func enqueue(_ topic: String) {
        guard entries[topic]?.isPending == false else { return }
        entries[topic]?.isPending = true
        pending.append(topic)
    }

    // MARK: The broker

    /// A session has begun: the broker may have lost everything.
    /// - Parameter rank: of a device; the lowest are stated first.
    mutating func sessionBegan(at now: Instant, rank: (String) -> Int) {
        var order: [(rank: Int, number: UInt64, topic: String)] = []
        order.reserveCapacity(entries.count)
        for (topic, entry) in entries {
            let statement = entry.statement
            let first = statement.isWithdrawn ? -1 : rank(statement.owner)
            order.append((first, entry.number, topic))
            entries[topic]?.isConfirmed = entry.refusedUntil.map { now < $0 } ?? false
            entries[topic]?.isPending = true
        }
        order.sort { ($0.rank, $0.number) < ($1.rank, $1.number) }
        pending = order.map(\.topic)
    }

    /// What is to be stated or removed next.
    /// - Parameter mayBeSent: whether a message for the topic may be sent now.
    mutating func next(limit: Int, mayBeSent: (String) -> Bool) -> [RetainedStatement] {
        guard !pending.isEmpty, limit > 0 else { return [] }
        var found: [RetainedStatement] = []
        var waiting: [String] = []
        var position = 0
        while position < pending.count, found.count < limit {
            let topic = pending[position]
            position += 1
            guard let entry = entries[topic] else { continue }
            if entry.isConfirmed || entry.statement.payload == nil {
                entries[topic]?.isPending = false
            } else if mayBeSent(topic) {
                entries[topic]?.isPending = false
                found.append(entry.statement)
            } else {
                waiting.append(topic)
            }
        }
        pending = waiting + pending[position...]
        return found
    }

    /// Notes what became of a retained message.
    mutating func settled(_ topic: String, _ payload: [UInt8], _ outcome: RetainedOutcome, at now: Instant) {
        guard let statement = entries[topic]?.statement else { return }
        // A later message of the topic is on its way.
        guard statement.payload == payload else { return }
        switch outcome {
        case .accepted where statement.isWithdrawn: remove(topic)
        case .accepted:
            entries[topic]?.isConfirmed = true
            entries[topic]?.refusals = 0
            entries[topic]?.refusedUntil = nil
        case .refused:
            let refusals = entries[topic]?.refusals ?? 0
            entries[topic]?.isConfirmed = true
            entries[topic]?.refusals = min(refusals + 1, 7)
            entries[topic]?.refusedUntil = now.advanced(by: .microseconds(Self.refusalPause << Int64(refusals)))
        case .postponed: enqueue(topic)
        }
    }

    private mutating func remove(_ topic: String) {
        guard let entry = entries.removeValue(forKey: topic) else { return }
        size -= entry.statement.size
        changes?.topics.insert(topic)
        leave(entry.statement.owner, topic)
    }

    private mutating func leave(_ owner: String, _ topic: String) {
        owners[owner]?.topics.removeAll { $0 == topic }
        guard owners[owner]?.topics.isEmpty == true else { return }
        owners[owner] = nil
        changes?.owners.insert(owner)
    }

    // MARK: Disk

    /// Takes over what an earlier run stated.
    /// - Parameter toInstant: the moment of a number of seconds since 1970.
    mutating func restore(_ record: RetainedRecord, at now: Instant, toInstant: (Int64) -> Instant) {
        for owner in record.owners {
            let (first, last) = Self.span(of: owner, at: now, toInstant: toInstant)
            owners[owner.name] = Owner(
                firstHeard: first, lastHeard: last, isResolved: owner.isResolved, written: last, stored: owner)
        }
        for var statement in record.statements where entries[statement.topic] == nil {
            guard count < countLimit, size + statement.size <= sizeLimit else { break }
            if statement.kind == .document, !statement.isWithdrawn { statement.payload = nil }
            if statement.isWithdrawn { statement.payload = [] }
            if owners[statement.owner] == nil {
                owners[statement.owner] = Owner(firstHeard: now, lastHeard: now, isResolved: false, written: now)
            }
            put(statement)
        }
        for owner in owners.keys where owners[owner]?.topics.isEmpty == true { owners[owner] = nil }
    }

    /// When a device was received by what is on disk. That may be later than now where the clock was set back, or is not
    /// set yet: then the device was received just now, and is known for as long as it was.
    private static func span(
        of owner: RetainedOwner, at now: Instant, toInstant: (Int64) -> Instant
    ) -> (first: Instant, last: Instant) {
        let (first, last) = (toInstant(owner.firstHeard), toInstant(owner.lastHeard))
        let late = max(0, now.distance(to: last).rawValue)
        let length = max(0, first.distance(to: last).rawValue)
        let end = last.advanced(by: .microseconds(-late))
        return (end.advanced(by: .microseconds(-length)), end)
    }

    /// The wall clock was set. The moments on disk of devices that were received in this run were those of the wrong
    /// clock and are written again; those of an earlier run are read by the right one.
    mutating func clockWasSet(at now: Instant, toInstant: (Int64) -> Instant) {
        for (name, owner) in owners {
            guard let stored = owner.stored else {
                owners[name]?.written = now
                changes?.owners.insert(name)
                continue
            }
            let (first, last) = Self.span(of: stored, at: now, toInstant: toInstant)
            owners[name]?.firstHeard = first
            owners[name]?.lastHeard = last
        }
    }

    /// Whether changes are collected for `drainChanges`.
    mutating func collectsChanges(_ isCollecting: Bool) { changes = isCollecting ? (changes ?? ([], [])) : nil }

    /// What has changed since the last call.
    /// - Parameter toUnix: the seconds since 1970 of a moment.
    mutating func drainChanges(toUnix: (Instant) -> Int64) -> RetainedRecord {
        guard let changes, !(changes.topics.isEmpty && changes.owners.isEmpty) else { return RetainedRecord() }
        self.changes = ([], [])
        return record(topics: changes.topics.sorted(), owners: changes.owners.sorted(), toUnix: toUnix)
    }

    /// Everything, in the order in which it was stated.
    func everything(toUnix: (Instant) -> Int64) -> RetainedRecord {
        let topics = entries.values.sorted { $0.number < $1.number }.map(\.statement.topic)
        return record(topics: topics, owners: owners.keys.sorted(), toUnix: toUnix)
    }

    private func record(topics: [String], owners names: [String], toUnix: (Instant) -> Int64) -> RetainedRecord {
        var record = RetainedRecord()
        for topic in topics {
            guard var statement = entries[topic]?.statement else {
                record.removedTopics.append(topic)
                continue
            }
            if statement.kind == .document { statement.payload = nil }
            record.statements.append(statement)
        }
        for name in names {
            guard let owner = owners[name] else {
                record.removedOwners.append(name)
                continue
            }
            record.owners.append(
                owner.stored
                    ?? RetainedOwner(
                        name: name, firstHeard: toUnix(owner.firstHeard), lastHeard: toUnix(owner.lastHeard),
                        isResolved: owner.isResolved))
        }
        return record
    }
}
