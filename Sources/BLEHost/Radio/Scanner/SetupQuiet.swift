import BLEPackets

/// Links that are being set up by a controller that crashes if it scans meanwhile: LE Read Remote Features, right after
/// the connection, is not answered any more, and a hardware error follows (raspberrypi/linux#3330).
struct SetupQuiet {
    /// How long scanning rests if the link's first procedure does not end, or if this side begins none.
    static let longest: (central: Microseconds, peripheral: Microseconds) = (.seconds(3), .seconds(1))
    /// For how long after the beginning of a link a hardware error counts as caused by it.
    static let suspicion: Microseconds = .seconds(5)

    private var links: [(handle: ConnectionHandle, until: Instant)] = []

    var isEmpty: Bool { links.isEmpty }
    var nextDeadline: Instant? { links.reduce(nil) { earliest($0, $1.until) } }

    mutating func begin(_ handle: ConnectionHandle, until: Instant) {
        links.removeAll { $0.handle == handle }
        links.append((handle, until))
    }

    mutating func end(_ handle: ConnectionHandle) { links.removeAll { $0.handle == handle } }

    mutating func advance(to now: Instant) { links.removeAll { $0.until <= now } }
}
