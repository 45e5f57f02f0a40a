import BLEPackets

/// Counters and the current link of a simulated device.
public struct SimulatedDeviceStatistics: Equatable, Sendable {
    /// Whether the device is connected.
    public var isConnected = false
    /// Whether that link is encrypted.
    public var isEncrypted = false
    /// The number of links so far, including the current one.
    public var connections = 0
    /// The address of the connected central.
    public var peer: DeviceAddress?
    /// The reason of the last disconnection, as this device's controller reported it.
    public var lastDisconnectReason: HCIStatus?
    /// The connection parameters; `nil` without a link.
    public var parameters: SimulatedLinkParameters?
    /// How the central answered requests for other parameters.
    public var parameterAnswers: [L2CAPConnectionParameterUpdateResponse.Result] = []
    /// The ATT_MTU of the current link, in octets.
    public var mtu = 23
    /// ATT requests of centrals.
    public var requests = 0
    /// Values that write requests and executed prepared writes have stored.
    public var writes = 0
    /// Values that write commands have stored.
    public var writeCommands = 0
    /// Values sent without confirmation.
    public var notifications = 0
    /// Values sent with confirmation.
    public var indications = 0
    /// Confirmations of centrals.
    public var confirmations = 0

    /// All zero, without a link.
    public init() {}
}

/// The connection parameters of a link.
public struct SimulatedLinkParameters: Hashable, Sendable {
    /// Time between the starts of two connection events.
    public var interval: ConnectionInterval
    /// Connection events that the peripheral may skip.
    public var latency: UInt16
    /// How long the link may be silent before it counts as lost.
    public var supervisionTimeout: SupervisionTimeout

    init(_ parameters: LinkParameters) {
        interval = parameters.interval
        latency = parameters.latency
        supervisionTimeout = parameters.supervisionTimeout
    }
}
