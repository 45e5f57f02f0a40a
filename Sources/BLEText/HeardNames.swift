/// The names of other devices that were heard while one was looked for, those most like its name first.
package struct HeardNames: Sendable {
    /// So many are kept: whoever sends ever new names fills no memory, and drives no better name out.
    private static let limit = 8

    private let wanted: String
    private var entries: [(name: String, distance: Int)] = []

    /// - Parameter wanted: the name that is looked for.
    package init(near wanted: String) { self.wanted = wanted }

    /// What is heard again counts once.
    package mutating func add(_ name: String) {
        guard !name.isEmpty, !entries.contains(where: { $0.name == name }) else { return }
        var distance = Suggestion.distance(from: wanted, to: name)
        // Short names are never far, and seldom meant.
        if !Suggestion.isNear(name, at: distance) { distance += 1_000 }
        let place = entries.firstIndex { $0.distance > distance } ?? entries.endIndex
        guard place < Self.limit else { return }
        entries.insert((name, distance), at: place)
        if entries.count > Self.limit { entries.removeLast() }
    }

    /// At most eight. They are foreign text.
    package var names: [String] { entries.map(\.name) }
}
