/// A message on its way to the broker.
struct QueuedMessage: Equatable, Sendable {
    /// Its place in the queue on disk; `nil` while it is in memory only.
    var id: Int64?
    var topic: String
    var payload: [UInt8]
    var qualityOfService: Int
    var isRetained: Bool
}
