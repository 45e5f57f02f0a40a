import BLEHost

/// Where a request comes from, and so where its answer goes.
package enum GATTDoor: Hashable, Sendable {
    /// The topic of requests.
    case broker
    /// A connection over HTTP, which waits for the answer.
    case http(HTTPConnections.ID)
}

/// One who asks, as far as links are somebody's.
package struct GATTRequester: Hashable, Sendable {
    /// What names cannot change: limits and turns count this.
    package let party: LinkParty
    /// As the requests say; empty for none.
    let name: String

    var isBroker: Bool { party == .broker }

    /// For people.
    package var description: String { (isBroker ? "mqtt" : "http") + (name.isEmpty ? "" : " " + name) }
}

/// The bounds of what requesters may use.
package struct GATTLimits: Equatable, Sendable {
    /// Links at once, also those that are only kept.
    package var sessions = 8
    /// Requests that wait, of all and of one requester; those over HTTP from one address count as one.
    package var waiting = 128
    package var waitingOfRequester = 16
    /// Requests that wait of one door.
    package var waitingOfDoor = 64
    /// How many identifiers are remembered, so that no request is carried out twice.
    package var identifiers = 4096
    /// Values that came while no step waited for them.
    package var arrivals = 1024

    package init() {}

    /// Links at once of one door: the others always have a place.
    var sessionsOfDoor: Int { max(1, sessions - max(1, sessions / 4)) }
}
