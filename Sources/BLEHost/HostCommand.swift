import BLEPackets

/// What a client may ask of the engine, by the room that carries it out. Each command gets an `OperationID`, by which
/// its completion is reported.
public enum HostCommand: Equatable, Sendable {
    /// Scanning, advertising and connecting.
    case radio(RadioCommand)
    /// Something on one link; fails with `HostFailure.notConnected` where it is gone.
    case link(LinkID, LinkCommand)
    /// Credit-based channels.
    case channel(ChannelCommand)
    /// The local GATT server.
    case server(ServerCommand)
    /// Pairing, bonds and encryption.
    case security(SecurityCommand)
    /// Ends an operation that has not ended yet; nothing happens when it has.
    case cancel(OperationID)
    /// Leaves indications of values that this client holds unconfirmed from now on, or confirms again: their senders
    /// wait while it cannot take more. A peer gives the link up after 30 s without a confirmation.
    case holdIndications(Bool)
    /// Any HCI command with at most 255 octets of parameters; the engine does not interpret it.
    case sendHCICommand(opcode: HCIOpcode, parameters: [UInt8])
    /// Stops scanning and connecting, ends all links, then tells `HostEvent.stopped`.
    case stop
}
