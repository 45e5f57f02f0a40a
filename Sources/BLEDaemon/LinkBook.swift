import BLEHost
import BLEPackets

/// The links of the engine in both roles, and the clients that hold them.
struct LinkBook {
    struct Entry {
        var information: LinkInformation
        var holders: [ClientID] = []
        var security: LinkSecurity?
        /// What clients have set that could make the link slower for others, the latest of each sort.
        var hindrances: [LinkProcedure] = []
    }

    /// In the order in which they were connected.
    private(set) var entries: [Entry] = []

    /// The links on which this side is the peripheral.
    var centrals: [LinkInformation] { entries.map(\.information).filter { $0.role == .peripheral } }

    func holders(of link: LinkID) -> [ClientID] { entries.first { $0.information.id == link }?.holders ?? [] }

    mutating func hear(_ event: HostEvent) {
        switch event {
        case .connected(let information, let client): change(information) { $0.holders.append(client) }
        case .centralConnected(let information): change(information) { _ in }
        case .disconnected(let link, let client, _):
            change(link) { $0.holders.removeAll { $0 == client } }
            entries.removeAll {
                $0.information.id == link && $0.holders.isEmpty && $0.information.role == .central
            }
        case .centralDisconnected(let link, _): entries.removeAll { $0.information.id == link }
        case .encryptionChanged(let link, let security): change(link) { $0.security = security }
        case .connectionParametersChanged(let link, let parameters):
            change(link) { $0.information.parameters = parameters }
        case .gatt(let link, .mtuChanged(let mtu)): change(link) { $0.information.attMTU = Int(mtu) }
        // Nobody asks the book for the rest.
        default: break
        }
    }

    /// A client has asked for a procedure.
    mutating func note(_ procedure: LinkProcedure, on link: LinkID, _ timing: Timing) {
        guard let undone = procedure.undone(timing) else { return }
        change(link) { entry in
            entry.hindrances.removeAll { $0.undone(timing) == undone }
            entry.hindrances.append(procedure)
        }
    }

    mutating func forgetHindrances(of link: LinkID) { change(link) { $0.hindrances = [] } }

    private mutating func change(_ information: LinkInformation, _ body: (inout Entry) -> Void) {
        if !entries.contains(where: { $0.information.id == information.id }) {
            entries.append(Entry(information: information))
        }
        change(information.id, body)
    }

    private mutating func change(_ link: LinkID, _ body: (inout Entry) -> Void) {
        if let place = entries.firstIndex(where: { $0.information.id == link }) { body(&entries[place]) }
    }
}
