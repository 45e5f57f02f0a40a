/// The earliest of many deadlines, one for each slot: it is known at once, and a change costs the logarithm of their
/// number.
///
/// A tree lies in one array: the places from `width` on are the slots, and each place before them holds the earlier of
/// the two below it, `2 * place` and `2 * place + 1`; place 1 holds the earliest of all.
struct EarliestDeadline {
    /// What stands for no deadline: nothing is ever due at the end of the time line.
    private static let none = Instant(microseconds: .max)

    private var tree: [Instant] = []
    private var width = 0

    /// The earliest of all; `nil` where no slot has a deadline.
    var earliest: Instant? {
        guard width > 0, tree[1] != Self.none else { return nil }
        return tree[1]
    }

    /// What holds for a slot from now on.
    mutating func set(_ deadline: Instant?, of slot: Int) {
        if slot >= width { widen(to: slot + 1) }
        var place = width + slot
        var value = deadline ?? Self.none
        // Whatever lies above a place that does not change does not change either.
        while tree[place] != value {
            tree[place] = value
            guard place > 1 else { return }
            value = min(value, tree[place ^ 1])
            place /= 2
        }
    }

    private mutating func widen(to count: Int) {
        let slots = tree[width...]
        while width < count { width = max(1, width * 2) }
        tree = Array(repeating: Self.none, count: 2 * width)
        for (slot, deadline) in slots.enumerated() where deadline != Self.none { set(deadline, of: slot) }
    }
}
