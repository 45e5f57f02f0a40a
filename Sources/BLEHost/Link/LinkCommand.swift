import BLEPackets

/// What a client may ask of one link.
public enum LinkCommand: Equatable, Sendable {
    /// Releases the link for this client; the link is disconnected when its last client has released it (SPEC CEN-23,
    /// CEN-24).
    case disconnect
    /// Carries out a GATT operation; those of a link are carried out in their order. Ends with `HostResult.gatt`.
    case gatt(GATTOperation)
    /// Has the link layer carry out a procedure; ends with its result.
    case procedure(LinkProcedure)
}
