/// Why what came over the socket is not of the protocol.
public enum WireError: Error, Equatable, Sendable {
    /// A frame says that it has so many octets, which is more than is taken.
    case messageTooLong(octets: Int)
    /// The octets of a frame are no message of the schema.
    case malformedMessage
    /// A message without its content, or with a value that its field cannot have.
    case invalidField
    /// A message that has no place here: a second greeting, or a request before the first.
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
