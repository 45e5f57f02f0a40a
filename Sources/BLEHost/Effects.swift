import BLEPackets

/// The effects of an input: packets, commands, events and questions to the crypto provider.
///
/// The engine's rooms write only into this value, and `Host.settle` drains it in one place. After an input, its
/// contents go to the controller or wait until the owner of the engine fetches them.
struct Effects {
    /// The time of the input.
    var now = Instant.zero
    /// Packets for the transport.
    var packets = Outbox()
    /// Commands that wait for the controller's credits, and the one that is in progress.
    var commands = CommandQueue()
    /// ACL data that waits for the controller's buffers.
    var data = ACLScheduler()
    /// What the rooms still have to do for links, in order.
    var deferred = Queue<(Link, DeferredLinkWork)>()
    /// Events for the clients.
    var events = EventQueue()
    /// Questions to the crypto provider.
    var cryptoRequests = CryptoRequests()
    var counters = HostCounters()

    private var lastOperation: UInt64 = 0

    /// Always inlined into the caller, like `Radio.init`, so that the value is built in place.
    @inline(__always)
    init() {}

    /// The identifier of a new operation.
    mutating func nextOperation() -> OperationID {
        lastOperation += 1
        return OperationID(rawValue: lastOperation)
    }

    /// Ends the operations that wait for an answer of the crypto provider.
    mutating func endQuestions(with failure: HostFailure) {
        while let (operation, _) = cryptoRequests.cancel(nil) { complete(operation, .failure(failure)) }
    }

    mutating func recordMalformedPacket(_ error: DecodingError) {
        counters.malformedPackets &+= 1
        events.append(.malformedPacket(error))
    }

    /// A command was refused. Command Disallowed (0x0C) means that our picture of the controller was wrong.
    mutating func countRefusal(_ status: HCIStatus) {
        if status == .commandDisallowed { counters.desynchronisations &+= 1 }
    }
}
