/// The messages that were sent and not acknowledged yet.
struct MessagesOnTheWay {
    private struct Sent {
        var message: QueuedMessage
        /// Later messages have higher numbers.
        var order: UInt64
    }

    private var sent: [Int32: Sent] = [:]
    private var order: UInt64 = 0
    /// How many there are of each topic.
    private var topics: [String: Int] = [:]

    var count: Int { sent.count }
    var isEmpty: Bool { sent.isEmpty }

    func contains(topic: String) -> Bool { topics[topic] != nil }

    var messages: [QueuedMessage] { sent.values.sorted { $0.order < $1.order }.map(\.message) }

    /// The positions on disk.
    var identifiers: [Int64] { sent.values.compactMap(\.message.id) }

    /// - Parameter number: that of libmosquitto.
    mutating func add(_ message: QueuedMessage, number: Int32) {
        sent[number] = Sent(message: message, order: order)
        order += 1
        topics[message.topic, default: 0] += 1
    }

    mutating func remove(number: Int32) -> QueuedMessage? {
        guard let message = sent.removeValue(forKey: number)?.message else { return nil }
        let rest = (topics[message.topic] ?? 1) - 1
        topics[message.topic] = rest > 0 ? rest : nil
        return message
    }

    /// Removes all.
    /// - Returns: those that are only in memory, in order.
    mutating func removeAll() -> [QueuedMessage] {
        defer {
            sent = [:]
            topics = [:]
        }
        return sent.values.filter { $0.message.id == nil }.sorted { $0.order < $1.order }.map(\.message)
    }
}
