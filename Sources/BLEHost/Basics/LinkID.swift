import BLEPackets

/// Identifies a link. When the controller reuses a handle, the generation changes, so late events never reach the new
/// link.
public struct LinkID: Hashable, Sendable {
    /// As the controller names the link while it lasts.
    public let handle: ConnectionHandle
    /// Tells the link from others that had or get the same handle.
    public let generation: UInt32

    public init(handle: ConnectionHandle, generation: UInt32) {
        self.handle = handle
        self.generation = generation
    }
}

#if !hasFeature(Embedded)
extension LinkID: Codable {}
#endif
