import BLEPackets

/// The open questions to the toolbox, with the purpose of each answer.
struct ToolboxDesk {
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

    private var questions = Queue<ToolboxQuestion>()
    /// In ascending order of their numbers.
    private var open: [(id: UInt64, purpose: Purpose)] = []
    private var lastID: UInt64 = 0

    mutating func ask(_ request: ToolboxRequest, for purpose: Purpose) {
        lastID += 1
        questions.append(ToolboxQuestion(id: lastID, request: request))
        open.append((lastID, purpose))
    }

    mutating func next() -> ToolboxQuestion? { questions.popFirst() }

    /// Removes and returns the purpose of an answer; `nil` if there was no such question or it was already answered.
    mutating func take(_ id: UInt64) -> Purpose? {
        guard let index = open.firstIndex(where: { $0.id == id }) else { return nil }
        return open.remove(at: index).purpose
    }

    /// Whether a question is still unanswered.
    var isWaiting: Bool { !open.isEmpty }
}
