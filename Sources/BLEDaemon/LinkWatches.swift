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

    private struct Timeout {
        var client: ClientID
        var span: Microseconds
    }

    private struct Entry {
        var link: LinkID
        var power: [Power] = []
        /// There is one set of zones.
        var pathLoss: ClientID?
        var timeouts: [Timeout] = []

        var wantedPower: LinkProcedure {
            .reportTransmitPower(local: power.contains { $0.local }, remote: power.contains { $0.remote })
        }

        var isEmpty: Bool { power.isEmpty && pathLoss == nil && timeouts.isEmpty }
    }

    /// The links that somebody watches.
    private var entries: [Entry] = []

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
                return procedure
            }
        case .setAuthenticatedPayloadTimeout(let span):
            return change(link) { entry in
                entry.timeouts.removeAll { $0.client == client }
                entry.timeouts.append(Timeout(client: client, span: span))
                return entry.timeouts.map { $0.span }.min().map { .setAuthenticatedPayloadTimeout($0) }
            }
        default: return procedure
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
            if before.wantedPower != entries[index].wantedPower {
                changes.append((before.link, entries[index].wantedPower))
            }
            if before.pathLoss == client {
                entries[index].pathLoss = nil
                changes.append((before.link, .monitorPathLoss(zones: nil)))
            }
            if let span = entries[index].timeouts.map({ $0.span }).min(), span != before.timeouts.map({ $0.span }).min()
            {
                changes.append((before.link, .setAuthenticatedPayloadTimeout(span)))
            }
        }
        entries.removeAll { $0.isEmpty }
        return changes
    }

    /// The link has ended for everybody.
    mutating func ended(_ link: LinkID) { entries.removeAll { $0.link == link } }

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
