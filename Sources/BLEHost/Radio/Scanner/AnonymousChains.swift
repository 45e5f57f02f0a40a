import BLEPackets

/// The beginnings of anonymous advertisements. Without an address, the advertising SID and the PHY tell them apart, so
/// that the parts of two advertisers may alternate (zephyr#37336).
struct AnonymousChains {
    private static let capacity = 8

    private var chains: [AdvertisingChain] = []

    /// Whether a report belongs to parts that are there. If it is a new beginning of the same, those are dropped.
    mutating func continues(with report: Scanner.Report, data: RawSpan, at now: Instant) -> Bool {
        guard !chains.isEmpty else { return false }
        removeBegunAgain(by: report, data, at: now)
        return index(of: report, data, at: now) != nil
    }

    private mutating func removeBegunAgain(by report: Scanner.Report, _ data: RawSpan, at now: Instant) {
        for index in chains.indices.reversed() where chains[index].isBegunAgain(by: report, data: data, at: now) {
            chains.remove(at: index)
        }
    }

    private func index(of report: Scanner.Report, _ data: RawSpan, at now: Instant) -> Int? {
        // Not by a closure, which cannot have the data.
        for index in chains.indices where chains[index].isContinued(by: report, data: data, at: now) { return index }
        return nil
    }

    /// Takes a part.
    /// - Returns: the whole, if this was the last one.
    mutating func join(_ part: RawSpan, of report: Scanner.Report, at now: Instant) -> [UInt8]? {
        let place: Int
        if let continued = index(of: report, part, at: now) {
            place = continued
        } else {
            chains.removeAll { $0.isOver(at: now) }
            removeBegunAgain(by: report, part, at: now)
            if chains.count >= Self.capacity { chains.removeFirst() }
            place = chains.count
            chains.append(AdvertisingChain())
        }
        guard chains[place].add(part, of: report, at: now) else { return nil }
        return chains.remove(at: place).octets
    }

    mutating func removeAll() { chains = [] }
}
