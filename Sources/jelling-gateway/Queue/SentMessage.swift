/// A message that was sent and not acknowledged yet.
struct SentMessage {
    /// The message; without a position in the queue, it is only here.
    var message: QueuedMessage
    /// Later messages have higher numbers.
    var order: UInt64
}
