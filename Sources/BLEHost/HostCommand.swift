import BLEPackets

/// What a client may ask of the engine, grouped by the room that carries it out. Each command gets an `OperationID`,
/// which `HostEvent.completed` repeats.
public enum HostCommand: Equatable, Sendable {
    /// Scanning, advertising and connecting.
    case radio(RadioCommand)
    /// A command for one link; fails with `HostFailure.notConnected` if the link is gone.
    case link(LinkID, LinkCommand)
    /// Credit-based channels.
    case channel(ChannelCommand)
    /// The local GATT server.
    case server(ServerCommand)
    /// Pairing, bonds and encryption.
    case security(SecurityCommand)
    /// Ends an operation; does nothing if it has already ended.
    case cancel(OperationID)
    /// `true`: from now on, indications for this client stay unconfirmed, so that their senders wait while it cannot
    /// take more. `false`: they are confirmed again. A peer gives up the link after 30 s without a confirmation.
    case withholdConfirmations(Bool)
    /// Any HCI command with at most 255 octets of parameters; the engine does not interpret it.
    case sendHCICommand(opcode: HCIOpcode, parameters: [UInt8])
    /// Stops scanning, advertising and connecting, ends all links, then reports `HostEvent.stopped`.
    case stop
}
