import BLEPackets

/// Why an operation did not do what it was asked.
public enum GATTFailure: Error, Equatable, Sendable {
    /// The server refused; the handle is the one that it named.
    case att(ATTError, handle: AttributeHandle)
    /// The server's response is invalid for the request.
    case invalidResponse(InvalidResponse)
    /// A request was not answered for 30 s; the bearer is dead and the link must go (Core 5.4, Vol 3, Part F, 3.3.3).
    case transactionTimeout
    /// The link is gone, for the reason that the controller gave.
    case disconnected(HCIStatus)
    /// The bearer died earlier, or was closed by us.
    case bearerClosed
    /// There is no link to the peer.
    case notConnected
    /// Cancelled, or the client left.
    case cancelled
    /// The value is longer than the limit, in octets: 512, or MTU − 3 for a write command.
    case valueTooLong(limit: Int)
    /// The operation contradicts itself: a list that is too short or too long, a range without a handle.
    case invalidParameters
    /// As many operations wait as are allowed to.
    case queueFull
    /// The server understood another value than was sent; nothing was written.
    case reliableWriteMismatch(AttributeHandle)
    /// The server has more attributes, or tells them more slowly, than the settings allow a discovery; what was found
    /// by then is dropped.
    case discoveryTooLong
    /// There is nothing to unsubscribe from, or the peer declared the value void (Core 5.4, Vol 3, Part G, 7.1).
    case notSubscribed
    /// The link lacks the security that the operation needs, and it could not be made secure.
    case security(SecurityFailure)

    /// What is wrong with an answer.
    public typealias InvalidResponse = ATTInvalidResponse
}
