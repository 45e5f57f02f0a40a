import BLEHost
import BLEPackets

/// What several clients of one link want to hear of it, where the link layer has one setting for all of them: power,
/// path loss, and proof of the peer's key. No client can end what another one watches.
struct LinkWatches {
    private struct Power {
        var client: ClientID
        var local: Bool
        var remote: Bool
    }

    /// What the controller has accepted for a client.
    private struct Timeout {
        var client: ClientID
        var span: Microseconds
    }

    /// A procedure of a client that the engine has not completed.
    private struct Pending {
        var link: LinkID
        var client: ClientID
        var asked: LinkProcedure
        /// As the engine carries it out.
        var submitted: LinkProcedure
    }

    private struct Entry {
        var link: LinkID
        var power: [Power] = []
        /// There is one set of zones.
        var pathLoss: ClientID?
        /// Whether the controller has accepted zones of this client.
        var hasZones = false
        var timeouts: [Timeout] = []

        var leastTimeout: Microseconds? { timeouts.map { $0.span }.min() }

        var wantedPower: LinkProcedure {
            .reportTransmitPower(local: power.contains { $0.local }, remote: power.contains { $0.remote })
        }

        var isEmpty: Bool { power.isEmpty && pathLoss == nil && timeouts.isEmpty }
    }

    /// The links that somebody watches.
    private var entries: [Entry] = []
    private var pending: [OperationID: Pending] = [:]

    /// A client's procedure as the engine carries it out for all of them.
    /// - Returns: `nil` if another client has what it asks for.
    mutating func take(_ procedure: LinkProcedure, on link: LinkID, from client: ClientID) -> LinkProcedure? {
        switch procedure {
        case .reportTransmitPower(let local, let remote):
            return change(link) { entry in
                entry.power.removeAll { $0.client == client }
                if local || remote { entry.power.append(Power(client: client, local: local, remote: remote)) }
                return entry.wantedPower
            }
        case .monitorPathLoss(let zones):
            return change(link) { entry in
                guard entry.pathLoss == nil || entry.pathLoss == client else { return nil }
                entry.pathLoss = zones == nil ? nil : client
                entry.hasZones = entry.hasZones && zones != nil
                return procedure
            }
        case .setAuthenticatedPayloadTimeout(let span):
            // One that the controller refuses must not count for the others.
            let others = entries.first { $0.link == link }?.timeouts.filter { $0.client != client } ?? []
            return .setAuthenticatedPayloadTimeout(others.reduce(span) { min($0, $1.span) })
        default: return procedure
        }
    }

    /// The engine has accepted a client's procedure, `submitted` in place of `asked`.
    mutating func began(
        _ asked: LinkProcedure, as submitted: LinkProcedure, on link: LinkID, from client: ClientID,
        _ operation: OperationID
    ) {
        switch asked {
        case .monitorPathLoss, .setAuthenticatedPayloadTimeout:
            pending[operation] = Pending(link: link, client: client, asked: asked, submitted: submitted)
        default: break
        }
    }

    /// An operation has ended.
    /// - Returns: what has to be set instead for all clients of a link.
    mutating func completed(_ operation: OperationID, isSuccess: Bool) -> (LinkID, LinkProcedure)? {
        guard let ended = pending.removeValue(forKey: operation) else { return nil }
        switch ended.asked {
        case .monitorPathLoss(let zones):
            _ = change(ended.link) { entry in
                guard entry.pathLoss == ended.client else { return nil }
                if isSuccess { entry.hasZones = zones != nil } else if !entry.hasZones { entry.pathLoss = nil }
                return nil
            }
            return nil
        case .setAuthenticatedPayloadTimeout(let span):
            guard isSuccess else { return nil }
            let wanted = change(ended.link) { entry in
                entry.timeouts.removeAll { $0.client == ended.client }
                entry.timeouts.append(Timeout(client: ended.client, span: span))
                return entry.leastTimeout.map { .setAuthenticatedPayloadTimeout($0) }
            }
            // What another client asked for meanwhile may be less.
            return wanted == ended.submitted ? nil : wanted.map { (ended.link, $0) }
        default: return nil
        }
    }

    /// A client no longer has the link; `nil`: any of its links.
    /// - Returns: what changes for the others.
    mutating func released(_ link: LinkID?, by client: ClientID) -> [(LinkID, LinkProcedure)] {
        var changes: [(LinkID, LinkProcedure)] = []
        for index in entries.indices where link == nil || entries[index].link == link {
            let before = entries[index]
            entries[index].power.removeAll { $0.client == client }
            entries[index].timeouts.removeAll { $0.client == client }
            let isLate = pending.contains { _, one in
                guard one.client == client, one.link == before.link else { return false }
                if case .setAuthenticatedPayloadTimeout = one.asked { return true }
                return false
            }
            if before.wantedPower != entries[index].wantedPower {
                changes.append((before.link, entries[index].wantedPower))
            }
            if before.pathLoss == client {
                entries[index].pathLoss = nil
                entries[index].hasZones = false
                changes.append((before.link, .monitorPathLoss(zones: nil)))
            }
            if let span = entries[index].leastTimeout, isLate || span != before.leastTimeout {
                changes.append((before.link, .setAuthenticatedPayloadTimeout(span)))
            }
        }
        pending = pending.filter { _, one in one.client != client || link != nil && one.link != link }
        entries.removeAll { $0.isEmpty }
        return changes
    }

    /// The link has ended for everybody.
    mutating func ended(_ link: LinkID) {
        entries.removeAll { $0.link == link }
        pending = pending.filter { $0.value.link != link }
    }

    /// Who asked for this report.
    func clients(for report: LinkReport, on link: LinkID) -> [ClientID] {
        guard let entry = entries.first(where: { $0.link == link }) else { return [] }
        return switch report {
        case .transmitPower(_, isPeers: false): entry.power.filter { $0.local }.map { $0.client }
        case .transmitPower(_, isPeers: true): entry.power.filter { $0.remote }.map { $0.client }
        case .pathLoss: entry.pathLoss.map { [$0] } ?? []
        case .unauthenticated: entry.timeouts.map { $0.client }
        }
    }

    private mutating func change(
        _ link: LinkID, _ body: (inout Entry) -> LinkProcedure?
    ) -> LinkProcedure? {
        let index = entries.firstIndex { $0.link == link } ?? entries.count
        if index == entries.count { entries.append(Entry(link: link)) }
        defer { if entries[index].isEmpty { entries.remove(at: index) } }
        return body(&entries[index])
    }
}
