import BLEPackets

/// A bearer of a client that is not at work: `ServerClient` has the meaning of its properties.
struct ServerBearer {
    var number: UInt32
    var mtu: Int
    var transaction: ServerClient.Transaction?
    var early = Queue<[UInt8]>()
    var prepared = PreparedWriteQueue()
    var wasToldOutOfSync = false
    var unsentResponses = 0
    var unsentNotifications = 0
    var gathered: [ServerClient.Indication] = []
    var shares = Queue<Int>()
    var indications = Queue<ServerClient.Indication>()
    var unconfirmed: AttributeHandle?
    var confirmationDeadline: Instant?
    var isGivenUp = false

    init(number: UInt32, mtu: UInt16) {
        self.number = number
        self.mtu = max(Int(ATTBearer.defaultMTU), Int(mtu))
    }

    var nextDeadline: Instant? { earliest(transaction?.deadline, confirmationDeadline) }
}

extension ServerClient {
    /// Has the bearer with this number at work, if it is another one.
    /// - Returns: whether there is such a bearer.
    @inline(never)
    mutating func exchange(_ number: UInt32) -> Bool {
        guard let index = others.firstIndex(where: { $0.number == number }) else { return false }
        var other = others[index]
        swap(&self.number, &other.number)
        swap(&mtu, &other.mtu)
        swap(&transaction, &other.transaction)
        swap(&early, &other.early)
        swap(&prepared, &other.prepared)
        swap(&wasToldOutOfSync, &other.wasToldOutOfSync)
        swap(&unsentResponses, &other.unsentResponses)
        swap(&unsentNotifications, &other.unsentNotifications)
        swap(&gathered, &other.gathered)
        swap(&shares, &other.shares)
        swap(&indications, &other.indications)
        swap(&unconfirmed, &other.unconfirmed)
        swap(&confirmationDeadline, &other.confirmationDeadline)
        swap(&isGivenUp, &other.isGivenUp)
        others[index] = other
        return true
    }
}
