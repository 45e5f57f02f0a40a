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
        /// It got an error or has read the hash: its next request shows that it knows.
        case told
    }

    let link: LinkID
    var security: GATTLinkSecurity

    // The bearer at work, between inputs the unenhanced one. Its properties stand here and not in a separate value:
    // the compiler reads properties of a value within a lent one too late, when it is no longer lent (Swift 6.3).
    /// Zero for the unenhanced bearer; otherwise the number of the channel that carries it.
    var number: UInt32 = 0
    var mtu: Int
    var transaction: Transaction?
    /// Requests that came before the previous one was answered.
    var early = Queue<[UInt8]>()
    var prepared = PreparedWriteQueue()
    /// Whether the client learned on this bearer that the table has changed: once for each change and bearer (Core
    /// 5.4, Vol 3, Part G, 2.5.2.1).
    var wasToldOutOfSync = false
    var unsentResponses = 0
    /// Values that wait for the controller, including those that are gathered.
    var unsentNotifications = 0
    /// Values that wait here for the ones before them, to share a PDU.
    var gathered: [Indication] = []
    /// Of the PDUs with several values that the controller does not have yet, how many each has.
    var shares = Queue<Int>()
    /// Indications that have not been sent yet.
    var indications = Queue<Indication>()
    /// The value handle of the indication that is not confirmed yet.
    var unconfirmed: AttributeHandle?
    var confirmationDeadline: Instant?
    /// Whether this bearer was given up.
    var isGivenUp = false

    /// The other bearers.
    var others: [ServerBearer] = []

    // What all bearers share.
    var configurations = ClientConfigurations()
    /// A bonded client's configurations for services that are currently absent: they are restored when the services are
    /// back.
    var absent: [GATTClientRecord.Configuration] = []
    var features: UInt8 = 0
    var awareness = Awareness.aware

    /// The range of changed handles that the client does not know of yet.
    var changedRange: AttributeHandleRange?
    /// Since when the others no longer wait for this client, which misses updates instead.
    var fellBehind: Instant?
    /// Whether an update was refused because of this client and no room has been reported since.
    var isBlocking = false
    /// Whether the unenhanced bearer was given up, and the link with it.
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

    /// Bit 2: values may share a PDU.
    var acceptsMultipleNotifications: Bool { features & 0x04 != 0 }

    @inline(__always)
    var nextDeadline: Instant? {
        if isDead { return nil }
        return hasOthers ? earliest(bearerDeadline, Self.firstDeadline(of: others)) : bearerDeadline
    }

    /// When the bearer at work is due.
    @inline(__always)
    var bearerDeadline: Instant? {
        guard let answer = transaction?.deadline else { return confirmationDeadline }
        return min(answer, confirmationDeadline ?? answer)
    }

    /// Drops everything that waits on the bearer at work; on all, if it is the unenhanced one.
    mutating func die() {
        isGivenUp = true
        transaction = nil
        early.removeAll()
        prepared.removeAll()
        gathered = []
        indications.removeAll()
        unconfirmed = nil
        confirmationDeadline = nil
        guard number == 0 else { return }
        isDead = true
        others = []
        changedRange = nil
    }
}
