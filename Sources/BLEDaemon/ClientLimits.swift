import BLEAppLifecycle
import BLEMessages
import Glibc

/// The limits of clients. A client that exceeds one harms only itself: its request is refused, or its connection ends.
/// `UserQuota` limits what the tools and the apps that are not installed of one user have together.
public struct ClientLimits: Hashable, Sendable {
    /// The maximum length of a message to the daemon, in octets.
    public var messageOctets = BledProtocol.requestLimit
    /// Incomplete requests of one client.
    public var requests = 256
    /// Octets in the requests of one client that have not ended: values that are written, units of channels,
    /// advertisements, services that are being published, and whatever else makes a request long.
    public var requestOctets = 2 * 1024 * 1024
    /// Octets that may wait for a client to read; beyond this, its discoveries are dropped and counted.
    public var waitingDiscoveryOctets = 128 * 1024
    /// Octets that may wait for a client to read; beyond this, its connection ends.
    public var waitingOctets = 512 * 1024
    /// Octets of packets that may wait for an operator to read; further packets are dropped and counted.
    var waitingTrafficOctets: Int { heardOctets / 5 * 4 }
    /// Octets that may wait for a client whose requests are heard: more than what it is told unasked alone fills, so
    /// that a client that reads it too slowly can still end it. `UnreadCredit` says how often.
    var heardOctets: Int { (waitingDiscoveryOctets + waitingOctets) / 2 }
    /// Scans of one tool at a time: each report of a device is compared with all of them.
    public var scans = 8
    /// Advertisements of one tool at a time.
    public var advertisements = 8
    /// Published services of one tool or app.
    public var services = 64
    /// Attributes in the services of one tool or app, of the 65,535 that all share.
    public var attributes = 2048
    /// Channels of one tool or app, open or being opened, and SPSMs on which it listens.
    public var channels = 16
    /// Advertising sets of one tool at a time.
    public var sets = 4
    /// Requests of one tool for periodic trains at a time.
    public var trains = 8
    /// Managers that one app may have at a time.
    public var managers = 16
    /// Different app names of one user that run or have left something.
    public var appsOfUser = 64
    /// How long a woken app may run, in seconds, unless its manifest says otherwise.
    public var wakeSeconds = 10
    /// How long a woken app may stay idle, in seconds: with all events handled, all requests of centrals answered and no
    /// task. `nil`: for the rest of its time.
    public var idleSeconds: Int?
    /// What may wait for an app that does not receive its events, in octets (SPEC 5.5 rule 2). By default a 1024th of the
    /// machine's memory, from 1 to 8 MiB.
    public var queuedOctets = ClientLimits.shareOfMemory
    /// What may wait for all apps of one user; `nil`: `factorOfUser` times as much.
    public var queuedOctetsOfUser: Int?
    /// How many times what one program may have those of a user may have together.
    static let factorOfUser = 4
    /// Connections of all users together.
    public var clients = 128
    /// Connections of one user.
    public var clientsOfUser = 32
    /// The time in which a client must send its greeting, in microseconds.
    public var greetingMicroseconds: Int64 = 5_000_000

    public init() {}

    private static let shareOfMemory: Int = {
        let octets = sysconf(Int32(_SC_PHYS_PAGES)).multipliedReportingOverflow(by: sysconf(Int32(_SC_PAGESIZE)))
        return octets.overflow ? 8 << 20 : min(max(octets.partialValue / 1024, 1 << 20), 8 << 20)
    }()
}

extension ClientLimits {
    /// The part of them that a client receives.
    var ofWelcome: Welcome.Limits {
        var told = Welcome.Limits()
        (told.messageOctets, told.requests, told.advertisements) = (messageOctets, requests, advertisements)
        (told.services, told.attributes, told.channels) = (services, attributes, channels)
        (told.sets, told.trains) = (sets, trains)
        return told
    }
}

extension LifecycleSettings {
    mutating func limit(_ limits: ClientLimits) {
        servicesOfApp = limits.services
        attributesOfApp = limits.attributes
        channelsOfApp = limits.channels
        waitingOctetsOfApp = limits.requestOctets
        // Every link that an app gets is searched for them.
        watchedServicesOfApp = 64
        watchedServices = 1024
        wakeBudget = .seconds(Int32(clamping: limits.wakeSeconds))
        idleSpan = limits.idleSeconds.map { .seconds(Int32(clamping: $0)) }
        queuedOctetLimit = limits.queuedOctets
        queuedOctetLimitOfUser = limits.queuedOctetsOfUser ?? limits.queuedOctets * ClientLimits.factorOfUser
    }
}
