import BLEHost
import BLEPackets

/// A pairing for which the engine has the out-of-band data of the tool that asks for it.
struct OutOfBandUse {
    let operation: OperationID
    let client: ClientID
    let peer: DeviceAddress
}

/// The engine knows out-of-band data by peer, for whichever client: it has those of a tool only while the tool pairs.
extension DaemonCore {
    /// - Returns: the peer, if the engine has the tool's data for the pairing that this command begins.
    mutating func giveOutOfBandData(for command: HostCommand, of tool: ToolClient) -> DeviceAddress? {
        guard case .security(.pair(let link, _)) = command,
            let peer = tools.links.entries.first(where: { $0.information.id == link })?.information.peer
                .withoutIdentityMark, let data = tool.session.outOfBand.data(for: peer),
            !tools.outOfBandUses.contains(where: { $0.peer == peer })
        else { return nil }
        _ = submit(.security(.setOutOfBandData(peer, data)), from: tool.session.client)
        return peer
    }

    /// An operation has ended.
    mutating func takeOutOfBandData(after operation: OperationID, _ result: Result<HostResult, HostFailure>) {
        guard let place = tools.outOfBandUses.firstIndex(where: { $0.operation == operation }) else { return }
        let use = tools.outOfBandUses.remove(at: place)
        _ = submit(.security(.setOutOfBandData(use.peer, nil)), from: .local)
        if case .success = result { _ = connections.tool(use.client)?.session.outOfBand.set(nil, for: use.peer) }
    }
}
