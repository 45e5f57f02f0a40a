import BLEPackets

/// Which device a client wants to connect to, and how.
public struct ConnectRequest: Hashable, Sendable {
    /// The device; its identity address if its private addresses can be resolved.
    public var peer: DeviceAddress
    /// How often the engine immediately retries a link that could not be established (0x3E) before the operation fails.
    public var establishmentRetries: UInt8
    /// `nil`: the parameters of the engine's `Timing`.
    public var parameters: ConnectionParameterRequest?

    public init(peer: DeviceAddress, establishmentRetries: UInt8 = 5, parameters: ConnectionParameterRequest? = nil) {
        self.peer = peer
        self.establishmentRetries = establishmentRetries
        self.parameters = parameters
    }
}

#if !hasFeature(Embedded) && !JELLING_WITHOUT_CODING
extension ConnectRequest: Codable {}
#endif
