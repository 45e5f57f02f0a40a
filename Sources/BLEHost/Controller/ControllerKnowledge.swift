/// What the engine knows about the controller's deviations: what its family lets expect, overridden by experience.
struct ControllerKnowledge {
    /// The traits of the controller's family, and those that its answers at the start show.
    var expected: ControllerTraits = []
    /// What this engine and earlier ones learned from answers and reports.
    private(set) var experience: ControllerExperience
    /// What silence and the end of the transport made this engine suspect. A cable, a busy machine and a hang have the
    /// same look, so it is never stored.
    private var suspicion = ControllerExperience()
    /// Traits that changed since the engine was made. A trait changes once, or two failures could alternate for ever.
    private var settled: ControllerTraits = []

    init(_ experience: ControllerExperience = ControllerExperience()) { self.experience = experience }

    var traits: ControllerTraits {
        expected.union(experience.found).subtracting(experience.refuted).union(suspicion.found)
            .subtracting(suspicion.refuted)
    }

    /// Notes that the controller has a trait, or that it has not.
    /// - Returns: whether this is news that has to be stored; a trait that has changed before stays as it is.
    mutating func learn(_ trait: ControllerTraits, isThere: Bool) -> Bool {
        let open = trait.subtracting(settled)
        guard isNews(open, isThere: isThere), experience.learn(open, isThere: isThere) else { return false }
        settled.formUnion(open)
        return true
    }

    /// The same without proof.
    /// - Returns: whether this changes what is expected.
    mutating func suspect(_ trait: ControllerTraits, isThere: Bool) -> Bool {
        let open = trait.subtracting(settled)
        guard isNews(open, isThere: isThere), suspicion.learn(open, isThere: isThere) else { return false }
        settled.formUnion(open)
        return true
    }

    /// A suspicion did not help: it does not come back.
    mutating func drop(_ trait: ControllerTraits) {
        suspicion.found.subtract(trait)
        suspicion.refuted.subtract(trait)
    }

    /// A suspicion is over, and may come back.
    mutating func reconsider(_ trait: ControllerTraits) {
        guard isSuspected(trait) else { return }
        drop(trait)
        settled.subtract(trait)
    }

    func isSuspected(_ trait: ControllerTraits) -> Bool { suspicion.found.isSuperset(of: trait) }

    private func isNews(_ trait: ControllerTraits, isThere: Bool) -> Bool {
        isThere ? !traits.isSuperset(of: trait) : !traits.isDisjoint(with: trait)
    }
}
