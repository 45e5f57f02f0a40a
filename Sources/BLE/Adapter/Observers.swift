/// Receives events.
protocol Observer<Event>: Sendable {
    associatedtype Event: Sendable

    /// - Returns: `false` if there is no room for the event.
    func deliver(_ event: Event) -> Bool
    /// No further event follows.
    func end(with error: BLEError)
}

/// The sequences that receive the same events, each until its loop ends.
struct Observers<Member: Observer> {
    private var members: [UInt64: Member] = [:]

    /// - Parameter token: identifies the member for its removal.
    mutating func add(_ member: Member, token: UInt64) { members[token] = member }

    mutating func remove(_ token: UInt64) { members[token] = nil }

    /// - Returns: whether each of them accepted it.
    func deliver(_ event: Member.Event) -> Bool {
        var isTaken = true
        for (_, member) in members where !member.deliver(event) { isTaken = false }
        return isTaken
    }

    mutating func end(with error: BLEError) {
        for (_, member) in members { member.end(with: error) }
        members.removeAll()
    }
}
