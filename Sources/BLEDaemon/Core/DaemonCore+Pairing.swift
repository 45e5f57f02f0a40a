import BLEAppLifecycle
import BLEHost
import BLEMessages
import BLEPackets

/// A program that gets the progress of a pairing, and answers its questions.
struct PairingPartner {
    let connection: Connection
    /// The device as the app knows it; `nil` for a tool.
    let peer: (description: PeripheralDescription, address: DeviceAddress)?
}

/// Which programs are asked in pairings.
struct PairingDesk {
    /// The partners of each pairing in progress. Only for lookup.
    var partners: [LinkID: [PairingPartner]] = [:]

    /// A program is no longer connected. The links with no partner left stay: a pairing is in progress there.
    mutating func forget(_ connection: Connection) {
        guard !partners.isEmpty else { return }
        partners = partners.mapValues { $0.filter { $0.connection !== connection } }
    }
}

/// How devices pair, and who is asked. The engine decides whose pairing it is (`ClientPairing`); the daemon says which
/// programs there are, and passes the questions on.
extension DaemonCore {
    // MARK: The engine

    /// Tells the engine how the programs pair.
    mutating func setPairing() {
        var security = rules.security
        security.identityResolvingKey = port.engine.identityResolvingKey
        let clients = pairingClients
        let requiring = clients.filter(\.requiresOfAll).map(\.options)
        if let least = requiring.map(\.minimumKeySize).max() { security.pairing.minimumKeySize = least }
        for options in requiring { security.pairing.require(options) }
        security.clients = clients
        for app in apps.installed.all where !app.mayPair {
            security.clientsWithoutPairing += apps.lifecycle.apps.clients(of: app.id)
        }
        _ = submit(.security(.setSecurity(security)))
    }

    /// Those that have said how they pair, and those for which they may answer.
    private var pairingClients: [ClientPairing] {
        guard connections.all.contains(where: { $0.pairing != nil }) else { return [] }
        return connections.all.filter { sharesPairing($0) }.flatMap { connection in
            clients(of: connection).map { client, isServing in
                ClientPairing(
                    client: client, user: connection.peer.user, isOperator: connection.isOperator, isServing: isServing,
                    asks: connection.pairing != nil && connection.asksInPairing,
                    requiresOfAll: connection.isOperator && connection.pairing != nil
                        && (connection.tool == nil || isServing),
                    options: connection.pairing ?? PairingOptions(minimumKeySize: 7))
            }
        }
    }

    /// Whether the engine must know the program: it has said how it pairs, or another one may answer for it.
    func sharesPairing(_ connection: Connection) -> Bool {
        if connection.pairing != nil { return true }
        return connections.all.contains {
            $0.pairing != nil && (connection.isOperator || $0.peer.user == connection.peer.user)
        }
    }

    /// The clients of the engine that a program is, each with whether it serves centrals.
    private func clients(of connection: Connection) -> [(client: ClientID, isServing: Bool)] {
        if let app = connection.appID {
            return apps.lifecycle.apps.clients(of: app).map {
                ($0, apps.lifecycle.apps.manager($0)?.role == .peripheral)
            }
        }
        return connection.tool.map { [(connection.id.client, $0.session.serving.hasBegun)] } ?? []
    }

    // MARK: Questions

    /// Passes on what happens in a pairing, only to those whom it concerns.
    mutating func handle(_ event: PairingEvent, on link: LinkID) {
        switch event {
        case .belongs(let client): pairing.partners[link] = partner(client, on: link).map { [$0] } ?? []
        case .question(let question): ask(question, on: link)
        case .started, .displayPasskey:
            for partner in pairing.partners[link] ?? [] { pass(event, on: link, to: partner) }
        case .passkeyLocked:
            for partner in pairing.partners[link] ?? [] where partner.peer == nil { pass(event, on: link, to: partner) }
        case .paired, .failed:
            let concerned = pairing.partners.removeValue(forKey: link)
            for partner in concerned ?? [] { pass(event, on: link, to: partner) }
            passToOthers(event, on: link, except: concerned ?? [])
            // No pairing had started: the key of a bond has failed, or is missing.
            if concerned == nil, let partner = firstPartner(on: link) { pass(event, on: link, to: partner) }
        case .securityRequested: passToOthers(event, on: link, except: [])
        }
    }

    private mutating func ask(_ question: PairingQuestion, on link: LinkID) {
        guard let partner = question.client.flatMap({ partner($0, on: link) }) else {
            return answer(question.id, .cancel)
        }
        // An app that only knows one device cannot answer whether it may replace the bond of another.
        if let peer = partner.peer, case .replaceBond(let identity) = question.kind,
            identity != peer.address.withoutIdentityMark
        {
            return answer(question.id, .confirm(false))
        }
        if pairing.partners[link]?.contains(where: { $0.connection === partner.connection }) != true {
            pairing.partners[link, default: []].append(partner)
        }
        pass(.question(question), on: link, to: partner)
    }

    /// Tools that have asked for a pairing on this link get its end, whichever program answers.
    private mutating func passToOthers(_ event: PairingEvent, on link: LinkID, except told: [PairingPartner]) {
        for connection in connections.all {
            guard let tool = connection.tool, tool.session.isPairing(link),
                !told.contains(where: { $0.connection === connection })
            else { continue }
            tool.session.hear(.pairing(link, event), waiting: connection.outbox.waiting)
            look(at: connection)
        }
    }

    private mutating func pass(_ event: PairingEvent, on link: LinkID, to partner: PairingPartner) {
        let connection = partner.connection
        if let peer = partner.peer {
            connection.app?.session.pairing(event, on: link, with: peer.description)
        } else {
            connection.tool?.session.takesPartInPairing(event, on: link)
        }
        look(at: connection)
    }

    private mutating func answer(_ question: PairingQuestionID, _ answer: PairingAnswer) {
        _ = submit(.security(.answerPairing(question, answer)))
    }

    /// The program that is this client; `nil` if it is gone, or an app that asks no person.
    private mutating func partner(_ client: ClientID, on link: LinkID) -> PairingPartner? {
        guard !client.isTool else {
            guard let connection = connections[client], connection.tool != nil else { return nil }
            return PairingPartner(connection: connection, peer: nil)
        }
        guard let app = apps.lifecycle.apps.manager(client)?.app else { return nil }
        return partner(app, on: link)
    }

    private mutating func partner(_ app: AppID, on link: LinkID) -> PairingPartner? {
        guard let connection = connection(of: app), connection.pairing != nil, connection.asksInPairing,
            let (address, peer) = apps.lifecycle.withAppsWithinStep(at: now, { $0.peer(of: link, for: app) })
        else { return nil }
        return PairingPartner(connection: connection, peer: (peer, address))
    }

    /// The first app on a link that asks a person.
    private mutating func firstPartner(on link: LinkID) -> PairingPartner? {
        for app in apps.lifecycle.apps.apps(on: link) { if let partner = partner(app, on: link) { return partner } }
        return nil
    }
}
