@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost

/// Tells the engine which user each of its clients belongs to, so that users take turns and not programs.
extension Daemon {
    /// A program has come, or its rights have changed.
    func noteOwner(of connection: Connection) {
        // What had no app yet was a tool.
        guard let app = connection.appID else {
            return runner.setShare(share(of: connection), of: connection.tool.client)
        }
        noteOwner(share(of: connection), of: app)
    }

    /// Notes the managers of an app, which are clients of their own, and forgets those that have gone.
    func noteOwner(_ share: ClientShare, of app: AppID) {
        let clients = lifecycle.apps.clients(of: app)
        for gone in managers[app] ?? [] where !clients.contains(gone) { runner.setShare(.common, of: gone) }
        for client in clients { runner.setShare(share, of: client) }
        managers[app] = clients.isEmpty ? nil : clients
    }

    /// What installed apps preserve goes on without a process.
    func noteOwnersOfInstalledApps() {
        for app in installed.all where running[app.id] == nil {
            noteOwner(ClientShare(user: app.user.id, isOperator: false), of: app.id)
        }
    }

    private func share(of connection: Connection) -> ClientShare {
        ClientShare(user: connection.peer.user, isOperator: connection.isOperator)
    }
}

extension ClientShare {
    /// That of a user of the system; none of them has the number of clients of which nothing is known.
    init(user: UInt32, isOperator: Bool) { self.init(owner: user &+ 1, isPreferred: isOperator) }
}
