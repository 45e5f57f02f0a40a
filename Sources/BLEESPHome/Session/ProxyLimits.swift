import BLEHost

/// The bounds of what clients of the proxy may use.
public struct ProxyLimits: Equatable, Sendable {
    /// The maximum number of clients.
    public var clients = 24
    /// The maximum number of clients of one address.
    public var clientsOfAddress = 12
    /// The time from the beginning of a connection to its Hello.
    public var greetingTime = Microseconds.seconds(12)
    /// After so long without a message a client is asked whether it is there.
    public var silence = Microseconds.seconds(60)
    /// After so long without a message a client is gone.
    public var longestSilence = Microseconds.seconds(150)
    /// The time in which a client reads nothing although there is something for it.
    public var stallTime = Microseconds.seconds(30)
    /// The time in which the last octets for a client are written.
    public var closingTime = Microseconds.seconds(5)
    /// With more octets waiting for a client, advertisements for it are dropped.
    public var advertisementOctets = 64 << 10
    /// With more octets waiting for a client, nothing is read of it.
    public var readingOctets = 256 << 10
    /// With more octets waiting for a client, its connection ends.
    public var octets = 1 << 20
    /// The maximum number of advertisements in a message, and the longest time in which they are gathered.
    public var batchCount = 16
    public var batchTime = Microseconds.milliseconds(100)

    public init() {}
}

/// The counters of a proxy since its start.
public struct ProxyCounters: Equatable, Sendable {
    /// Clients that connected.
    public var connections: UInt64 = 0
    /// Clients that were refused or sent away because of a limit.
    public var refusals: UInt64 = 0
    /// Connections that ended because of what the client sent.
    public var violations: UInt64 = 0
    /// Connections that ended because the client had another key, or none.
    public var wrongKeys: UInt64 = 0
    /// Connections that ended because the client did not read.
    public var stalls: UInt64 = 0
    /// Messages of advertisements that were sent.
    public var batches: UInt64 = 0
    /// Messages of advertisements that were dropped because a client did not read them in time.
    public var droppedBatches: UInt64 = 0

    public init() {}
}
