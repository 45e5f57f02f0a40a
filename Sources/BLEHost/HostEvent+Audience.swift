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

extension HostEvent {
    /// Whom the event concerns. A new event gets its audience here; owners then receive it by that, or ignore it.
    public var audience: HostAudience {
        switch self {
        case .failed, .reopenTransport, .stopped: .owner
        case .ready, .recovering, .advertisingChanged, .bondChanged, .bondRemoved: .everyone
        case .completed(let operation, _): .operation(operation)
        case .connected(_, let client), .disconnected(_, let client, _), .advertisingSet(_, let client, _),
            .advertisingRoom(_, let client, _), .train(_, let client, _):
            .client(client)
        case .gatt(_, .notification(let value)): .clients(value.clients)
        case .discovered: .scanners
        case .gatt(let link, _), .encryptionChanged(let link, _), .cleartextRefused(let link, _),
            .connectionParametersChanged(let link, _), .phyChanged(let link, _, _), .dataLengthChanged(let link, _),
            .subrateChanged(let link, _):
            .holders(link)
        case .linkReport(let link, _): .observers(link)
        case .pairing(let link, _): .pairing(link)
        case .centralConnected, .centralDisconnected: .servers
        case .server(let event): event.owner.map { .client($0) } ?? .servers
        case .channel(let event): event.audience
        case .identityFound, .ambiguousIdentity, .malformedPacket: .log
        }
    }
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
    fileprivate var audience: HostAudience {
        switch self {
        case .opened(_, let client): .client(client)
        case .reconfigured(let channel): .channel(channel.id)
        case .received(let channel, _), .closed(let channel, _): .channel(channel)
        }
    }
}
