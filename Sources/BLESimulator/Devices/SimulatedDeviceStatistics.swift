import BLEPackets

/// What a simulated device has seen.
public struct SimulatedDeviceStatistics: Equatable, Sendable {
    public var isConnected = false
    public var isEncrypted = false
    public var connections = 0
    /// The address that the connected central showed.
    public var peer: DeviceAddress?
    /// As this device's own controller reported it.
    public var lastDisconnectReason: HCIStatus?
    /// `nil` without a link.
    public var parameters: SimulatedLinkParameters?
    /// How the central answered wishes for other parameters.
    public var parameterAnswers: [L2CAPConnectionParameterUpdateResponse.Result] = []
    public var mtu = 23
    public var requests = 0
    /// Values that write requests and executed prepared writes have stored.
    public var writes = 0
    public var writeCommands = 0
    public var notifications = 0
    public var indications = 0
    public var confirmations = 0

    public init() {}
}

/// What both ends of a link have agreed on in time.
public struct SimulatedLinkParameters: Hashable, Sendable {
    public var interval: ConnectionInterval
    /// Connection events that the peripheral may skip.
    public var latency: UInt16
    public var supervisionTimeout: SupervisionTimeout

    init(_ parameters: LinkParameters) {
        interval = parameters.interval
        latency = parameters.latency
        supervisionTimeout = parameters.supervisionTimeout
    }
}
