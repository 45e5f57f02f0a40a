/// Where events are told.
protocol Observer<Event>: Sendable {
    associatedtype Event: Sendable

    /// - Returns: whether it was taken: what waits already may be as much as there is room for.
    func tell(_ event: Event) -> Bool
    /// No event follows.
    func end(with error: any Error)
}

/// Sequences that are told the same events, until nobody loops over them any more.
struct Observers<Member: Observer> {
    private var members: [UInt64: Member] = [:]

    /// - Parameter token: by which it is removed.
    mutating func add(_ member: Member, token: UInt64) { members[token] = member }

    mutating func remove(_ token: UInt64) { members[token] = nil }

    /// - Returns: whether each of them took it.
    func tell(_ event: Member.Event) -> Bool {
        var isTaken = true
        for (_, member) in members where !member.tell(event) { isTaken = false }
        return isTaken
    }

    mutating func end(with error: any Error) {
        for (_, member) in members { member.end(with: error) }
        members.removeAll()
    }
}
