/// Why octets or a text are not a message, or violate the protocol of the socket.
public enum MessageError: Error, Equatable, Sendable {
    /// A frame states a length of `octets`, which is more than the limit.
    case tooLong(octets: Int)
    /// The octets are not a message of the schema.
    case malformed
    /// A message without its content, or with a value that its field cannot have.
    case invalidField
    /// A message that is not allowed here: a second greeting, or a request before the greeting.
    case unexpected
}

extension MessageError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooLong(let octets): "a frame of \(octets) octets is longer than the limit"
        case .malformed: "a frame holds no message of the protocol"
        case .invalidField: "a message has a field with a value that it cannot have"
        case .unexpected: "a message came where it has no place"
        }
    }
}
