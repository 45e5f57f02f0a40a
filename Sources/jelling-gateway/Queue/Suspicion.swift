/// A broker may close the session because of one message, one that is too long for it for example, and that message
/// would block all others.
///
///     normal ──3 sessions without any acknowledgement──▶ one at a time ──3 sessions that end at the same──▶ dropped
///       ▲                                                   │
///       └───────── as many acknowledged as were suspected ──┘
///
/// Sessions count only if they end soon after the broker has accepted them, and those with one message only if it
/// acknowledged the status before: a broker that is away or broken loses nothing.
struct Suspicion {
    static let limit = 3
    /// The number of sessions in a row that ended without an acknowledgement of a message.
    var sessions = 0
    /// How many messages are sent one at a time.
    var suspects = 0
    /// The message that is on the way alone.
    var current: QueuedMessage?
    /// The longest payload that the broker has acknowledged.
    var longestTaken = 0
    /// Payloads of this length and longer ones are not sent: a shorter one was never at fault.
    var refusedCount = Int.max
    /// Messages for these topics are not sent: one was at fault that was not too long.
    var refusedTopics: Set<String> = []

    func refuses(_ message: QueuedMessage) -> Bool {
        message.payload.count >= refusedCount || refusedTopics.contains(message.topic)
    }

    mutating func refuse(_ message: QueuedMessage) {
        if message.payload.count > longestTaken {
            refusedCount = message.payload.count
        } else if refusedTopics.count < 1000 {
            refusedTopics.insert(message.topic)
        }
    }
}
