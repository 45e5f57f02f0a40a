import BLEPackets

/// What waits for a turn, in the order in which it has its turns: a queue, or a rotation of lines.
protocol WaitingLine {
    associatedtype Element

    init()
    /// How many elements wait.
    var count: Int { get }
    /// The element that has the turn after so many others.
    /// - Parameter turn: less than `count`; anything else traps.
    func element(at turn: Int) -> Element
    /// Removes this element, whose turn it is now: it overtakes those before it, and has the turn that was the next.
    mutating func remove(at turn: Int) -> Element
    /// Keeps the elements for which `isIncluded` is true, in their order.
    mutating func retain(where isIncluded: (Element) -> Bool)
}

extension WaitingLine {
    var isEmpty: Bool { count == 0 }

    mutating func popFirst() -> Element? { isEmpty ? nil : remove(at: 0) }
}

extension Queue: WaitingLine {
    func element(at turn: Int) -> Element { self[turn] }

    mutating func remove(at turn: Int) -> Element {
        if turn == 0, let first = popFirst() { return first }
        let element = self[turn]
        var place = -1
        retain { _ in
            place += 1
            return place != turn
        }
        return element
    }
}

/// Lines that take turns: those of users, and within each of them those of its clients. So one who asks for thousands
/// delays another by one of them for each of the other's.
///
///     first element ──▶ present round ──turn──▶ next round
///                             ▲                      │
///                             └── no one is left ────┘
///
/// A round has one turn of each line. A line that comes has its turn in the present round, unless it had one: so it
/// gains nothing by asking for one thing at a time. Adding an element and taking the next one need a binary search
/// among the lines, however many elements wait.
struct Rotation<Key: Comparable, Line: WaitingLine>: WaitingLine {
    private struct Entry {
        let key: Key
        var line = Line()
        /// Whether it has had its turn in the present round.
        var isServed = false
    }

    /// How many lines have had their turns when a round ends, even if others have not: lines that come and go without
    /// end neither keep others from the next round nor take memory.
    private static var longestRound: Int { 256 }

    /// In ascending order of their keys: the lines in which something waits, and those that had a turn in this round.
    private var entries: [Entry] = []
    /// The lines in which something waits, in the order of their turns.
    private var present = Queue<Key>()
    private var next = Queue<Key>()
    private(set) var count = 0

    init() {}

    /// How many elements of a line wait.
    func count(of key: Key) -> Int { line(of: key)?.count ?? 0 }

    /// A line, if it waits or has waited in this round.
    func line(of key: Key) -> Line? {
        let place = place(of: key)
        return place < entries.count && entries[place].key == key ? entries[place].line : nil
    }

    /// Adds elements to a line.
    mutating func add(to key: Key, _ body: (inout Line) -> Void) {
        let place = place(of: key)
        if place == entries.count || entries[place].key != key { entries.insert(Entry(key: key), at: place) }
        let before = entries[place].line.count
        body(&entries[place].line)
        count += entries[place].line.count - before
        guard before == 0, !entries[place].line.isEmpty else { return }
        if entries[place].isServed { next.append(key) } else { present.append(key) }
    }

    func element(at turn: Int) -> Element {
        let (key, turn) = owner(of: turn)
        return entries[place(of: key)].line.element(at: turn)
    }

    mutating func remove(at turn: Int) -> Line.Element {
        let (key, turn) = owner(of: turn)
        if present.isEmpty || entries.count > Self.longestRound { beginRound() }
        leaveOrder(key)
        let place = place(of: key)
        let element = entries[place].line.remove(at: turn)
        count -= 1
        entries[place].isServed = true
        if !entries[place].line.isEmpty {
            next.append(key)
        } else if count == 0 {
            // Only the one who had the latest turn is remembered.
            let last = entries[place]
            entries.removeAll(keepingCapacity: true)
            entries.append(last)
        }
        return element
    }

    mutating func retain(where isIncluded: (Element) -> Bool) {
        count = 0
        for place in entries.indices {
            entries[place].line.retain(where: isIncluded)
            count += entries[place].line.count
        }
        let kept = self
        present.retain { kept.count(of: $0) > 0 }
        next.retain { kept.count(of: $0) > 0 }
        entries.removeAll { $0.line.isEmpty && !$0.isServed }
    }

    private func place(of key: Key) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The line that has the turn after so many others, and which of the line's it is.
    private func owner(of turn: Int) -> (key: Key, turn: Int) {
        if turn == 0, let first = present.first ?? next.first { return (first, 0) }
        var left = turn
        for round in 0..<count {
            for queue in [present, next] {
                for key in queue where count(of: key) > round {
                    if left == 0 { return (key, round) }
                    left -= 1
                }
            }
        }
        preconditionFailure("no element has this turn")
    }

    private mutating func leaveOrder(_ key: Key) {
        if present.first == key {
            _ = present.popFirst()
        } else {
            present.retain { $0 != key }
            next.retain { $0 != key }
        }
    }

    private mutating func beginRound() {
        while let key = next.popFirst() { present.append(key) }
        entries.removeAll { $0.line.isEmpty }
        for place in entries.indices { entries[place].isServed = false }
    }
}
