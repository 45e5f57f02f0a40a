import BLEPackets

/// Keeps a passkey from being found by trying (Core 5.4, Vol 3, Part H, 2.3.6).
///
/// A peer that failed has to wait, each time twice as long. That alone stops nobody who comes under a new address for
/// each try, so that failures of passkey entry count for the whole host, too: separately for the two roles, because
/// strangers that fail as centrals are no reason to hold up what this device does as one. A fixed passkey gives away
/// about two bits at each try; after a few failures it is locked until the app says otherwise.
struct PairingGuard {
    /// Who fails. A stranger may stand behind any address: what fails there does not hold up the device whose bond's
    /// key has encrypted the link.
    struct Peer: Equatable {
        var address: DeviceAddress
        var isProven: Bool
    }

    /// A pairing by passkey entry that is about to begin.
    struct PasskeyEntry {
        var role: LinkRole
        /// The passkey that stays the same; `nil` for one that is drawn for this pairing alone, or that the user types.
        var fixed: UInt32?
        /// Whether failures of others hold it up.
        var waitsForOthers: Bool
        /// Pairings of this role that may come to passkey entry, or are at it: their ends are not known yet.
        var underWay: Int
    }

    /// What a pairing by passkey entry that failed leaves.
    struct FailedEntry {
        var role: LinkRole
        var fixed: UInt32?
        /// Whether the peer has had enough to compute the passkey.
        var isDisclosed = false
    }

    /// Failures, and the wait that they cost.
    private struct Tries {
        private var count: UInt8 = 0
        private var end = Instant.zero

        /// After the first failure; a user who typed a wrong number hardly notices.
        private static let firstWait = Microseconds.seconds(1)
        private static let mostDoublings: UInt8 = 11
        /// How long after the end of its wait one failure is forgotten.
        private static let memory = Microseconds.seconds(3600)

        func failures(at now: Instant) -> UInt8 {
            guard end < now else { return count }
            let forgotten = end.distance(to: now).rawValue / Self.memory.rawValue
            return forgotten < Int64(count) ? count - UInt8(forgotten) : 0
        }

        func wait(at now: Instant) -> Microseconds? { count > 0 && now < end ? now.distance(to: end) : nil }

        mutating func fail(at now: Instant) {
            let before = failures(at: now)
            let doublings = min(before, Self.mostDoublings)
            let wait = Microseconds(rawValue: Self.firstWait.rawValue << Int64(doublings))
            count = min(before, 254) + 1
            end = max(end, now.advanced(by: wait))
        }
    }

    private struct FixedPasskey {
        let number: UInt32
        var failures: UInt8
    }

    /// What failed in one role.
    private struct Tally {
        var entries = Tries()
        /// The latest failure last.
        var fixed: [FixedPasskey] = []

        func failures(of number: UInt32) -> UInt8 { fixed.first { $0.number == number }?.failures ?? 0 }
    }

    /// So many failures lock a fixed passkey. Three tries find one with a probability of 0.02 %, five with 0.6 %.
    static let fixedPasskeyTries: UInt8 = 3
    /// Addresses that are remembered.
    private static let limit = 64
    /// Fixed passkeys that are remembered.
    private static let fixedLimit = 16
    /// For those that come while another is at it.
    private static let turn = Microseconds.seconds(1)

    /// The latest failure last.
    private var peers: [(peer: Peer, tries: Tries)] = []
    private var central = Tally()
    private var peripheral = Tally()

    /// How long a peer has to wait from now on; `nil` when it need not.
    func wait(of peer: Peer, at now: Instant) -> Microseconds? {
        peers.first { $0.peer == peer }?.tries.wait(at: now)
    }

    /// Why passkey entry must not begin; `nil` where it may.
    func refusal(of entry: PasskeyEntry, at now: Instant) -> SecurityFailure? {
        let tally = tally(entry.role)
        if let number = entry.fixed {
            let failures = tally.failures(of: number)
            if failures >= Self.fixedPasskeyTries { return .passkeyLocked }
            // Tries at the same time are tries all the same.
            if Int(failures) + entry.underWay >= Int(Self.fixedPasskeyTries) {
                return .repeatedAttempts(retryAfter: Self.turn)
            }
        }
        guard entry.waitsForOthers else { return nil }
        if let wait = tally.entries.wait(at: now) { return .repeatedAttempts(retryAfter: wait) }
        guard entry.underWay > 0, tally.entries.failures(at: now) > 0 else { return nil }
        return .repeatedAttempts(retryAfter: Self.turn)
    }

    /// - Parameter entry: where it was passkey entry that failed.
    /// - Returns: whether a fixed passkey is locked from now on, and was not before.
    mutating func failed(_ peer: Peer, _ entry: FailedEntry?, at now: Instant) -> Bool {
        var tries = Tries()
        if let index = peers.firstIndex(where: { $0.peer == peer }) { tries = peers.remove(at: index).tries }
        tries.fail(at: now)
        peers.removeAll { $0.tries.failures(at: now) == 0 }
        if peers.count >= Self.limit { peers.removeFirst() }
        peers.append((peer, tries))
        guard let entry else { return false }
        var tally = tally(entry.role)
        defer { setTally(tally, of: entry.role) }
        tally.entries.fail(at: now)
        guard let number = entry.fixed else { return false }
        let before = tally.failures(of: number)
        let failures = entry.isDisclosed ? Self.fixedPasskeyTries : min(before, 254) + 1
        tally.fixed.removeAll { $0.number == number }
        if tally.fixed.count >= Self.fixedLimit {
            // One that is locked stays so, unless all are.
            tally.fixed.remove(at: tally.fixed.firstIndex { $0.failures < Self.fixedPasskeyTries } ?? 0)
        }
        tally.fixed.append(FixedPasskey(number: number, failures: max(before, failures)))
        return before < Self.fixedPasskeyTries && failures >= Self.fixedPasskeyTries
    }

    mutating func succeeded(_ address: DeviceAddress) { peers.removeAll { $0.peer.address == address } }

    /// Forgets all failures: an operator says that it is well.
    mutating func reset() { self = PairingGuard() }

    /// Addresses and passkeys.
    var remembered: Int { peers.count + central.fixed.count + peripheral.fixed.count }

    private func tally(_ role: LinkRole) -> Tally { role == .central ? central : peripheral }

    private mutating func setTally(_ tally: Tally, of role: LinkRole) {
        if role == .central { central = tally } else { peripheral = tally }
    }
}

extension SecurityFailure {
    /// Whether the peer may have tried to guess, however far pairing had come.
    var isSuspicious: Bool {
        switch self {
        case .refusedByUs(let reason), .refusedByPeer(let reason):
            switch reason {
            case .confirmValueFailed, .dhKeyCheckFailed, .numericComparisonFailed, .invalidParameters: true
            default: false
            }
        case .timedOut, .keyMissingAtPeer, .encryptionFailed, .wouldReplaceBond, .keyTooWeak, .noKey, .notAvailable,
            .alreadyPairing, .repeatedAttempts, .passkeyLocked, .tooManyBonds, .linkLost, .cancelled:
            false
        }
    }
}
