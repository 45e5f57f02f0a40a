import BLEPackets

/// The open questions to the crypto provider, with the purpose of each answer.
///
///     asked ──next──▶ with the owner ──answer──▶ answered
///       └───────────────┴── 20 s, or `stop` ──▶ failed; an answer that comes later is ignored
struct CryptoRequests {
    /// How long the owner has for an answer. Peers give up after 30 s (Core 5.4, Vol 3, Part F, 3.3.3; Part H, 3.4):
    /// those that wait for the answer get an error before that.
    static let timeout: Microseconds = .seconds(20)

    /// The purpose of an answer.
    enum Purpose: Equatable {
        case databaseHash(revision: UInt64)
        /// The pairing of a link; the number distinguishes it from other pairings on the same link.
        case pairing(LinkID, UInt32)
        /// A signed write from this device.
        case signature(LinkID, OperationID, ClientID, message: [UInt8], counter: UInt32)
        /// A signed write from a peer.
        case verification(LinkID, pdu: [UInt8], counter: UInt32)
        /// The hash of a private address with the key of this bond.
        case resolution(pass: UInt32, identity: DeviceAddress)
        /// The random part of a new private address of this device.
        case ownAddressRandom
        /// The hash of a new private address of ours.
        case ownAddressHash(random: [UInt8])
        case outOfBandKeyPair(OperationID)
        case outOfBandRandom(OperationID, privateKey: [UInt8], publicKey: P256PublicKey)
        case outOfBandConfirm(OperationID, random: Key128, privateKey: [UInt8], publicKey: P256PublicKey)
    }

    private var questions = Queue<PendingCryptoRequest>()
    /// In ascending order of their numbers.
    private var open: [(id: UInt64, purpose: Purpose)] = []
    /// The deadlines of the first open questions; the others were asked during this input.
    private var deadlines: [Instant] = []
    private var lastID: UInt64 = 0

    mutating func ask(_ request: CryptoRequest, for purpose: Purpose) {
        lastID += 1
        questions.append(PendingCryptoRequest(id: lastID, request: request))
        open.append((lastID, purpose))
    }

    /// The input has been handled: the time for the questions that it led to begins.
    mutating func startTime(at now: Instant) {
        while deadlines.count < open.count { deadlines.append(now.advanced(by: Self.timeout)) }
    }

    /// When the first open question fails; they fail in the order in which they were asked.
    var nextDeadline: Instant? { deadlines.first }

    /// Removes and returns the purpose of a question that was not answered in time.
    mutating func removeExpired(at now: Instant) -> Purpose? {
        guard let deadline = deadlines.first, deadline <= now else { return nil }
        deadlines.removeFirst()
        return open.removeFirst().purpose
    }

    /// Gives up the question of an operation.
    /// - Parameter operation: `nil` for the first operation that waits for an answer.
    /// - Returns: the operation and how it ends; `nil` if it waits for no answer.
    @inline(never)  // rare, and called from several places
    mutating func cancel(_ operation: OperationID?) -> (id: OperationID, cancelled: HostFailure)? {
        for index in open.indices {
            guard let waiting = open[index].purpose.operation, waiting.id == operation ?? waiting.id else { continue }
            _ = remove(at: index)
            return waiting
        }
        return nil
    }

    private mutating func remove(at index: Int) -> Purpose {
        if index < deadlines.count { deadlines.remove(at: index) }
        return open.remove(at: index).purpose
    }

    mutating func next() -> PendingCryptoRequest? { questions.popFirst() }

    /// Whether a question waits to be taken.
    var hasQuestions: Bool { !questions.isEmpty }

    /// Removes and returns the purpose of an answer; `nil` if there was no such question or it was already answered.
    mutating func removePurpose(of id: UInt64) -> Purpose? {
        guard let index = open.firstIndex(where: { $0.id == id }) else { return nil }
        return remove(at: index)
    }
}

extension CryptoRequests.Purpose {
    /// The client's operation that waits for the answer, and how it ends if it is cancelled; `nil` if none does.
    var operation: (id: OperationID, cancelled: HostFailure)? {
        switch self {
        case .signature(_, let operation, _, _, _): (operation, .gatt(.cancelled))
        case .outOfBandKeyPair(let operation), .outOfBandRandom(let operation, _, _),
            .outOfBandConfirm(let operation, _, _, _):
            (operation, .cancelled)
        case .databaseHash, .pairing, .verification, .resolution, .ownAddressRandom, .ownAddressHash: nil
        }
    }
}
