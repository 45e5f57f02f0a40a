import BLEPackets

/// Why an operation failed.
public enum GATTFailure: Error, Equatable, Sendable {
    /// The server refused; the handle is the one in its Error Response.
    case att(ATTError, handle: AttributeHandle)
    /// The server's response does not match the request.
    case invalidResponse(ATTInvalidResponse)
    /// A request was not answered for 30 s; the bearer is dead and the link must end (Core 5.4, Vol 3, Part F, 3.3.3).
    case transactionTimeout
    /// The link is gone, for the reason that the controller gave.
    case disconnected(HCIStatus)
    /// The bearer died earlier, or this side closed it.
    case bearerClosed
    /// There is no link to the peer.
    case notConnected
    /// The operation was cancelled, or its client released the link.
    case cancelled
    /// The value is longer than the limit, in octets: 512, or ATT_MTU − 3 for a write command.
    case valueTooLong(limit: Int)
    /// The parameters are invalid: a list that is too short or too long, a range without a handle.
    case invalidParameters
    /// The queue of waiting operations is full.
    case queueFull
    /// The server echoed another value than was sent; nothing was written.
    case reliableWriteMismatch(AttributeHandle)
    /// The server has more attributes, or reports them more slowly, than the settings allow for a discovery; what was
    /// found so far is dropped.
    case discoveryTooLong
    /// There is nothing to unsubscribe from, or Service Changed invalidated the value (Core 5.4, Vol 3, Part G, 7.1).
    case notSubscribed
    /// The link lacks the security that the operation needs, and could not be secured.
    case security(SecurityFailure)
}
