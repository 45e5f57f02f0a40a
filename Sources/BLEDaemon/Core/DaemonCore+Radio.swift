import BLEHost
import BLEPackets

/// What tools ask of the radio and of links that all clients share.
extension DaemonCore {
    /// A tool's command as the engine carries it out.
    /// - Returns: `nil` if another client has what it asks for.
    mutating func shared(_ command: HostCommand, from client: ClientID) -> HostCommand? {
        switch command {
        case .link(let link, .procedure(let procedure)):
            return tools.watches.take(procedure, on: link, from: client).map { .link(link, .procedure($0)) }
        case .radio(.classifyChannels(let map)):
            // The engine refuses a map with less.
            guard map.rawValue.nonzeroBitCount >= 2 else { return command }
            tools.channelMaps.removeAll { $0.client == client }
            tools.channelMaps.append((client, map))
            return command
        default: return command
        }
    }

    /// The engine has accepted a tool's command, `submitted` in place of `asked`.
    mutating func noteShared(
        _ asked: HostCommand, as submitted: HostCommand, _ operation: OperationID, from client: ClientID
    ) {
        guard case .link(let link, .procedure(let asked)) = asked, case .link(_, .procedure(let submitted)) = submitted
        else { return }
        tools.watches.began(asked, as: submitted, on: link, from: client, operation)
        tools.links.note(asked, on: link, rules.timing)
    }

    /// A tool has left: nothing that it wanted of links and channels counts any more.
    /// - Returns: the operations that see to it.
    mutating func releaseShared(of client: ClientID) -> [OperationID] {
        var commands = releases(tools.watches.released(nil, by: client))
        let hadChannels = tools.channelMaps.last?.client == client
        tools.channelMaps.removeAll { $0.client == client }
        if hadChannels { commands.append(.radio(.classifyChannels(tools.channelMaps.last?.map ?? .all))) }
        // The client's own operations are being cancelled.
        return commands.map { submit($0, from: .local) }
    }

    /// A client has let go of a link.
    mutating func released(_ link: LinkID, by client: ClientID) {
        for command in releases(tools.watches.released(link, by: client)) { _ = submit(command, from: .local) }
    }

    /// Links that end for a client, or altogether.
    mutating func noteWatches(_ event: HostEvent) {
        switch event {
        case .disconnected(let link, let client, _):
            released(link, by: client)
            if !tools.links.entries.contains(where: { $0.information.id == link }) { tools.watches.ended(link) }
        case .centralDisconnected(let link, _): tools.watches.ended(link)
        case .completed(let operation, let result):
            if let (link, procedure) = tools.watches.completed(operation, isSuccess: result.isSuccess) {
                _ = submit(.link(link, .procedure(procedure)), from: .local)
            }
        default: break
        }
    }

    private func releases(_ changes: [(LinkID, LinkProcedure)]) -> [HostCommand] {
        changes.map { .link($0.0, .procedure($0.1)) }
    }
}
