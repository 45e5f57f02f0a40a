import BLEPackets

/// Notices a controller that scans, answers everything and connects to nobody any more (mediatek7925e-bluetooth-fix#13).
///
/// A single device proves little: it may accept only another host, or its advertising may be a replay. So several must
/// be received for minutes, as devices that accept connections, while the controller tries to connect to them and makes
/// no link to any device. Where it is known that the controller may stop connecting, one device is enough after longer.
struct ConnectionWatch {
    private struct Peer {
        var address: DeviceAddress
        /// Since when the controller tries to connect to it.
        var triedSince: Instant
        var lastSighting: Instant
        var sightings = 0
    }

    static let patience: Microseconds = .seconds(180)
    static let longPatience: Microseconds = .seconds(600)
    /// A device that was not received for so long may have gone.
    static let presence: Microseconds = .seconds(60)
    static let leastSightings = 10
    private static let limit = 16

    private var peers: [Peer] = []

    /// The controller begins to look for these devices.
    mutating func tried(_ addresses: [DeviceAddress], at now: Instant) {
        for address in addresses where !peers.contains(where: { $0.address == address }) {
            guard peers.count < Self.limit else { return }
            peers.append(Peer(address: address, triedSince: now, lastSighting: now))
        }
    }

    /// A device that a client waits for was received, and accepts connections.
    mutating func sighted(_ address: DeviceAddress, at now: Instant) {
        guard let index = peers.firstIndex(where: { $0.address == address }) else { return }
        // One that was away begins again.
        if peers[index].lastSighting.advanced(by: Self.presence) <= now {
            peers[index] = Peer(address: address, triedSince: now, lastSighting: now)
        }
        peers[index].lastSighting = now
        peers[index].sightings += 1
    }

    /// The controller made a link, or begins anew.
    mutating func removeAll() { peers.removeAll() }

    /// Only what these devices show counts from now on.
    mutating func keep(where isWaitedFor: (DeviceAddress) -> Bool) { peers.removeAll { !isWaitedFor($0.address) } }

    /// Whether the controller seems to connect to nobody.
    /// - Parameter isKnownToStop: whether this is known of the controller.
    func isInVain(isKnownToStop: Bool, at now: Instant) -> Bool {
        func count(for span: Microseconds) -> Int {
            peers.count {
                $0.triedSince.advanced(by: span) <= now && $0.lastSighting.advanced(by: Self.presence) > now
                    && $0.sightings >= Self.leastSightings
            }
        }
        return count(for: Self.patience) > 1 || isKnownToStop && count(for: Self.longPatience) > 0
    }
}
