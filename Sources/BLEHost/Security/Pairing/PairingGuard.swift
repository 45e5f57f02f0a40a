import BLEPackets

/// The waiting intervals after failed pairings, which protect a passkey from being found by trial and error (Core 5.4,
/// Vol 3, Part H, 2.3.6).
///
/// A peer that failed must wait, each time twice as long. This by itself does not stop a peer that uses a new address
/// for each attempt, so failures also count for the whole host. They count separately for the two roles: strangers that
/// fail as centrals must not delay what this device does as a central. A fixed passkey reveals about two bits with each
/// attempt; after a few failures it is locked until the app unlocks it.
///
/// The longest wait depends on what failed. After a guess it is half an hour. After a pairing that a peer wanted and in
/// which nothing was to be guessed it is a minute for this peer, and less for other strangers: it limits how often
/// strangers can make this device compute and ask its user. What this side wants does not wait for failures of that
/// kind, and a device whose bond's key has encrypted the link waits for its own failures only.
///
/// Where users share the host, failures in pairings that one of them causes count for this user: no other user waits
/// for them. Those that peers begin by themselves count together, for all.
struct PairingGuard {
    /// A peer for which failures count. A stranger may use any address: its failures do not delay the device whose
    /// bond's key has encrypted the link.
    struct Peer: Equatable {
        var address: DeviceAddress
        var isProven: Bool
        /// This side's role on the link.
        var role = LinkRole.peripheral
        /// The number of the user who causes the pairings; `nil`: none does.
        var user: UInt32?
    }

    /// A passkey entry that is about to begin.
    struct PasskeyEntry {
        var role: LinkRole
        /// The fixed passkey; `nil` for a passkey that is generated for this pairing only, or that the user types.
        var fixed: UInt32?
        /// Whether it must wait because of failures of others.
        var waitsForOthers: Bool
        /// Pairings in this role that are in passkey entry or may reach it: their results are not known yet. Those that
        /// other users cause do not count.
        var underWay: Int
        /// The number of the user who causes the pairing; `nil`: none does.
        var user: UInt32?
    }

    /// What is recorded about a failed passkey entry.
    struct FailedEntry {
        var role: LinkRole
        var fixed: UInt32?
        /// Whether the peer knows enough to compute the passkey.
        var isDisclosed = false
        /// The number of the user who caused the pairing; `nil`: none did.
        var user: UInt32?
    }

    /// Failures, and the waiting time that they cause.
    private struct Tries {
        /// The wait after the first failure is doubled so often at most.
        let mostDoublings: UInt8
        private var count: UInt8 = 0
        private var end = Instant.zero

        /// The wait after the first failure; a user who typed a wrong number hardly notices it.
        private static let firstWait = Microseconds.seconds(1)
        /// How long after the end of its wait a failure is forgotten.
        private static let memory = Microseconds.seconds(3600)

        init(mostDoublings: UInt8) { self.mostDoublings = mostDoublings }

        /// Where the peer may have made a guess: 34 minutes.
        static var guesses: Tries { Tries(mostDoublings: 11) }
        /// Pairings that a peer wanted: 64 s.
        static var requests: Tries { Tries(mostDoublings: 6) }
        /// Pairings that strangers wanted: 16 s, for all of them.
        static var strangers: Tries { Tries(mostDoublings: 4) }

        func failures(at now: Instant) -> UInt8 {
            guard end < now else { return count }
            let forgotten = end.distance(to: now).rawValue / Self.memory.rawValue
            return forgotten < Int64(count) ? count - UInt8(forgotten) : 0
        }

        func wait(at now: Instant) -> Microseconds? { count > 0 && now < end ? now.distance(to: end) : nil }

        mutating func fail(at now: Instant) {
            let before = min(failures(at: now), mostDoublings)
            let wait = Microseconds(rawValue: Self.firstWait.rawValue << Int64(before))
            // More would change no wait, and take longer to forget.
            count = before + 1
            end = max(end, now.advanced(by: wait))
        }
    }

    /// The failures of one peer.
    private struct Record {
        let peer: Peer
        var guesses = Tries.guesses
        var requests = Tries.requests

        func failures(at now: Instant) -> UInt8 { max(guesses.failures(at: now), requests.failures(at: now)) }
    }

    private struct FixedPasskey {
        let number: UInt32
        var failures: UInt8
    }

    /// The failures in one role.
    private struct Tally {
        /// Failed passkey entries.
        var entries = Tries.guesses
        /// Ordered by their last failure, the latest last.
        var fixed: [FixedPasskey] = []

        func failures(of number: UInt32) -> UInt8 { fixed.first { $0.number == number }?.failures ?? 0 }

        /// Whether nothing waits or is locked because of it.
        func isOver(at now: Instant) -> Bool { fixed.isEmpty && entries.failures(at: now) == 0 }
    }

    /// The failures in one role that a user has caused.
    private struct UserTally {
        let user: UInt32
        let role: LinkRole
        var tally: Tally
    }

    /// The number of failures that lock a fixed passkey. Three attempts find one with a probability of 0.02 %, five
    /// with 0.6 %.
    static let fixedPasskeyTries: UInt8 = 3
    /// How many peers are remembered.
    private static let limit = 64
    /// How many fixed passkeys are remembered.
    private static let fixedLimit = 16
    /// How many tallies of users are remembered; each user has two at most.
    private static let userLimit = 64
    /// The wait for pairings that come while another is in progress.
    private static let turn = Microseconds.seconds(1)

