import BLEAppLifecycle
import BLEHost

/// For whom the clients of the engine work: it divides what users share by user.
extension DaemonCore {
    /// A tool has connected.
    mutating func nameUser(of connection: Connection) {
        nameUser(ClientUser(connection.peer.user, isOperator: connection.isOperator), of: connection.id.client)
    }

    /// An app may have new managers.
    mutating func nameUser(of app: AppID) {
        guard let number = user(of: app) else { return }
        let isOperator = connection(of: app)?.isOperator ?? isOperator(number)
        for client in apps.lifecycle.apps.clients(of: app) {
            nameUser(ClientUser(number, isOperator: isOperator), of: client)
        }
    }

    private mutating func nameUser(_ user: ClientUser, of client: ClientID) {
        guard tools.users[client] != user else { return }
        tools.users[client] = user
        port.setUser(user, of: client, at: now)
    }

    /// Forgets the users of clients that have gone.
    mutating func forgetUsers() {
        let gone = tools.users.keys.filter { client in
            client.isTool ? connections[client] == nil : apps.lifecycle.apps.manager(client) == nil
        }
        for client in gone.sorted() {
            tools.users[client] = nil
            port.setUser(nil, of: client, at: now)
        }
    }

    /// A tool's command with the user whom it names. Those who could have everything anyhow are believed, root and the
    /// daemon's own user: their services connect for others. Others ask for themselves.
    func naming(_ command: HostCommand, of connection: Connection) -> HostCommand {
        guard case .radio(.connect(var request)) = command, let user = request.user?.number else { return command }
        let isBelieved = connection.peer.user == 0 || connection.peer.user == rules.ownUser
        request.user = isBelieved ? ClientUser(user, isOperator: isOperator(user)) : nil
        return .radio(.connect(request))
    }

    /// The user of an app, whether it runs or not.
    func user(of app: AppID) -> UInt32? {
        apps.installed[app]?.user.id ?? connection(of: app)?.peer.user ?? apps.owners[app]
            ?? AppOwners.user(ofUninstalled: app)
    }

    /// Whether a user is an operator who has no program here.
    private func isOperator(_ user: UInt32) -> Bool {
        if user == 0 || user == rules.ownUser { return true }
        guard let group = rules.operatorGroup else { return false }
        return lookups.groups(of: user).contains(group)
    }
}
