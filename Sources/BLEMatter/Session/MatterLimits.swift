import BLEHost

/// The bounds of what a server may use, and the times of the connection with it.
public struct MatterLimits: Equatable, Sendable {
    /// The time in which a connection is established.
    public var openTime = Microseconds.seconds(20)
    /// The time in which the server answers the request for WebSocket, and then Hello.
    public var greetingTime = Microseconds.seconds(10)
    /// After so long without an octet the server is asked whether it is there.
    public var silence = Microseconds.seconds(30)
    /// After so long without an octet the server is gone.
    public var longestSilence = Microseconds.seconds(75)
    /// The time in which the server reads nothing although there is something for it.
    public var stallTime = Microseconds.seconds(30)
    /// The first delay between attempts, and the longest.
    public var shortestPause = Microseconds.seconds(1)
    public var longestPause = Microseconds.seconds(60)
    /// After a session that was longer, the delays begin anew.
    public var goodSession = Microseconds.seconds(60)
    /// The longest message, in octets.
    public var messageOctets = 64 << 10
    /// With more octets waiting for the server, devices are not reported.
    public var advertisementOctets = 64 << 10
    /// With more octets waiting for the server, nothing is read of it.
    public var readingOctets = 256 << 10
    /// With more octets waiting for the server, the connection ends.
    public var octets = 1 << 20
    /// The maximum number of messages without a meaning in a session.
    public var malformedMessages = 64
    /// The maximum number of commands that wait on a link.
    public var commands = 512
    /// The maximum number of devices that are known.
    public var devices = 1024

    public init() {}
}

/// The counters of the proxy since its start.
public struct MatterCounters: Equatable, Sendable {
    /// Attempts to connect.
    public var attempts: UInt64 = 0
    /// Sessions that began.
    public var sessions: UInt64 = 0
    /// Sessions that ended because of what the server sent.
    public var violations: UInt64 = 0
    /// Sessions that ended because the server did not read.
    public var stalls: UInt64 = 0
    /// Messages without a meaning.
    public var malformedMessages: UInt64 = 0
    public var commands: UInt64 = 0
    /// Commands that were answered by an error.
    public var failures: UInt64 = 0
    /// Devices that were reported.
    public var devices: UInt64 = 0
    /// Devices that were not reported because the server did not read in time.
    public var droppedDevices: UInt64 = 0

    public init() {}
}
