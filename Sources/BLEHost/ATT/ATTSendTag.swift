/// What a PDU is to its sender.
public enum ATTSendTag: Equatable, Sendable {
    /// A request, a confirmation or a response: its sending is not reported.
    case none
    /// A write command: `commandSent` follows when the controller has it.
    case command(OperationID)
    /// What our attribute server sends; it is told when the controller has it.
    case server(GATTServerSendTag)
    /// A frame of the credit-based channel of this number.
    case channel(UInt32)
}

/// What a PDU is to the server that sent it.
public enum GATTServerSendTag: Equatable, Sendable {
    /// The answer to a request; also an error.
    case response
    /// A value without a confirmation.
    case notification
    /// A value that the client has to confirm.
    case indication
}
