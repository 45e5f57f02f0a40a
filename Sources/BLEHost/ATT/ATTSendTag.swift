/// What a PDU is, so that its sender can get a report when the controller has it.
public enum ATTSendTag: Equatable, Sendable {
    /// A request, a confirmation or a response of the client: its sending is not reported.
    case none
    /// A write command: `commandSent` is called when the controller has it.
    case command(OperationID)
    /// A PDU of our attribute server, which gets a report when the controller has it.
    case server(GATTServerSendTag)
    /// A frame of the credit-based channel with this number.
    case channel(UInt32)
}

/// What a PDU of the server is.
public enum GATTServerSendTag: Equatable, Sendable {
    /// The response to a request, or an Error Response.
    case response
    /// A value that the client does not confirm.
    case notification
    /// Several values in one PDU.
    case notifications
    /// A value that the client has to confirm.
    case indication
}
