import BLEPackets

/// A bearer of a client that is not at work: `ServerClient` has the meaning of its properties.
struct ServerBearer {
    let number: UInt32
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

extension ServerBearer {
    /// The bearer that is at work for a client.
    fileprivate init(of client: ServerClient) {
        number = client.number
        mtu = client.mtu
        transaction = client.transaction
        early = client.early
        prepared = client.prepared
        wasToldOutOfSync = client.wasToldOutOfSync
        unsentResponses = client.unsentResponses
        unsentNotifications = client.unsentNotifications
        gathered = client.gathered
        shares = client.shares
        indications = client.indications
        unconfirmed = client.unconfirmed
        confirmationDeadline = client.confirmationDeadline
        isGivenUp = client.isGivenUp
    }
}

extension ServerClient {
    /// Has the bearer with this number at work, if it is another one.
    /// - Returns: whether there is such a bearer.
    @inline(never)
    mutating func exchange(_ number: UInt32) -> Bool {
        guard let index = others.firstIndex(where: { $0.number == number }) else { return false }
        let next = others[index]
        others[index] = ServerBearer(of: self)
        self.number = next.number
        mtu = next.mtu
        transaction = next.transaction
        early = next.early
        prepared = next.prepared
        wasToldOutOfSync = next.wasToldOutOfSync
        unsentResponses = next.unsentResponses
        unsentNotifications = next.unsentNotifications
        gathered = next.gathered
        shares = next.shares
        indications = next.indications
        unconfirmed = next.unconfirmed
        confirmationDeadline = next.confirmationDeadline
        isGivenUp = next.isGivenUp
        return true
    }
}
