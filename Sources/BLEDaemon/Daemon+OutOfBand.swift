@_spi(HostRunner) import BLE
import BLEHost
import BLEPackets

/// A pairing for which the engine has the out-of-band data of the tool that asks for it.
struct OutOfBandUse {
    let operation: OperationID
    let client: ClientID
    let peer: DeviceAddress
}

/// The engine knows out-of-band data by peer, for whichever client: it has those of a tool only while the tool pairs.
extension Daemon {
    /// - Returns: the peer, if the engine has the tool's data for the pairing that this command begins.
    func giveOutOfBandData(for command: HostCommand, of connection: Connection) -> DeviceAddress? {
        guard case .security(.pair(let link, _)) = command,
            let peer = links.entries.first(where: { $0.information.id == link })?.information.peer
                .withoutIdentityMark,
            let data = connection.tool.outOfBand.data(for: peer), !outOfBandUses.contains(where: { $0.peer == peer })
        else { return nil }
        _ = runner.submit(.security(.setOutOfBandData(peer, data)), from: connection.tool.client)
        return peer
    }

    /// An operation has ended.
    func takeOutOfBandData(after operation: OperationID, _ result: Result<HostResult, HostFailure>) {
        guard let place = outOfBandUses.firstIndex(where: { $0.operation == operation }) else { return }
        let use = outOfBandUses.remove(at: place)
        _ = runner.submit(.security(.setOutOfBandData(use.peer, nil)), from: .local)
        if case .success = result { _ = tools[use.client]?.tool.outOfBand.set(nil, for: use.peer) }
    }
}
