@_spi(HostRunner) import BLE
import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets

/// A program that hears of a pairing, and answers its questions.
struct PairingPartner {
    let connection: Connection
    /// The device as the app knows it; `nil` for a tool.
    let peer: (description: PeripheralDescription, address: DeviceAddress)?
}

/// How devices pair, and who is asked. The engine decides whose pairing it is (`ClientPairing`); the daemon says which
/// programs there are, and passes the questions on.
extension Daemon {
    // MARK: The engine

    /// Tells the engine how the programs pair.
    func setPairing() {
        var security = configuration.adapter.security
        security.identityResolvingKey = runner.identityResolvingKey
        let clients = pairingClients
        let requiring = clients.filter(\.requiresOfAll).map(\.options)
        if let least = requiring.map(\.minimumKeySize).max() { security.pairing.minimumKeySize = least }
        for options in requiring { security.pairing.require(options) }
        security.clients = clients
        for app in installed.all where !app.mayPair {
            security.clientsWithoutPairing += lifecycle.apps.clients(of: app.id)
        }
        _ = runner.submit(.security(.setSecurity(security)))
    }

    /// Those that have said how they pair, and those for which they may answer.
    private var pairingClients: [ClientPairing] {
        guard connections.contains(where: { $0.pairing != nil }) else { return [] }
        return connections.filter { sharesPairing($0) }.flatMap { connection in
            clients(of: connection).map { client, isServing in
                ClientPairing(
                    client: client, user: connection.peer.user, isOperator: connection.isOperator,
                    isServing: isServing, asks: connection.pairing != nil && connection.asksInPairing,
                    requiresOfAll: connection.isOperator && connection.pairing != nil
                        && (!connection.isTool || isServing),
                    options: connection.pairing ?? PairingOptions(minimumKeySize: 7))
            }
        }
    }

    /// Whether the engine must know the program: it has said how it pairs, or another one may answer for it.
    func sharesPairing(_ connection: Connection) -> Bool {
        if connection.pairing != nil { return true }
        return connections.contains {
            $0.pairing != nil && (connection.isOperator || $0.peer.user == connection.peer.user)
        }
    }

    /// The clients of the engine that a program is, each with whether it serves centrals.
    private func clients(of connection: Connection) -> [(client: ClientID, isServing: Bool)] {
        if let app = connection.appID {
            return lifecycle.apps.clients(of: app).map { ($0, lifecycle.apps.manager($0)?.role == .peripheral) }
        }
        return connection.isTool ? [(connection.tool.client, connection.tool.serving.hasBegun)] : []
    }

    // MARK: Questions

    /// Passes on what happens in a pairing, to nobody but those whom it concerns.
    func pairing(_ event: PairingEvent, on link: LinkID) {
        switch event {
        case .belongs(let client): partners[link] = partner(client, on: link).map { [$0] } ?? []
        case .question(let question): ask(question, on: link)
        case .started, .displayPasskey: for partner in partners[link] ?? [] { tell(event, on: link, to: partner) }
        case .passkeyLocked:
            for partner in partners[link] ?? [] where partner.peer == nil { tell(event, on: link, to: partner) }
        case .paired, .failed:
            let concerned = partners.removeValue(forKey: link)
            for partner in concerned ?? [] { tell(event, on: link, to: partner) }
            tellOthers(event, on: link, except: concerned ?? [])
            // No pairing had started: the key of a bond has failed, or is missing.
            if concerned == nil, let partner = firstPartner(on: link) { tell(event, on: link, to: partner) }
        case .securityRequested: tellOthers(event, on: link, except: [])
        }
    }

    private func ask(_ question: PairingQuestion, on link: LinkID) {
        guard let partner = question.client.flatMap({ partner($0, on: link) }) else {
            return answer(question.id, .cancel)
        }
        // An app that only knows one device cannot answer whether it may replace the bond of another.
        if let peer = partner.peer, case .replaceBond(let identity) = question.kind,
            identity != peer.address.withoutIdentityMark
        {
            return answer(question.id, .confirm(false))
        }
        if partners[link]?.contains(where: { $0.connection === partner.connection }) != true {
            partners[link, default: []].append(partner)
        }
        tell(.question(question), on: link, to: partner)
    }

    /// Tools that have asked for a pairing on this link hear how it ends, whoever answers.
    private func tellOthers(_ event: PairingEvent, on link: LinkID, except told: [PairingPartner]) {
        for connection in connections where connection.isTool && connection.tool.isPairing(link) {
            guard !told.contains(where: { $0.connection === connection }) else { continue }
            connection.tool.hear(.pairing(link, event), waiting: connection.stream.waitingByteCount)
            look(at: connection)
        }
    }

    private func tell(_ event: PairingEvent, on link: LinkID, to partner: PairingPartner) {
        let connection = partner.connection
        if let peer = partner.peer {
            connection.app?.pairing(event, on: link, with: peer.description)
        } else {
            connection.tool.takesPartInPairing(event, on: link)
        }
        look(at: connection)
    }

    private func answer(_ question: PairingQuestionID, _ answer: PairingAnswer) {
        _ = runner.submit(.security(.answerPairing(question, answer)))
    }

    /// The program that is this client; `nil` if it is gone, or an app that asks nobody.
    private func partner(_ client: ClientID, on link: LinkID) -> PairingPartner? {
        guard !client.isTool else {
            guard let connection = tools[client], connection.isTool else { return nil }
            return PairingPartner(connection: connection, peer: nil)
        }
        guard let app = lifecycle.apps.manager(client)?.app else { return nil }
        return partner(app, on: link)
    }

    private func partner(_ app: AppID, on link: LinkID) -> PairingPartner? {
        guard let connection = connection(of: app), connection.pairing != nil, connection.asksInPairing,
            let (address, peer) = lifecycle.withAppsWithinStep(at: now, { $0.peer(of: link, for: app) })
        else { return nil }
        return PairingPartner(connection: connection, peer: (peer, address))
    }

    /// The first app on a link that asks a person.
    private func firstPartner(on link: LinkID) -> PairingPartner? {
        for app in lifecycle.apps.apps(on: link) {
            if let partner = partner(app, on: link) { return partner }
        }
        return nil
    }
}
