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
    /// How the controller deviates from the specification. Rooms read it, and note what they learn with `learn`.
    var controller: ControllerKnowledge
    /// The controller has to be recovered, for this reason; the host does it when the input has been handled.
    private(set) var fault: ControllerFault?
    /// The controller has to be reset to take other commands.
    private(set) var wantsRestart = false

    /// Whether the engine follows what it knows of the controller (`HostConfiguration.adaptsToController`).
    let adapts: Bool
    /// How often the controller may be recovered for what devices can cause.
    var recoveryLimit = RecoveryLimit()

    private var lastOperation: UInt64 = 0

    /// Always inlined into the caller, like `Radio.init`, so that the value is built in place.
    @inline(__always)
    init(experience: ControllerExperience = ControllerExperience(), adapts: Bool = true) {
        controller = ControllerKnowledge(experience)
        self.adapts = adapts
    }

    /// Whether the controller deviates like this, and the engine follows it.
    func expects(_ trait: ControllerTraits) -> Bool { adapts && !controller.traits.isDisjoint(with: trait) }

    /// The identifier of a new operation.
    mutating func nextOperation() -> OperationID {
        lastOperation += 1
        return OperationID(rawValue: lastOperation)
    }

    /// Ends the operations that wait for an answer of the crypto provider.
    mutating func endQuestions(with failure: HostFailure) {
        while let (operation, _) = cryptoRequests.cancel(nil) { complete(operation, .failure(failure)) }
    }

    /// Notes that the controller has a trait, or that it has not.
    /// - Returns: whether this changes what is known of it.
    @discardableResult
    mutating func learn(_ trait: ControllerTraits, isThere: Bool = true) -> Bool {
        guard controller.learn(trait, isThere: isThere) else { return false }
        events.append(.controllerLearned(controller.experience))
        return true
    }

    /// Acts as if the controller had a trait, or had it not, for as long as this engine lives.
    /// - Returns: whether this changes what is known of it.
    mutating func suspect(_ trait: ControllerTraits, isThere: Bool = true) -> Bool {
        controller.suspect(trait, isThere: isThere)
    }

    /// Asks for the next step of recovery.
    mutating func requestRecovery(from fault: ControllerFault) { self.fault = self.fault ?? fault }

    /// Asks for a reset although nothing failed: the controller has to take other commands. It waits until no link is
    /// open.
    mutating func requestRestart() { wantsRestart = true }

    mutating func restartDone() { wantsRestart = false }

    /// Asks for the next step of recovery because of what devices may have caused.
    /// - Returns: `false` if that was done too often of late.
    mutating func requestLimitedRecovery(from fault: ControllerFault) -> Bool {
        guard adapts, recoveryLimit.spend(at: now) else { return false }
        requestRecovery(from: fault)
        return true
    }

    /// Removes and returns the request.
    mutating func takeFault() -> ControllerFault? {
        defer { fault = nil }
        return fault
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
