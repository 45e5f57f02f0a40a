/// A message that was sent and not acknowledged yet.
struct SentMessage {
    /// The position in the queue; 0 for messages that are not on disk.
    var id: Int64
    /// The number of octets of the payload.
    var count: Int
}
