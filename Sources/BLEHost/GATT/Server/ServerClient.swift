import BLEPackets

/// What an attribute server knows about one client: everything that ends with the link.
struct ServerClient {
    /// A request that waits for the app's answer or for the database hash.
    struct Transaction {
        enum Work {
            case read
            case readByType
            case readMultiple(ReadMultiple)
            case write
            case execute(PreparedExecution)
            /// The complete request, which is handled again once the database hash is known.
            case hash([UInt8])
        }

        let request: ATTOpcode
        /// The attribute that the app is currently asked for.
        var handle: AttributeHandle
        /// The identifier of the request to the app; `nil` if the app was not asked.
        var question: GATTRequestID?
        let deadline: Instant
        var work: Work
    }

    /// A Read Multiple request that is partly answered.
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
        /// It was told by an error or has read the hash: its next request shows that it knows.
        case told
    }

    let link: LinkID
    var mtu: Int
    var security: GATTLinkSecurity
    var transaction: Transaction?
    /// Requests that came before the previous one was answered.
    var early = Queue<[UInt8]>()
    var prepared = PreparedWriteQueue()
    var configurations = ClientConfigurations()
    /// A bonded client's configurations for services that are currently absent: they are restored when the services are
    /// back.
    var absent: [GATTClientRecord.Configuration] = []
    var features: UInt8 = 0
    var awareness = Awareness.aware

    var unsentResponses = 0
    var unsentNotifications = 0
    /// Indications that have not been sent yet.
    var indications = Queue<Indication>()
    /// The value handle of the indication that is not confirmed yet.
    var unconfirmed: AttributeHandle?
    var confirmationDeadline: Instant?
    /// The range of changed handles that the client has not been told of yet.
    var changedRange: AttributeHandleRange?
    /// Since when the others no longer wait for this client, which misses updates instead.
    var fellBehind: Instant?
    /// Whether an update was refused because of this client and no room has been reported since.
    var isBlocking = false
    /// Whether the bearer was given up.
    var isDead = false

    init(link: LinkID, mtu: UInt16, security: GATTLinkSecurity) {
        self.link = link
        self.mtu = max(Int(ATTBearer.defaultMTU), Int(mtu))
        self.security = security
    }

    /// Bit 0 of the features: robust caching (Core 5.4, Vol 3, Part G, 7.2).
    var hasRobustCaching: Bool { features & 0x01 != 0 }

    /// Whether requests of the client must be refused because its cache is out of date.
    var isOutOfSync: Bool { hasRobustCaching && awareness != .aware }

    var nextDeadline: Instant? {
        if isDead { return nil }
        guard let answer = transaction?.deadline else { return confirmationDeadline }
        return min(answer, confirmationDeadline ?? answer)
    }

    /// Drops everything that waits.
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

/// The configuration descriptors of one client that differ from their initial values.
struct ClientConfigurations {
    struct Entry {
        let handle: AttributeHandle
        var modes: SubscriptionModes
        /// The octets that were written, if they are not exactly two.
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
