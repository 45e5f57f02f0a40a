import BLEPackets

/// Limits and behaviour of an attribute server.
public struct GATTServerSettings: Equatable, Sendable {
    /// How long the app may take for an answer: after that the client's transaction has failed and its bearer is dead
    /// (Core 5.4, Vol 3, Part F, 3.3.3).
    public var answerTimeout = Microseconds.seconds(30)
    /// How long a client may take to confirm an indication (Core 5.4, Vol 3, Part F, 3.3.3).
    public var confirmationTimeout = Microseconds.seconds(30)
    /// Early requests that are stored for a client while another is in progress, although clients must not send any
    /// (Core 5.4, Vol 3, Part F, 3.3.2). One more ends the bearer.
    public var earlyRequestLimit = 4
    /// Responses to a client that may wait for the controller. One more ends the bearer.
    public var unsentResponseLimit = 16
    /// Values that may wait for each client: notifications for the controller, indications for their confirmations
    /// (SPEC PER-22).
    public var updateLimit = 10
    /// How long clients with room wait for one without: after that it misses updates, and the others continue. Each
    /// time a client is given up, the next wait is half as long.
    public var updateTimeout = Microseconds.seconds(1)
    /// The shortest such wait: enough for the next packets on a slow but working link.
    public var minimumUpdateTimeout = Microseconds.microseconds(100_000)
    /// How long after the last client was given up the wait returns to `updateTimeout`.
    public var updateTimeoutRecovery = Microseconds.seconds(60)
    /// The minimum time for which the others do not wait for a client that was given up; it lasts longer if the client
    /// has not caught up by then.
    public var fallenBehindSpan = Microseconds.seconds(10)
    /// Prepared writes that a client may have in its queue (Core 5.4, Vol 3, Part F, 3.4.6).
    public var preparedWriteLimit = 64
    /// Octets of prepared values that a client may have in its queue.
    public var preparedOctetLimit = 4096
    /// The error for a client without a key if a value needs encryption (Core 5.4, Vol 3, Part C, 10.3.1; SPEC 2.4).
    public var errorWithoutKeys = ATTError.insufficientAuthentication
    /// Whether values that wait for the controller share a PDU if the client supports it (Core 5.4, Vol 3, Part G,
    /// 7.2).
    public var sharesNotifications = false

    /// Creates settings with the timeouts of the specification, and limits that honest clients never reach.
    public init() {}
}
