import BLEPackets

/// What a client may ask for on one link.
public enum LinkCommand: Equatable, Sendable {
    /// Releases the link for this client; the link is disconnected when its last client has released it (SPEC CEN-23,
    /// CEN-24).
    case disconnect
    /// Carries out a GATT operation; the operations of a link run in their order. Ends with `HostResult.gatt`.
    case gatt(GATTOperation)
    /// Has the link layer carry out a procedure; ends with the result of that procedure.
    case procedure(LinkProcedure)
}
