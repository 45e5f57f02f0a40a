import BLEPackets

/// Protects a passkey from being found by trial and error (Core 5.4, Vol 3, Part H, 2.3.6).
///
/// A peer that failed must wait, each time twice as long. That alone does not stop a peer that uses a new address for
/// each attempt, so failures of passkey entry also count for the whole host. They count separately for the two roles:
/// strangers that fail as centrals must not delay what this device does as a central. A fixed passkey reveals about two
/// bits with each attempt; after a few failures it is locked until the app unlocks it.
struct PairingGuard {
    /// A peer for which failures count. A stranger may use any address: its failures do not delay the device whose
    /// bond's key has encrypted the link.
    struct Peer: Equatable {
        var address: DeviceAddress
        var isProven: Bool
    }

    /// A passkey entry that is about to begin.
    struct PasskeyEntry {
        var role: LinkRole
        /// The fixed passkey; `nil` for a passkey that is generated for this pairing only, or that the user types.
        var fixed: UInt32?
        /// Whether it must wait because of failures of others.
        var waitsForOthers: Bool
        /// Pairings in this role that are in passkey entry or may reach it: their results are not known yet.
        var underWay: Int
    }

    /// What is recorded about a failed passkey entry.
    struct FailedEntry {
        var role: LinkRole
        var fixed: UInt32?
        /// Whether the peer knows enough to compute the passkey.
        var isDisclosed = false
    }

    /// Failures, and the waiting time that they cause.
    private struct Tries {
        private var count: UInt8 = 0
        private var end = Instant.zero

        /// The wait after the first failure; a user who typed a wrong number hardly notices it.
        private static let firstWait = Microseconds.seconds(1)
        private static let mostDoublings: UInt8 = 11
        /// How long after the end of its wait a failure is forgotten.
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

    /// The failures in one role.
    private struct Tally {
        var entries = Tries()
        /// Ordered by their last failure, the latest last.
        var fixed: [FixedPasskey] = []

        func failures(of number: UInt32) -> UInt8 { fixed.first { $0.number == number }?.failures ?? 0 }
    }

    /// The number of failures that lock a fixed passkey. Three attempts find one with a probability of 0.02 %, five
    /// with 0.6 %.
    static let fixedPasskeyTries: UInt8 = 3
    /// How many peers are remembered.
    private static let limit = 64
    /// How many fixed passkeys are remembered.
    private static let fixedLimit = 16
    /// The wait for pairings that come while another is in progress.
    private static let turn = Microseconds.seconds(1)

    /// Ordered by their last failure, the latest last.
    private var peers: [(peer: Peer, tries: Tries)] = []
    private var central = Tally()
    private var peripheral = Tally()

    /// How long a peer must still wait; `nil` if it need not wait.
    func wait(of peer: Peer, at now: Instant) -> Microseconds? {
        peers.first { $0.peer == peer }?.tries.wait(at: now)
    }

    /// Why passkey entry must not begin; `nil` if it may.
    func refusal(of entry: PasskeyEntry, at now: Instant) -> SecurityFailure? {
        let tally = tally(entry.role)
        if let number = entry.fixed {
            let failures = tally.failures(of: number)
            if failures >= Self.fixedPasskeyTries { return .passkeyLocked }
            // Simultaneous attempts count like consecutive ones.
            if Int(failures) + entry.underWay >= Int(Self.fixedPasskeyTries) {
                return .repeatedAttempts(retryAfter: Self.turn)
            }
        }
        guard entry.waitsForOthers else { return nil }
        if let wait = tally.entries.wait(at: now) { return .repeatedAttempts(retryAfter: wait) }
        guard entry.underWay > 0, tally.entries.failures(at: now) > 0 else { return nil }
        return .repeatedAttempts(retryAfter: Self.turn)
    }

    /// Records a failed pairing.
    /// - Parameter entry: what is known about the passkey entry, if that is what failed.
    /// - Returns: whether this failure has locked a fixed passkey.
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
            // A locked passkey stays, unless all of them are locked.
            tally.fixed.remove(at: tally.fixed.firstIndex { $0.failures < Self.fixedPasskeyTries } ?? 0)
        }
        tally.fixed.append(FixedPasskey(number: number, failures: max(before, failures)))
        return before < Self.fixedPasskeyTries && failures >= Self.fixedPasskeyTries
    }

    mutating func succeeded(_ address: DeviceAddress) { peers.removeAll { $0.peer.address == address } }

    /// Forgets all failures, because an operator says so.
    mutating func reset() { self = PairingGuard() }

    /// The number of peers and passkeys that are remembered.
    var remembered: Int { peers.count + central.fixed.count + peripheral.fixed.count }

    private func tally(_ role: LinkRole) -> Tally { role == .central ? central : peripheral }

    private mutating func setTally(_ tally: Tally, of role: LinkRole) {
        if role == .central { central = tally } else { peripheral = tally }
    }
}

extension SecurityFailure {
    /// Whether the peer may have tried to guess, at whatever stage of pairing.
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
