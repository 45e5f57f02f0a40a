@_spi(HostRunner) import BLE
import BLEHost
import BLEPackets

/// What tools ask of the radio and of links that all clients share.
extension Daemon {
    /// A tool's command as the engine carries it out.
    /// - Returns: `nil` if another client has what it asks for.
    func shared(_ command: HostCommand, from client: ClientID) -> HostCommand? {
        switch command {
        case .link(let link, .procedure(let procedure)):
            return watches.take(procedure, on: link, from: client).map { .link(link, .procedure($0)) }
        case .radio(.classifyChannels(let map)):
            // The engine refuses a map with less.
            guard map.rawValue.nonzeroBitCount >= 2 else { return command }
            channelMaps.removeAll { $0.client == client }
            channelMaps.append((client, map))
            return command
        default: return command
        }
    }

    /// The engine has accepted a tool's command, `submitted` in place of `asked`.
    func noteShared(
        _ asked: HostCommand, as submitted: HostCommand, _ operation: OperationID, from client: ClientID
    ) {
        guard case .link(let link, .procedure(let asked)) = asked,
            case .link(_, .procedure(let submitted)) = submitted
        else { return }
        watches.began(asked, as: submitted, on: link, from: client, operation)
        links.note(asked, on: link, configuration.adapter.timing)
    }

    /// A tool has left: nothing that it wanted of links and channels holds any more.
    /// - Returns: the operations that see to it.
    func releaseShared(of client: ClientID) -> [OperationID] {
        var commands = releases(watches.released(nil, by: client))
        let hadChannels = channelMaps.last?.client == client
        channelMaps.removeAll { $0.client == client }
        if hadChannels { commands.append(.radio(.classifyChannels(channelMaps.last?.map ?? .all))) }
        // The client's own operations are being cancelled.
        return commands.map { runner.submit($0, from: .local) }
    }

    /// A client has let go of a link.
    func released(_ link: LinkID, by client: ClientID) {
        for command in releases(watches.released(link, by: client)) { _ = runner.submit(command, from: .local) }
    }

    /// Links that end for a client, or altogether.
    func hearOfWatches(_ event: HostEvent) {
        switch event {
        case .disconnected(let link, let client, _):
            released(link, by: client)
            if !links.entries.contains(where: { $0.information.id == link }) { watches.ended(link) }
        case .centralDisconnected(let link, _): watches.ended(link)
        case .completed(let operation, let result):
            if let (link, procedure) = watches.completed(operation, isSuccess: result.isSuccess) {
                _ = runner.submit(.link(link, .procedure(procedure)), from: .local)
            }
        default: break
        }
    }

    private func releases(_ changes: [(LinkID, LinkProcedure)]) -> [HostCommand] {
        changes.map { .link($0.0, .procedure($0.1)) }
    }
}
