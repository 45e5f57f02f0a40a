import BLEPackets

/// What an attribute server knows of one client: everything that ends with the link.
struct ServerClient {
    /// A request that waits for an answer of the app, or for the hash.
    struct Transaction {
        enum Work {
            case read
            case readByType
            case readMultiple(ReadMultiple)
            case write
            case execute(PreparedExecution)
            /// The whole request, to be taken up again once the database hash is known.
            case hash([UInt8])
        }

        let request: ATTOpcode
        /// The attribute that is asked for at the moment.
        var handle: AttributeHandle
        /// What the app was asked; `nil` where it was not asked.
        var question: GATTRequestID?
        let deadline: Instant
        var work: Work
    }

    /// A Read Multiple request that is half answered.
    struct ReadMultiple {
        let handles: [AttributeHandle]
        var next = 0
        let isVariable: Bool
        /// The response so far.
        var response: PacketWriter
    }

    struct Indication {
        var handle: AttributeHandle
        var value: [UInt8]
    }

    /// Whether the client knows that the table has changed (Core 5.4, Vol 3, Part G, 2.5.2.1).
    enum Awareness {
        case aware
        case unaware
        /// It was told by an error or read the hash: its next request shows that it knows.
        case told
    }

    let link: LinkID
    var mtu: Int
    var security: GATTLinkSecurity
    var transaction: Transaction?
    /// Requests that came too early.
    var early = Queue<[UInt8]>()
    var prepared = PreparedWriteQueue()
    var configurations = ClientConfigurations()
    /// What a bonded client configured of services that are not there at present: it finds that again when they are.
    var absent: [GATTClientRecord.Configuration] = []
    var features: UInt8 = 0
    var awareness = Awareness.aware

    var unsentResponses = 0
    var unsentNotifications = 0
    /// Indications that have not been sent.
    var indications = Queue<Indication>()
    /// The indication that has not been confirmed.
    var unconfirmed: AttributeHandle?
    var confirmationDeadline: Instant?
    /// Handles of which the client is still to be told that they changed.
    var changedRange: AttributeHandleRange?
    /// Since when the client misses updates instead of being waited for.
    var fellBehind: Instant?
    /// Whether an update was refused because of this client and no room was announced since.
    var isBlocking = false
    /// Whether the bearer was given up.
    var isDead = false

    init(link: LinkID, mtu: UInt16, security: GATTLinkSecurity) {
        self.link = link
        self.mtu = max(Int(ATTBearer.defaultMTU), Int(mtu))
        self.security = security
    }

    /// Bit 0 of the features (Core 5.4, Vol 3, Part G, 7.2).
    var hasRobustCaching: Bool { features & 0x01 != 0 }

    /// Whether the client is to be refused for the sake of its own cache.
    var isOutOfSync: Bool { hasRobustCaching && awareness != .aware }

    var nextDeadline: Instant? {
        if isDead { return nil }
        guard let answer = transaction?.deadline else { return confirmationDeadline }
        return min(answer, confirmationDeadline ?? answer)
    }

    /// Forgets everything that waits.
    mutating func die() {
        isDead = true
        transaction = nil
        early.removeAll()
        prepared.removeAll()
        indications.removeAll()
        unconfirmed = nil
        confirmationDeadline = nil
        changedRange = nil
    }
}

/// The configuration descriptors of one client that differ from what they are at first.
struct ClientConfigurations {
    struct Entry {
        let handle: AttributeHandle
        var modes: SubscriptionModes
        /// What was written, where it is not two octets.
        var octets: [UInt8]?
    }

    /// In ascending order of their handles.
    private(set) var entries: [Entry] = []

    private func place(of handle: AttributeHandle) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].handle < handle { low = middle + 1 } else { high = middle }
        }
        return low
    }

    subscript(handle: AttributeHandle) -> Entry? {
        let place = place(of: handle)
        return place < entries.count && entries[place].handle == handle ? entries[place] : nil
    }

    mutating func set(_ handle: AttributeHandle, _ modes: SubscriptionModes, octets: [UInt8]? = nil) {
        let place = place(of: handle)
        let entry = Entry(handle: handle, modes: modes, octets: octets)
        if place < entries.count, entries[place].handle == handle {
            entries[place] = entry
        } else {
            entries.insert(entry, at: place)
        }
    }

    mutating func remove(_ range: AttributeHandleRange) { entries.removeAll { range.contains($0.handle) } }
}
