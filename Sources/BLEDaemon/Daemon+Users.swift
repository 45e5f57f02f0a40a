@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost
import Glibc

/// For whom the clients of the engine work: it divides what users share by user.
extension Daemon {
    /// A tool has connected.
    func nameUser(of connection: Connection) {
        nameUser(
            ClientUser(connection.peer.user, isOperator: connection.isOperator), of: connection.tool.client)
    }

    /// An app may have new managers.
    func nameUser(of app: AppID) {
        guard let number = user(of: app) else { return }
        let isOperator = connection(of: app)?.isOperator ?? isOperator(number)
        for client in lifecycle.apps.clients(of: app) {
            nameUser(ClientUser(number, isOperator: isOperator), of: client)
        }
    }

    private func nameUser(_ user: ClientUser, of client: ClientID) {
        guard users[client] != user else { return }
        users[client] = user
        runner.setUser(user, of: client)
    }

    /// Forgets the users of clients that have gone.
    func forgetUsers() {
        let gone = users.keys.filter { client in
            client.isTool ? tools[client] == nil : lifecycle.apps.manager(client) == nil
        }
        for client in gone.sorted() {
            users[client] = nil
            runner.setUser(nil, of: client)
        }
    }

    /// The user of an app, whether it runs or not.
    func user(of app: AppID) -> UInt32? {
        installed[app]?.user.id ?? connection(of: app)?.peer.user ?? owners[app] ?? AppOwners.user(ofUninstalled: app)
    }

    /// Whether a user is an operator who has no program here.
    private func isOperator(_ user: UInt32) -> Bool {
        if user == 0 || user == geteuid() { return true }
        guard let group = configuration.operatorGroup else { return false }
        return Accounts.user(user)?.groups.contains(group) ?? false
    }
}
