import BLEMessages
import BLETransport
import Glibc

/// What the users of programs may do, and programs whose users may do less than before.
extension Daemon {
    /// Root, the daemon's own user, and the members of the group of operators.
    func isOperator(_ peer: PeerCredentials) -> Bool {
        guard peer.user != 0, peer.user != geteuid() else { return true }
        guard let group = configuration.operatorGroup else { return false }
        return peer.group == group || peer.otherGroups.contains(group)
    }

    /// Whether the user may connect with any program.
    func isAllowed(_ peer: PeerCredentials) -> Bool { isOperator(peer) || configuration.users.contains(peer.user) }

    /// After a change of the configuration or of manifests: ends sessions that have rights which their users no longer
    /// have, and changes those of apps, which continue.
    func takeRightsAway() {
        guard !connections.isEmpty else { return }
        for connection in connections {
            let (peer, app) = (connection.peer, connection.appID.flatMap { installed[$0] })
            let isOperator = isOperator(peer)
            let isAllowed = isAllowed(peer)
            if connection.app != nil, app != nil || isAllowed {
                connection.isOperator = isOperator
                connection.isOfAllowedUser = isAllowed
                connection.app?.isOperator = isOperator
                if let app { apply(app, to: connection) }
                if let app = connection.appID { nameUser(of: app) }
                look(at: connection)
            } else if connection.isOfAllowedUser && !isAllowed || !isAllowed && !installed.users.contains(peer.user) {
                refuse(connection, "user \(peer.user) may no longer use this daemon")
            } else if connection.isOperator && !isOperator {
                refuse(connection, "user \(peer.user) is no longer an operator of this daemon")
            }
        }
        // What those require who are no longer operators does not hold for others any more.
        if isReady { setPairing() }
        pump()
    }

    /// An app that runs gets what its manifest says now.
    private func apply(_ app: InstalledApp, to connection: Connection) {
        connection.app?.restrict(to: app.roles)
        connection.app?.mayPair = app.mayPair
        guard !app.mayPair, connection.pairing != nil else { return }
        connection.pairing = nil
        if isReady { setPairing() }
    }

    /// Ends a connection of any kind, and says why.
    func refuse(_ connection: Connection, _ text: String) {
        if connection.app != nil {
            connection.app?.refuse(.notAllowed, text)
        } else if connection.operating != nil {
            connection.operating?.end()
            connection.stream.send(FromDaemon.refusal(.notAllowed, text).framed().span.bytes)
            connection.stream.close()
        } else {
            connection.tool.refuse(.notAllowed, text)
        }
        look(at: connection)
    }
}
