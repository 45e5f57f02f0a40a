import BLEPackets

/// What is wrong with the response to a request.
public enum ATTInvalidResponse: Equatable, Sendable {
    /// The PDU cannot be decoded.
    case malformed(DecodingError)
    /// The response belongs to another request. Not reported any more: such a response is counted and ignored.
    case wrongOpcode(ATTOpcode)
    /// The error response names another request. Not reported any more, either.
    case wrongRequestInError(ATTOpcode)
    /// A handle lies outside the requested range, or a range ends before it begins.
    case handleOutOfRange(AttributeHandle)
    /// Handles are not in ascending order: the search would not make progress.
    case handleOutOfOrder(AttributeHandle)
    /// The elements have a length in octets that is not allowed for their kind.
    case elementLength(Int)
    /// There are more values than requested.
    case tooManyValues
}
