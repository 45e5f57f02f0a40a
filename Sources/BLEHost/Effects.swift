import BLEPackets

/// What an input leads to: packets, commands, events, questions to the toolbox, and the wish to bring the controller
/// nearer to what the clients want.
///
/// The engine's rooms write into it and nothing else; `Host.settle` drains it in one place. What lies in it when an
/// input has been handled goes to the controller, or waits until the owner of the engine takes it.
struct Effects {
    /// Packets for the transport.
    var packets = Outbox()
    /// Commands that wait for the controller's credits, and the one that is in flight.
    var commands = CommandQueue()
    /// ACL data that waits for the controller's buffers.
    var data = ACLScheduler()
    /// What is left to be done for links, in order.
    var wishes = Queue<(Link, LinkWish)>()
    /// What clients are told.
    var events = EventQueue()
    /// What the toolbox is asked.
    var desk = ToolboxDesk()
    var counters = HostCounters()
    /// Whether something changed that scanning, connecting or advertising depend on.
    var needsConvergence = false

    private var lastOperation: UInt64 = 0

    /// The identifier of a new operation.
    mutating func nextOperation() -> OperationID {
        lastOperation += 1
        return OperationID(rawValue: lastOperation)
    }

    /// Ends an operation, once.
    mutating func complete(_ operation: OperationID, _ result: Result<HostResult, HostFailure>) {
        events.append(.completed(operation, result))
    }

    /// A command was refused: with 0x0C our picture of the controller was wrong.
    mutating func note(_ status: HCIStatus) {
        if status == .commandDisallowed { counters.desynchronisations &+= 1 }
    }

    /// Sends the next command when the controller takes one.
    mutating func sendCommands(at now: Instant) { commands.flush(into: &packets, at: now) }

    /// Sends the data that the controller has buffers for.
    mutating func sendData(_ links: inout LinkTable, at now: Instant) { data.pump(&links, into: &packets, at: now) }
}
