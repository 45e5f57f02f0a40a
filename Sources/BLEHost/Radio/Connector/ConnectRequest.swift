import BLEPackets

/// Which device a client wants to connect to, and how.
public struct ConnectRequest: Hashable, Sendable {
    /// The device; its identity where its private addresses are known.
    public var peer: DeviceAddress
    /// How often a link that could not be established (0x3E) is tried again at once before the operation fails.
    public var establishmentRetries: UInt8
    /// `nil`: as the engine's `Timing` says.
    public var parameters: ConnectionParameterRequest?

    public init(peer: DeviceAddress, establishmentRetries: UInt8 = 5, parameters: ConnectionParameterRequest? = nil) {
        self.peer = peer
        self.establishmentRetries = establishmentRetries
        self.parameters = parameters
    }
}

#if !hasFeature(Embedded)
extension ConnectRequest: Codable {}
#endif
