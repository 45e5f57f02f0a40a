import BLEHost

/// What one user may change of a link that other users' programs use, too.
extension Daemon {
    /// Whether the command would make a link worse for programs of other users. Operators may.
    func isAtOthersExpense(_ command: HostCommand, of connection: Connection) -> Bool {
        guard case .link(let link, .procedure(let procedure)) = command, !connection.isOperator,
            let entry = links.entries.first(where: { $0.information.id == link }),
            procedure.isAtOthersExpense(entry.information.parameters)
        else { return false }
        let isOther = { (client: ClientID) in self.users[client].map { $0.number != connection.peer.user } ?? false }
        if entry.holders.contains(where: isOther) { return true }
        // Whoever serves has the link of every central.
        guard entry.information.role == .peripheral else { return false }
        return routes.servers.contains(where: isOther)
            || users.keys.contains { lifecycle.apps.manager($0)?.role == .peripheral && isOther($0) }
    }
}

extension LinkProcedure {
    /// Whether it changes how the link works for the worse. Making it faster, or its loss later, harms no other
    /// user of it.
    func isAtOthersExpense(_ now: ConnectionParameters) -> Bool {
        switch self {
        case .updateParameters(let wanted):
            wanted.interval.upperBound.rawValue > now.interval.rawValue
                || wanted.peripheralLatency > now.peripheralLatency
                || wanted.supervisionTimeout.rawValue < now.supervisionTimeout.rawValue
        case .setDataLength, .setPHY, .setSubrate: true
        case .readRSSI, .readRemoteVersion, .readRemoteFeatures, .readPHY, .readTransmitPower, .readRemoteTransmitPower,
            .reportTransmitPower, .monitorPathLoss, .setAuthenticatedPayloadTimeout:
            false
        }
    }
}
