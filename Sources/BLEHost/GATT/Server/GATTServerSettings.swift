import BLEPackets

/// Limits and behaviour of an attribute server.
public struct GATTServerSettings: Equatable, Sendable {
    /// How long the app may take for an answer: then the client's transaction is over and its bearer is dead
    /// (Core 5.4, Vol 3, Part F, 3.3.3).
    public var answerTimeout = Microseconds.seconds(30)
    /// How long a client may take to confirm an indication (Core 5.4, Vol 3, Part F, 3.3.3).
    public var confirmationTimeout = Microseconds.seconds(30)
    /// Requests that a client may have sent before the one under way is answered, though it must not send any (Core
    /// 5.4, Vol 3, Part F, 3.3.2). Another one closes the bearer.
    public var earlyRequestLimit = 4
    /// Answers to a client that may wait for the controller. One more, and the bearer is dropped.
    public var unsentResponseLimit = 16
    /// Values that may wait for each client: notifications for the controller, indications for confirmations
    /// (SPEC PER-22).
    public var updateLimit = 10
    /// How long clients that have room wait for one that has none: then it misses updates, and they go on. Each time
    /// that a client is given up, the next wait is half as long.
    public var updateTimeout = Microseconds.seconds(1)
    /// The shortest such wait: what a slow but honest link needs for its next packets.
    public var minimumUpdateTimeout = Microseconds.microseconds(100_000)
    /// How long after a client was given up the wait is as long as at first.
    public var updateTimeoutRecovery = Microseconds.seconds(60)
    /// For how long at least a client that was given up is not waited for; longer where it has not caught up by then.
    public var fallenBehindSpan = Microseconds.seconds(10)
    /// Prepared writes that a client may have in its queue (Core 5.4, Vol 3, Part F, 3.4.6).
    public var preparedWriteLimit = 64
    /// Octets of values that a client may have in its queue.
    public var preparedOctetLimit = 4096
    /// What a client without a key hears where a value needs encryption (Core 5.4, Vol 3, Part C, 10.3.1; SPEC 2.4).
    public var errorWithoutKeys = ATTError.insufficientAuthentication

    /// What the specification demands, and bounds that honest clients never reach.
    public init() {}
}
