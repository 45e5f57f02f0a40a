import BLEHost
import BLEPackets

/// What one user may change of a link that other users' programs use, too.
extension DaemonCore {
    /// Whether the command would make a link worse for programs of other users. Operators may.
    func isAtOthersExpense(_ command: HostCommand, of connection: Connection) -> Bool {
        guard case .link(let link, .procedure(let procedure)) = command, !connection.isOperator,
            let entry = tools.links.entries.first(where: { $0.information.id == link }),
            procedure.isAtOthersExpense(entry.information.parameters)
        else { return false }
        let (users, user) = (tools.users, connection.peer.user)
        let isOther = { (client: ClientID) in users[client].map { $0.number != user } ?? false }
        if entry.holders.contains(where: isOther) { return true }
        // Whoever serves has the link of every central.
        guard entry.information.role == .peripheral else { return false }
        return tools.routes.servers.contains(where: isOther)
            || users.keys.contains { apps.lifecycle.apps.manager($0)?.role == .peripheral && isOther($0) }
    }

    /// A client has a link. Where only programs of other users had it, it becomes as fast as links usually are here: who
    /// came first may have made it as slow as can be.
    mutating func quicken(_ link: LinkInformation, for client: ClientID) {
        guard link.role == .central, let user = tools.users[client]?.number,
            let entry = tools.links.entries.first(where: { $0.information.id == link.id })
        else { return }
        let others = entry.holders.filter { $0 != client }.compactMap { tools.users[$0]?.number }
        guard !others.isEmpty, !others.contains(user) else { return }
        let timing = rules.timing
        var procedures = entry.hindrances.compactMap { $0.undone(timing) }
        if let wish = entry.information.parameters.quickened(timing) { procedures.append(.updateParameters(wish)) }
        tools.links.forgetHindrances(of: link.id)
        for procedure in procedures { _ = submit(.link(link.id, .procedure(procedure)), from: .local) }
    }
}

extension ConnectionParameters {
    /// What to ask for so that a link becomes as fast as it would usually be; `nil`: it is.
    func quickened(_ timing: Timing) -> ConnectionParameterRequest? {
        let isSlow = interval > timing.connectionInterval.upperBound
        guard isSlow || peripheralLatency > timing.peripheralLatency || supervisionTimeout < timing.supervisionTimeout
        else { return nil }
        return ConnectionParameterRequest(
            interval: isSlow ? timing.connectionInterval : interval...interval,
            peripheralLatency: min(peripheralLatency, timing.peripheralLatency),
            supervisionTimeout: max(supervisionTimeout, timing.supervisionTimeout))
    }
}

extension LinkProcedure {
    /// What ends its effect for those who come later; `nil`: it has none, or the parameters say so.
    func undone(_ timing: Timing) -> LinkProcedure? {
        switch self {
        case .setDataLength: .setDataLength(octets: 251, microseconds: 17_040)
        case .setPHY: .setPHY(transmit: [.le1M, .le2M], receive: [.le1M, .le2M])
        case .setSubrate:
            .setSubrate(
                SubrateParameters(minimumFactor: 1, maximumFactor: 1, supervisionTimeout: timing.supervisionTimeout))
        default: nil
        }
    }

    /// Whether it changes how the link works for the worse. Making it faster, or its loss later, harms no other
    /// user of it.
    func isAtOthersExpense(_ now: ConnectionParameters) -> Bool {
        switch self {
        case .updateParameters(let wanted):
            wanted.interval.upperBound.rawValue > now.interval.rawValue
                || wanted.peripheralLatency > now.peripheralLatency
                || wanted.supervisionTimeout.rawValue < now.supervisionTimeout.rawValue
        default: changesLink
        }
    }
}
