import BLEHost

/// The tools that an event concerns although it does not name them.
struct ToolRoutes {
    /// The tools that have begun to serve, in the order in which they did; some may have left.
    private(set) var servers: [ClientID] = []
    /// The owners of open channels.
    private var owners: [ChannelID: ClientID] = [:]

    mutating func serves(_ client: ClientID, isHere: (ClientID) -> Bool) {
        servers.removeAll { $0 == client || !isHere($0) }
        servers.append(client)
    }

    /// A tool's operation has completed.
    mutating func completed(_ result: Result<HostResult, HostFailure>, for client: ClientID) {
        switch result {
        case .success(.channel(let channel)): owners[channel.id] = client
        case .success(.channels(let opened)): for channel in opened { owners[channel.id] = client }
        case .success, .failure: break
        }
    }

    /// The owner of the channel that an event is about; `nil` if it is none of a tool.
    mutating func owner(of event: ChannelEvent) -> ClientID? {
        switch event {
        case .opened(let channel, let client):
            if client.isTool { owners[channel.id] = client }
            return client
        case .reconfigured(let channel): return owners[channel.id]
        case .received(let channel, _): return owners[channel]
        case .closed(let channel, _): return owners.removeValue(forKey: channel)
        }
    }
}
