import BLEPackets

/// Which device a client wants to connect to, and how.
public struct ConnectRequest: Hashable, Sendable {
    /// The device; its identity address if its private addresses can be resolved.
    public var peer: DeviceAddress
    /// How often the engine immediately retries a link that could not be established (0x3E) before the operation fails.
    public var establishmentRetries: UInt8
    /// `nil`: the parameters of the engine's `Timing`.
    public var parameters: ConnectionParameterRequest?
    /// The PHYs on which the device is looked for (LE 1M and LE Coded) and on which the link may begin (LE 2M, too);
    /// `nil`: LE 1M. A controller uses those that it supports, and at least LE 1M or LE Coded. For requests that wait
    /// together, the PHYs of all of them are used.
    public var phys: PHYSet?
    /// How the parameters follow what runs on the link; `nil`: the pace of the engine's `Timing`. The link begins with
    /// `parameters`, or with those of a busy link.
    public var pace: LinkPace?
    /// How requests of the device for other parameters are answered; `nil`: by the policy of the engine's `Timing`. Of
    /// several requests the latest with a policy counts, also one to a device that is connected already.
    public var parameterPolicy: ParameterPolicy?
    /// How many enhanced attribute bearers to open once the link is encrypted, to 5, also without
    /// `HostConfiguration.enhancedBearers`; `nil`: as many as that says. Of several requests the greatest number
    /// counts.
    public var enhancedBearers: UInt8?
    /// For whom the client asks, if it asks for others, as a service does; `nil`: for its own user (`Host.setUser`).
    /// Users have equal turns where the controller cannot look for all devices at once.
    public var user: ClientUser?

    public init(peer: DeviceAddress, establishmentRetries: UInt8 = 5, parameters: ConnectionParameterRequest? = nil) {
        self.peer = peer
        self.establishmentRetries = establishmentRetries
        self.parameters = parameters
    }
}
