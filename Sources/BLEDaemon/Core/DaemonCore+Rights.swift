import BLEMessages
import BLETransport

/// What the users of programs may do, and programs whose users may do less than before.
extension DaemonCore {
    /// Root, the daemon's own user, and the members of the group of operators.
    func isOperator(_ peer: PeerCredentials) -> Bool {
        guard peer.user != 0, peer.user != rules.ownUser else { return true }
        guard let group = rules.operatorGroup else { return false }
        return peer.group == group || peer.otherGroups.contains(group)
    }

    /// Whether the user may connect with any program.
    func isAllowed(_ peer: PeerCredentials) -> Bool { isOperator(peer) || rules.users.contains(peer.user) }

    /// After a change of the configuration or of manifests: ends sessions that have rights which their users no longer
    /// have, and changes those of apps, which continue.
    mutating func takeRightsAway() {
        guard !connections.all.isEmpty else { return }
        for connection in connections.all {
            let (peer, app) = (connection.peer, connection.appID.flatMap { apps.installed[$0] })
            let isOperator = isOperator(peer)
            let isAllowed = isAllowed(peer)
            if let client = connection.app, app != nil || isAllowed {
                connection.isOperator = isOperator
                connection.isOfAllowedUser = isAllowed
                client.session.isOperator = isOperator
                if let app { apply(app, to: client, connection) }
                if let app = connection.appID { nameUser(of: app) }
                look(at: connection)
            } else if connection.isOfAllowedUser && !isAllowed
                || !isAllowed && !apps.installed.users.contains(peer.user)
            {
                refuse(connection, "user \(peer.user) may no longer use this daemon")
            } else if connection.isOperator && !isOperator {
                refuse(connection, "user \(peer.user) is no longer an operator of this daemon")
            }
        }
        // What those require who are no longer operators does not apply to others any more.
        if controller.isReady { setPairing() }
    }

    /// An app that runs gets what its manifest says now.
    private mutating func apply(_ app: InstalledApp, to client: AppClient, _ connection: Connection) {
        client.session.restrict(to: app.roles)
        client.session.mayPair = app.mayPair
        guard !app.mayPair, connection.pairing != nil else { return }
        connection.pairing = nil
        if controller.isReady { setPairing() }
    }

    /// Ends a connection of any kind, and says why.
    mutating func refuse(_ connection: Connection, _ text: String) {
        switch connection.session {
        case .greeting(let tool), .tool(let tool): tool.session.refuse(.notAllowed, text)
        case .app(let app): app.session.refuse(.notAllowed, text)
        case .operator(let person):
            person.session.end()
            send(.refusal(.notAllowed, text), to: connection)
            effects.append(.close(connection.id))
        case .identifying, .ended: break
        }
        look(at: connection)
    }
}
