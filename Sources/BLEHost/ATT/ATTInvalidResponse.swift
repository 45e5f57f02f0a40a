import BLEPackets

/// What is wrong with the answer to a request.
public enum ATTInvalidResponse: Equatable, Sendable {
    /// A PDU that cannot be taken apart.
    case malformed(DecodingError)
    /// An answer to another request.
    case wrongOpcode(ATTOpcode)
    /// An error that names another request.
    case wrongRequestInError(ATTOpcode)
    /// A handle lies outside the range that was asked for, or a range ends before it begins.
    case handleOutOfRange(AttributeHandle)
    /// Handles are not ascending: the search would not make progress.
    case handleOutOfOrder(AttributeHandle)
    /// Elements have a length that their kind does not have.
    case elementLength(Int)
    /// More values than were asked for.
    case tooManyValues
}
