import BLEPackets

/// One link and no other: a handle that the controller gives out again gets a new generation, so that whatever is late
/// never reaches the newer link.
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
