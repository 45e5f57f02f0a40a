import BLEHost

/// The bounds of what clients of the HTTP server may use.
public struct HTTPLimits: Equatable, Sendable {
    /// The longest request line, in octets.
    public var requestLine = 2048
    /// The maximum number of header fields.
    public var fields = 64
    /// The maximum size of all header fields together, in octets.
    public var fieldOctets = 8192
    /// The maximum size of a body, and of a message by WebSocket, in octets.
    public var bodyOctets = 65_536
    /// The time from the beginning of a connection to its complete request.
    public var requestTime = Microseconds.seconds(5)
    /// The time from the complete request until the answer is written; also the longest time in which a client reads
    /// nothing of a stream that has something for it.
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
    /// The maximum number of connections that are streams: others always have room.
    public var streams = 32
    /// The maximum number of streams of one address.
    public var streamsOfAddress = 16
    /// What waits to be written on a stream beyond this is too much; other parts ask before they add to it.
    public var streamOctets = 262_144
    /// The maximum size of everything that waits to be written, of all connections together.
    public var outputOctets = 32 << 20
    /// A stream on which nothing was sent for so long sends a sign of life.
    public var pulse = Microseconds.seconds(15)
    /// A client by WebSocket that says nothing for so long is gone: it has to answer signs of life.
    public var silence = Microseconds.seconds(50)

    public init() {}
}
