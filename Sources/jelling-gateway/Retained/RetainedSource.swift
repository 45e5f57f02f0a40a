import BLEGateway

/// Knows what has to be retained at the broker.
protocol RetainedSource: AnyObject, Sendable {
    /// A session has begun: the broker may have lost everything.
    func sessionBegan()
    /// Messages that make true what is retained.
    /// - Parameter mayBeSent: whether a message for the topic may be sent now.
    func statements(limit: Int, mayBeSent: (String) -> Bool) -> [QueuedMessage]
    /// The broker has answered a retained message, or it was dropped.
    func settled(_ message: QueuedMessage, _ outcome: RetainedOutcome)
}
