import BLEPackets

/// Values that arrived before a client subscribed: a peer that remembers a subscription sends at once (pain 12).
///
/// They wait, up to a limit for all handles together; the oldest is dropped first.
struct EarlyNotifications {
    struct Value: Equatable {
        var handle: AttributeHandle
        var value: [UInt8]
        var isIndication: Bool
    }

    private let limit: Int
    private(set) var values: [Value] = []

    init(limit: Int) { self.limit = max(0, limit) }

    /// Keeps a value; false if a value was dropped.
    mutating func store(_ value: Value) -> Bool {
        guard limit > 0 else { return false }
        let isFull = values.count >= limit
        if isFull { values.removeFirst() }
        values.append(value)
        return !isFull
    }

    /// Takes the values of a handle in the order in which they arrived.
    mutating func remove(_ handle: AttributeHandle) -> [Value] {
        if values.isEmpty { return [] }
        let taken = values.filter { $0.handle == handle }
        values.removeAll { $0.handle == handle }
        return taken
    }

    mutating func removeAll() { values.removeAll() }
}
