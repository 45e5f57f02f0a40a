import BLEHost
import BLEPackets

/// What a command for a controller is named by until it has ended; each number is used once.
public struct Ticket: Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// An adapter of the daemon that can be used.
public struct AdapterDescription: Sendable {
    /// The N of `hciN`.
    public var number: Int
    public var information: ControllerInformation
    /// Whether this process is an operator of the daemon: others may require nothing of pairings while they serve.
    public var isOperator: Bool
    /// The bonded devices.
    public var bonds: [Bond]
    /// Devices to which programs of the daemon have links.
    public var connectedPeers: [DeviceAddress]
    /// The content of the adapter's file of state; `nil`: there is none.
    public var stored: [UInt8]?

    public init(
        number: Int, information: ControllerInformation, isOperator: Bool = true, bonds: [Bond] = [],
        connectedPeers: [DeviceAddress] = [], stored: [UInt8]? = nil
    ) {
        self.number = number
        self.information = information
        self.isOperator = isOperator
        self.bonds = bonds
        self.connectedPeers = connectedPeers
        self.stored = stored
    }
}

/// What happens to the service: on the bus, at the daemon, on acquired sockets.
public enum BlueZInput: Sendable {
    /// A client calls a method.
    case called(BusCall)
    /// A client has answered a call of the service.
    case answered(QuestionID, Result<[BusValue], BusError>)
    /// A client that `BlueZEffect.watch` named has left the bus.
    case clientLeft(String)
    /// A client that `BlueZEffect.watch` named has sent a signal about its objects.
    case signalled(String, BusSignal)
    /// The daemon's adapter can be used.
    case adapterReady(AdapterDescription)
    /// The connection to the daemon has ended.
    case adapterLost(Int)
    /// An event of the daemon's engine, but for `completed` and `advertisingSet`.
    case event(Int, HostEvent)
    case advertisingSet(Ticket, AdvertisingSetEvent)
    /// A command has ended.
    case completed(Int, Ticket, Result<HostResult, HostFailure>)
    /// A client has written a value into a socket that it acquired.
    case socketReceived(SocketID, [UInt8])
    /// A client has closed a socket that it acquired.
    case socketClosed(SocketID)
}
