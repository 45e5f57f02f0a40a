import BLEPackets

/// Whom an event of the engine concerns.
public enum HostAudience: Equatable, Sendable {
    /// The owner of the engine.
    case owner
    /// The owner and every client: the state of the controller or the bonds have changed.
    case everyone
    /// The client that submitted this operation.
    case operation(OperationID)
    case client(ClientID)
    case clients([ClientID])
    /// The clients whose scans have found a device (`Discovery`).
    case scanners
    /// The clients that have this link.
    case holders(LinkID)
    /// The clients that have asked for reports about this link.
    case observers(LinkID)
    /// The clients that use this link, as far as they take part in pairing.
    case pairing(LinkID)
    /// The clients that publish services or listen for channels.
    case servers
    /// The client that has this channel.
    case channel(ChannelID)
    /// No client; for logs.
    case log
}

extension GATTServerEvent {
    /// The client whose service it is about; `nil`: it concerns all that have services.
    public var owner: ClientID? {
        switch self {
        case .read(let request): request.owner
        case .write(let request): request.owner
        case .subscribed(let subscription), .unsubscribed(let subscription): subscription.owner
        case .stored, .confirmed, .fellBehind, .readyToUpdate, .requestExpired: nil
        }
    }
}

extension ChannelEvent {
    var audience: HostAudience {
        switch self {
        case .opened(_, let client): .client(client)
        case .reconfigured(let channel): .channel(channel.id)
        case .received(let channel, _), .closed(let channel, _): .channel(channel)
        }
    }
}
