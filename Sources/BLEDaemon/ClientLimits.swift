import BLEDaemonProtocol

/// What clients may have. One that goes beyond harms itself alone: it is refused, or its connection ends.
public struct ClientLimits: Sendable {
    /// Octets of one message to the daemon.
    public var messageOctets = BledProtocol.requestLimit
    /// Requests of one client that have not completed.
    public var requests = 256
    /// Octets that wait for a client to read them before its discoveries are dropped and counted.
    public var waitingDiscoveryOctets = 128 * 1024
    /// Octets that wait for a client to read them before its connection ends.
    public var waitingOctets = 512 * 1024
    /// Managers that one app may have at a time.
    public var managers = 16
    /// Names of apps of one user that the daemon has ever been told.
    public var appsOfUser = 64
    /// Connections of all users together.
    public var clients = 128
    /// Connections of one user.
    public var clientsOfUser = 32
    /// Microseconds in which a client has to greet.
    public var greetingMicroseconds: Int64 = 5_000_000

    public init() {}
}
