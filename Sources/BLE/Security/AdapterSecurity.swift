import BLEHost
import BLEPackets

/// What the adapter keeps for pairing and bonds.
struct AdapterSecurity {
    /// Each identity once, in the order in which they came.
    private(set) var bonds: [Bond] = []
    /// With whom each link is.
    private(set) var peers: [LinkID: DeviceAddress] = [:]
    private(set) var links: [LinkID: LinkSecurity] = [:]
    /// Questions that are with the agent.
    private var questions: [LinkID: [Task<Void, Never>]] = [:]
    /// The last bond that could not be kept.
    var storeError: BondStoreError?

    init(bonds: [Bond]) { self.bonds = bonds }

    mutating func set(_ bond: Bond) {
        if let index = bonds.firstIndex(where: { $0.identity == bond.identity }) {
            bonds[index] = bond
        } else {
            bonds.append(bond)
        }
    }

    mutating func remove(_ identity: DeviceAddress) { bonds.removeAll { $0.identity == identity } }

    mutating func connected(_ link: LinkInformation) {
        // A link may be told of twice: to the one that made it, and as a central's.
        if peers[link.id] == nil { peers[link.id] = link.peer.withoutIdentityMark }
    }

    mutating func disconnected(_ link: LinkID) {
        peers[link] = nil
        links[link] = nil
        cancelQuestions(of: link)
    }

    mutating func changed(_ link: LinkID, to security: LinkSecurity) {
        links[link] = security
        if security.isBonded { peers[link] = security.identity }
    }

    func peer(of link: LinkID) -> PairingPeer {
        PairingPeer(link: link, address: peers[link] ?? DeviceAddress(value: 0, kind: .public))
    }

    mutating func asked(_ task: Task<Void, Never>, on link: LinkID) { questions[link, default: []].append(task) }

    mutating func cancelQuestions(of link: LinkID) {
        for task in questions.removeValue(forKey: link) ?? [] { task.cancel() }
    }
}
