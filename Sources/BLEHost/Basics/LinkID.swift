import BLEPackets

/// Identifies a link. When the controller reuses a handle, the generation changes, so late events never reach the new
/// link.
public struct LinkID: Hashable, Sendable {
    /// The controller's handle of the link, valid while the link lasts.
    public let handle: ConnectionHandle
    /// Distinguishes the link from others that had or will have the same handle.
    public let generation: UInt32

    public init(handle: ConnectionHandle, generation: UInt32) {
        self.handle = handle
        self.generation = generation
    }
}
