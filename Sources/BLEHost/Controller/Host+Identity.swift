extension Host {
    /// Another controller may be behind the transport that is opened next: what is known of it takes the place of what was
    /// known of the one before. Call it while no transport is open.
    /// - Parameters:
    ///   - identity: how it names itself on USB; `nil` if that is not known.
    ///   - experience: what earlier engines learned about it.
    public mutating func expectController(_ identity: ControllerIdentity?, _ experience: ControllerExperience) {
        session.identity = identity
        effects.controller = ControllerKnowledge(experience)
    }

    /// The owner resets the device by itself, as somebody asked for, and closes the transport for that: links end, and what
    /// clients want of the radio goes on when it is open again, as after `HostEvent.reopenTransport`. Call
    /// `transportClosed(at:)` next.
    public mutating func expectReset(at now: Instant) {
        guard isReady || session.isStarting else { return }
        effects.now = now
        effects.events.append(.recovering(.resetDevice))
        loseController()
        session.phase = .awaitingTransport
    }
}
