/// Where events are told.
protocol Observer<Event>: Sendable {
    associatedtype Event: Sendable

    func tell(_ event: Event)
    /// No event follows.
    func end(with error: any Error)
}

/// Sequences that are told the same events, until nobody loops over them any more.
struct Observers<Member: Observer> {
    private var members: [UInt64: Member] = [:]

    /// - Parameter token: by which it is removed.
    mutating func add(_ member: Member, token: UInt64) { members[token] = member }

    mutating func remove(_ token: UInt64) { members[token] = nil }

    func tell(_ event: Member.Event) {
        for (_, member) in members { member.tell(event) }
    }

    mutating func end(with error: any Error) {
        for (_, member) in members { member.end(with: error) }
        members.removeAll()
    }
}
