/// How often ordinary users have bonds named. A name is on the disk before the engine's next event is reported, so many
/// names of one user would delay the events of others.
struct NamingLimit {
    /// How many names each user may give at once after a pause.
    static let burst: UInt64 = 16
    /// The time in which a further one becomes free, in microseconds.
    static let interval: UInt64 = 1_000_000
    /// How many users are noted before those are forgotten for whom all names are free again.
    private static let users = 256

    /// When all names are free again, in microseconds, by user.
    private var rested: [UInt32: UInt64] = [:]

    /// - Returns: whether the user may give a name now.
    mutating func spend(of user: UInt32, at now: UInt64) -> Bool {
        let begin = max(rested[user] ?? 0, now)
        guard begin - now <= (Self.burst - 1) * Self.interval else { return false }
        if rested.count >= Self.users { rested = rested.filter { $0.value > now } }
        rested[user] = begin + Self.interval
        return true
    }
}