    /// Ordered by their last failure, the latest last.
    private var peers: [Record] = []
    /// The failed pairings that strangers wanted as centrals, at whatever addresses. This side chooses the peripherals
    /// that it connects to.
    private var strangers = Tries.strangers
    /// The failures that no user has caused.
    private var central = Tally()
    private var peripheral = Tally()
    /// Ordered by their last failure, the latest last.
    private var users: [UserTally] = []

    /// How long a peer must still wait; `nil` if it need not wait.
    /// - Parameter isOfPeer: whether the peer wants the pairing, and not this side.
    func wait(of peer: Peer, isOfPeer: Bool, at now: Instant) -> Microseconds? {
        var stranger = peer
        stranger.user = nil
        var longest = Microseconds(rawValue: 0)
        for record in peers where record.peer == peer || record.peer == stranger {
            longest = max(longest, record.guesses.wait(at: now) ?? longest)
            if isOfPeer { longest = max(longest, record.requests.wait(at: now) ?? longest) }
        }
        if isOfPeer, peer.isStrangeCentral { longest = max(longest, strangers.wait(at: now) ?? longest) }
        return longest.rawValue > 0 ? longest : nil
    }

    /// Why passkey entry must not begin; `nil` if it may. What strangers have done counts for all, what a user has
    /// caused for this user.
    func refusal(of entry: PasskeyEntry, at now: Instant) -> SecurityFailure? {
        let shared = tally(entry.role)
        let own = entry.user.flatMap { tally(entry.role, of: $0) }
        if let number = entry.fixed {
            let failures = Int(shared.failures(of: number)) + Int(own?.failures(of: number) ?? 0)
            if failures >= Int(Self.fixedPasskeyTries) { return .passkeyLocked }
            // Simultaneous attempts count like consecutive ones.
            if failures + entry.underWay >= Int(Self.fixedPasskeyTries) {
                return .repeatedAttempts(retryAfter: Self.turn)
            }
        }
        guard entry.waitsForOthers else { return nil }
        let waits = [shared.entries.wait(at: now), own?.entries.wait(at: now)].compactMap { $0 }
        if let wait = waits.max() { return .repeatedAttempts(retryAfter: wait) }
        let hasFailed = shared.entries.failures(at: now) > 0 || own?.entries.failures(at: now) ?? 0 > 0
        return entry.underWay > 0 && hasFailed ? .repeatedAttempts(retryAfter: Self.turn) : nil
    }

    /// Records the failure of a pairing that the peer wanted.
    mutating func requestFailed(_ peer: Peer, at now: Instant) {
        change(peer, at: now) { $0.requests.fail(at: now) }
        if peer.isStrangeCentral { strangers.fail(at: now) }
    }

    /// Records a failed pairing in which the peer may have made a guess.
    /// - Parameter entry: what is known about the passkey entry, if that is what failed.
    /// - Returns: whether this failure has locked a fixed passkey.
    mutating func guessFailed(_ peer: Peer, _ entry: FailedEntry?, at now: Instant) -> Bool {
        change(peer, at: now) { $0.guesses.fail(at: now) }
        guard let entry else { return false }
        var tally = entry.user.map { self.tally(entry.role, of: $0) ?? Tally() } ?? tally(entry.role)
        defer { setTally(tally, of: entry, at: now) }
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

    /// A pairing with a device has succeeded that this user caused; `nil`: none did. What it has failed at with other
    /// users stays.
    mutating func succeeded(_ address: DeviceAddress, of user: UInt32? = nil) {
        peers.removeAll { $0.peer.address == address && ($0.peer.user == nil || $0.peer.user == user) }
    }

    /// Forgets all failures, because an operator says so.
    mutating func reset() { self = PairingGuard() }

    /// The number of peers, users and passkeys that are remembered.
    var remembered: Int {
        let own = users.reduce(users.count) { $0 + $1.tally.fixed.count }
        return peers.count + central.fixed.count + peripheral.fixed.count + own
    }

    /// Changes the record of a peer. If there are too many, the one with the fewest failures is forgotten, of several
    /// the oldest: a peer that comes under many addresses clears no other record.
    private mutating func change(_ peer: Peer, at now: Instant, _ change: (inout Record) -> Void) {
        var record = Record(peer: peer)
        if let index = peers.firstIndex(where: { $0.peer == peer }) { record = peers.remove(at: index) }
        change(&record)
        peers.removeAll { $0.failures(at: now) == 0 }
        if peers.count >= Self.limit {
            var fewest = 0
            for index in peers.indices where peers[index].failures(at: now) < peers[fewest].failures(at: now) {
                fewest = index
            }
            peers.remove(at: fewest)
        }
        peers.append(record)
    }

    private func tally(_ role: LinkRole) -> Tally { role == .central ? central : peripheral }

    private func tally(_ role: LinkRole, of user: UInt32) -> Tally? {
        guard Features.users else { return nil }
        return users.first { $0.user == user && $0.role == role }?.tally
    }

    private mutating func setTally(_ tally: Tally, of entry: FailedEntry, at now: Instant) {
        if Features.users, let user = entry.user {
            users.removeAll { $0.user == user && $0.role == entry.role || $0.tally.isOver(at: now) }
            if users.count >= Self.userLimit { users.removeFirst() }
            users.append(UserTally(user: user, role: entry.role, tally: tally))
        } else if entry.role == .central {
            central = tally
        } else {
            peripheral = tally
        }
    }
}

extension PairingGuard.Peer {
    /// Whether it is a central that has proved nothing.
    fileprivate var isStrangeCentral: Bool { role == .peripheral && !isProven }
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
