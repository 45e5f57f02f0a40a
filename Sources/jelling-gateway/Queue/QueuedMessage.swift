/// A message for the broker.
struct QueuedMessage: Equatable, Sendable {
    /// Its queue position on disk; `nil` while it is only in memory.
    var id: Int64?
    var topic: String
    var payload: [UInt8]
    var qualityOfService: Int
    var isRetained: Bool
    /// Whether it only repeats, or removes, what is retained: if it is lost, a new one is made.
    var isStatement = false

    /// The octets of topic and payload.
    var size: Int { topic.utf8.count + payload.count }
}
