/// A broker may close the session because of one message, one that is too long for it for example, and that message
/// would block all others. Or it closes every session, and then no message is at fault.
///
///     normal ──3 sessions without any acknowledgement──▶ one at a time ──▶ session ends: others are sent first
///       ▲                                                 │    │               │          │
///       │                                                 │    │   acknowledged: again    └─3 times in all─▶ at fault
///       ├──────── as many acknowledged as were suspected ─┘    └──3 sessions without any acknowledgement─▶ broken
///       └────────────────────────────────────────────────────────────────────────────────────────────────────┘
///
/// A message is at fault if the broker acknowledges others between the ends of its sessions. If it acknowledges none,
/// nothing is dropped. Sessions count only if they end soon after the broker has accepted them, and those with one
/// message only if it acknowledged the status before.
struct Suspicion {
    /// What follows from the end of a session.
    enum Consequence: Equatable {
        /// The session is made again as it was.
        case none
        /// The next session has one message on the way at a time.
        case oneAtATime
        /// Like that, and this message is no longer sent.
        case atFault(QueuedMessage)
        /// The broker takes nothing: the next session is a normal one, and no message is dropped.
        case broken
    }

    static let limit = 3
    private static let topicLimit = 1000
    /// The number of sessions in a row that ended without an acknowledgement of a message.
    private var sessions = 0
    /// How many messages are still sent one at a time.
    private var suspects = 0
    /// The only message that is on the way.
    private var current: QueuedMessage?
    /// The number of sessions that ended at the first message for a topic.
    private var ends: [String: Int] = [:]
    /// Messages for these topics wait until the broker has acknowledged another one.
    private var aside: Set<String> = []
    /// The longest payload that the broker has acknowledged.
    private var longestTaken = 0
    /// Payloads of this length and longer ones are not sent: a shorter one was never at fault.
    private var refusedCount = Int.max
    /// Messages for these topics are not sent: one was at fault that was not too long.
    private var refusedTopics: Set<String> = []

    var isOneAtATime: Bool { suspects > 0 }

    func refuses(_ message: QueuedMessage) -> Bool {
        message.payload.count >= refusedCount || refusedTopics.contains(message.topic)
    }

    /// The broker may have been configured since the last session.
    mutating func forgetRefusals() {
        refusedCount = .max
        refusedTopics = []
        longestTaken = 0
    }

    /// The index of the message that is sent next, one at a time.
    mutating func next(of messages: some RandomAccessCollection<QueuedMessage>) -> Int? {
        guard let first = messages.first else { return nil }
        // Otherwise the messages that were suspected have left the queue.
        if aside.isEmpty, ends[first.topic] == nil { ends = [:] }
        return messages.enumerated().first { !aside.contains($0.element.topic) }?.offset ?? 0
    }

    /// Whether messages for the topic wait until the broker has acknowledged another one.
    func isAside(_ topic: String) -> Bool { aside.contains(topic) }

    mutating func sent(_ message: QueuedMessage) { if isOneAtATime { current = message } }

    /// - Returns: whether this shows, one at a time, that the broker works.
    mutating func acknowledged(_ message: QueuedMessage) -> Bool {
        longestTaken = max(longestTaken, message.payload.count)
        sessions = 0
        guard isOneAtATime else { return false }
        current = nil
        aside = []
        ends[message.topic] = nil
        if ends.isEmpty { suspects -= 1 }
        return true
    }

    /// - Parameters:
    ///   - count: the number of messages on the way.
    ///   - isShort: whether the session ended soon after the broker accepted it.
    ///   - isConnected: whether the broker had acknowledged the status.
    ///   - blamesMessage: whether the broker said that a message was the reason.
    mutating func sessionEnded(
        withOnTheWay count: Int, isShort: Bool, isConnected: Bool, blamesMessage: Bool = false
    ) -> Consequence {
        guard count > 0 else { return .none }
        guard isOneAtATime else {
            if isShort { sessions += 1 }
            if blamesMessage { sessions = Self.limit }
            guard sessions >= Self.limit else { return .none }
            sessions = 0
            suspects = count
            return .oneAtATime
        }
        guard let message = current, isConnected, isShort || blamesMessage else { return .oneAtATime }
        current = nil
        if blamesMessage {
            ends[message.topic] = nil
            aside.remove(message.topic)
            refuse(message)
            return .atFault(message)
        }
        sessions += 1
        guard sessions < Self.limit else {
            self.reset()
            return .broken
        }
        let number = ends[message.topic, default: 0] + 1
        ends[message.topic] = number
        aside.insert(message.topic)
        guard number >= Self.limit else { return .oneAtATime }
        ends[message.topic] = nil
        aside.remove(message.topic)
        refuse(message)
        return .atFault(message)
    }

    private mutating func reset() {
        sessions = 0
        suspects = 0
        ends = [:]
        aside = []
    }

    private mutating func refuse(_ message: QueuedMessage) {
        if message.payload.count > longestTaken {
            refusedCount = message.payload.count
        } else {
            if refusedTopics.count >= Self.topicLimit { refusedTopics = [] }
            refusedTopics.insert(message.topic)
        }
    }
}
