/// The earliest of many deadlines, one for each slot. Reading it takes constant time; a change takes logarithmic time
/// in the number of slots.
///
/// It is a binary tree in one array: the slots begin at index `width`, and each place before them has the earlier of
/// its two children, `2 * place` and `2 * place + 1`. Place 1 has the earliest of all.
struct EarliestDeadline {
    /// Stands for no deadline: nothing is ever due at the end of the time line.
    private static let none = Instant(microseconds: .max)

    private var tree: [Instant] = []
    private var width = 0

    /// The earliest of all; `nil` if no slot has a deadline.
    var earliest: Instant? {
        guard width > 0, tree[1] != Self.none else { return nil }
        return tree[1]
    }

    /// Sets the deadline of a slot; `nil` removes it.
    mutating func set(_ deadline: Instant?, of slot: Int) {
        if slot >= width { widen(to: slot + 1) }
        var place = width + slot
        var value = deadline ?? Self.none
        // If a place does not change, nothing above it changes either.
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
