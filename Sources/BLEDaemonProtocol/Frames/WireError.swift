/// Why data from the socket violate the protocol.
public enum WireError: Error, Equatable, Sendable {
    /// A frame states a length of `octets`, which is more than the limit.
    case messageTooLong(octets: Int)
    /// The octets of a frame are not a message of the schema.
    case malformedMessage
    /// A message without its content, or with a value that its field cannot have.
    case invalidField
    /// A message that is not allowed here: a second greeting, or a request before the greeting.
    case unexpectedMessage
}

extension WireError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .messageTooLong(let octets): "a frame of \(octets) octets is longer than the limit"
        case .malformedMessage: "a frame holds no message of the protocol"
        case .invalidField: "a message has a field with a value that it cannot have"
        case .unexpectedMessage: "a message came where it has no place"
        }
    }
}
