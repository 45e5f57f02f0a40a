/// Places that users share. Each may take as many as it leaves free: the first one half, the next one half of the rest.
/// One that takes what it can leaves room for every other.
struct SharedPlaces<Key: Hashable> {
    let count: Int
    /// Only for lookup.
    private var users: [Key: UInt32] = [:]
    /// How many each user has. Only for lookup.
    private var taken: [UInt32: Int] = [:]

    init(_ count: Int) { self.count = count }

    /// Whether a user may take another one; who is trusted may take the last one.
    func hasRoom(for user: UInt32, isTrusted: Bool) -> Bool {
        let free = count - users.count
        return free > 0 && (isTrusted || taken[user] ?? 0 < free)
    }

    /// How many a user has.
    func count(of user: UInt32) -> Int { taken[user] ?? 0 }

    mutating func take(_ key: Key, for user: UInt32) {
        leave(key)
        users[key] = user
        taken[user, default: 0] += 1
    }

    /// Gives a place back, if that one was taken.
    mutating func leave(_ key: Key) {
        guard let user = users.removeValue(forKey: key), let count = taken[user] else { return }
        taken[user] = count > 1 ? count - 1 : nil
    }
}
