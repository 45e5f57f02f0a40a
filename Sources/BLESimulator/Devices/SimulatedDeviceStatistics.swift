import BLEPackets

/// What a simulated device has seen.
public struct SimulatedDeviceStatistics: Equatable, Sendable {
    /// Whether a link stands.
    public var isConnected = false
    /// Whether that link is encrypted.
    public var isEncrypted = false
    /// Links that have been made, the present one among them.
    public var connections = 0
    /// The address that the connected central showed.
    public var peer: DeviceAddress?
    /// As this device's own controller reported it.
    public var lastDisconnectReason: HCIStatus?
    /// `nil` without a link.
    public var parameters: SimulatedLinkParameters?
    /// How the central answered requests for other parameters.
    public var parameterAnswers: [L2CAPConnectionParameterUpdateResponse.Result] = []
    /// ATT_MTU of the present link, in octets.
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

/// What both ends of a link have agreed on in time.
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
