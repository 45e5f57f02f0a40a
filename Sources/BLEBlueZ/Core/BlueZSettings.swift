import BLEHost
import BLEPackets

/// What the service is started with.
public struct BlueZSettings: Sendable {
    /// The name of adapters without an alias: the name of the machine.
    public var hostName: String
    /// Whether interfaces are shown that BlueZ shows only if it is asked for experimental ones.
    public var isExperimental = false
    /// How long a connection may take.
    public var connectionLimit = Microseconds(rawValue: 20_000_000)
    /// How long a device that was only found stays after it was last seen.
    public var temporaryLimit = Microseconds(rawValue: 30_000_000)
    /// How long a client may take to answer a call: people type passkeys.
    public var questionLimit = Microseconds(rawValue: 60_000_000)
    /// How many calls of one client may wait for a reply.
    public var callsOfClient = 256
    /// How many calls of all clients of one user may wait.
    public var callsOfUser = 1024
    /// How many connections may be in the making, in places that users share.
    public var connections = 32
    /// How many operations for calls may be under way at the daemon, which accepts 256 requests of a program. Users
    /// share them; the rest is for what must always pass.
    public var requests = 160
    /// How many values from acquired sockets may be on their way, in places that users share; further ones wait. They
    /// are counted apart from calls: what a device that hangs does not take leaves calls their places.
    public var socketWrites = 40
    /// How many of them to one device, whose link has a queue for its commands.
    public var socketWritesOfDevice = 12
    /// With so many requests under way, only those pass that are not about attributes: the ends of links do.
    public var requestsOfAll = 224
    /// How many sessions, registrations and other things that end with a client may one have, and one user.
    public var wishesOfClient = 256
    public var wishesOfUser = 512
    /// How many acquired sockets there may be, and how many of one user.
    public var sockets = 512
    public var socketsOfUser = 128
    /// Users without limits of their own: they could take everything anyhow.
    public var trustedUsers: Set<UInt32> = [0]
    /// How many devices an adapter may have that were only found.
    public var temporaryDevices = 2048

    public init(hostName: String) { self.hostName = hostName }
}
