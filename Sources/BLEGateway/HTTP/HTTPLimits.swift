import BLEHost

/// The bounds of what clients of the HTTP server may use.
public struct HTTPLimits: Equatable, Sendable {
    /// The longest request line, in octets.
    public var requestLine = 2048
    /// The maximum number of header fields.
    public var fields = 64
    /// The maximum size of all header fields together, in octets.
    public var fieldOctets = 8192
    /// The time from the beginning of a connection to its complete request.
    public var requestTime = Microseconds.seconds(5)
    /// The time from the complete request until the answer is written.
    public var answerTime = Microseconds.seconds(10)
    /// The time, after the answer, in which what the client still sends is read and forgotten: an end before that
    /// could take the answer away from it.
    public var closingTime = Microseconds.seconds(2)
    /// How many octets are read and forgotten after an answer.
    public var closingOctets = 4 << 20
    /// The maximum number of connections.
    public var connections = 64
    /// The maximum number of connections of one address.
    public var connectionsOfAddress = 32

    public init() {}
}
