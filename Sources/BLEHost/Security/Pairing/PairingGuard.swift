import BLEPackets

/// Who failed at pairing has to wait, each time twice as long, so that a passkey cannot be found by trying
/// (Core 5.4, Vol 3, Part H, 2.3.6).
struct PairingGuard {
    private struct Entry {
        let address: DeviceAddress
        var failures: UInt8
        var end: Instant
    }

    /// After the first failure; a user who typed a wrong number hardly notices.
    private static let firstWait = Microseconds.seconds(1)
    private static let mostDoublings: UInt8 = 11
    /// How long after the end of its wait a peer must behave to begin anew.
    private static let memory = Microseconds.seconds(3600)
    private static let limit = 64

    /// The latest failure last.
    private var entries: [Entry] = []

    /// How long a peer has to wait from now on; `nil` when it need not.
    func wait(of address: DeviceAddress, at now: Instant) -> Microseconds? {
        guard let entry = entries.first(where: { $0.address == address }), now < entry.end else { return nil }
        return now.distance(to: entry.end)
    }

    mutating func failed(_ address: DeviceAddress, at now: Instant) {
        entries.removeAll { $0.end.advanced(by: Self.memory) <= now }
        let before = entries.first { $0.address == address }?.failures ?? 0
        entries.removeAll { $0.address == address }
        if entries.count >= Self.limit { entries.removeFirst() }
        let doublings = min(before, Self.mostDoublings)
        let wait = Microseconds(rawValue: Self.firstWait.rawValue << Int64(doublings))
        entries.append(
            Entry(address: address, failures: min(before, 254) + 1, end: now.advanced(by: wait)))
    }

    mutating func succeeded(_ address: DeviceAddress) { entries.removeAll { $0.address == address } }
}

extension SecurityFailure {
    /// Whether somebody may have tried to guess, however far pairing had come.
    var isSuspicious: Bool {
        switch self {
        case .refusedByUs(let reason), .refusedByPeer(let reason):
            switch reason {
            case .confirmValueFailed, .dhKeyCheckFailed, .numericComparisonFailed, .invalidParameters: true
            default: false
            }
        default: false
        }
    }
}
