import BLEPackets

/// Everything that can happen to an engine. The same inputs at the same times give the same packets in every process,
/// so a recording is a configuration and a list of inputs.
public enum HostInput: Equatable, Sendable {
    /// The transport can carry packets.
    case transportOpened
    /// The transport is gone.
    case transportClosed
    /// The transport has lost packets of the controller, and goes on.
    case packetsLost
    /// One H4 packet from the controller.
    case packet([UInt8])
    /// A client's command.
    case command(HostCommand, ClientID)
    /// The answer to the `PendingCryptoRequest` with this number.
    case cryptoProvider(UInt64, CryptoResult)
    /// The user for whom a client works from now on; `nil`: it has gone.
    case user(ClientUser?, ClientID)
    /// Another controller may be behind the transport that is opened next.
    case expectController(ControllerIdentity?, ControllerExperience)
    /// The owner resets the device, and closes the transport for that.
    case expectReset
    /// Time has passed.
    case advance
}

extension Host {
    /// Applies an input like the method of the same name.
    /// - Returns: the operation, for a command.
    @discardableResult
    public mutating func apply(_ input: HostInput, at now: Instant) -> OperationID? {
        switch input {
        case .transportOpened: transportOpened(at: now)
        case .transportClosed: transportClosed(at: now)
        case .packetsLost: packetsLost(at: now)
        case .packet(let bytes): receive(bytes.span.bytes, at: now)
        case .command(let command, let client): return submit(command, from: client, at: now)
        case .cryptoProvider(let question, let result): answer(question, with: result, at: now)
        case .user(let user, let client): setUser(user, of: client, at: now)
        case .expectController(let identity, let experience): expectController(identity, experience)
        case .expectReset: expectReset(at: now)
        case .advance: advance(to: now)
        }
        return nil
    }
}
