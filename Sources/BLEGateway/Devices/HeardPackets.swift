import BLESensors

/// The packets of a device that were received under its key: none of them is fresh when it arrives again.
///
/// The last 8,192 are remembered at least, in two generations of 8 kB; at most 6 of 100 other packets are taken for one
/// of them. Those whose counter is below 1,024 are never forgotten: with such a counter a device begins again, and so
/// would somebody who has recorded how it began before.
struct HeardPackets: Equatable, Sendable {
    private var recent = Self.generation
    private var older = Self.generation
    private var beginnings = PacketDigest(size: 4096)
    private var recentCount = 0

    private static let generation = PacketDigest(size: 8192)
    private static let generationCount = 8192
    private static let beginningLimit: UInt32 = 1024

    init() {}

    var isEmpty: Bool { recent.octets.isEmpty && older.octets.isEmpty && beginnings.octets.isEmpty }

    func contains(_ seal: SensorSeal) -> Bool {
        if seal.counter < Self.beginningLimit, beginnings.contains(seal) { return true }
        return recent.contains(seal) || older.contains(seal)
    }

    /// - Returns: whether this changed anything.
    mutating func insert(_ seal: SensorSeal) -> Bool {
        if seal.counter < Self.beginningLimit { beginnings.insert(seal) }
        guard !recent.contains(seal) else { return false }
        if recentCount >= Self.generationCount {
            older = recent
            recent = Self.generation
            recentCount = 0
        }
        recent.insert(seal)
        recentCount += 1
        return true
    }
}

extension HeardPackets {
    /// The number of recent packets in two octets, then each digest behind an octet that says whether it is there.
    var octets: [UInt8] {
        var octets = [UInt8(truncatingIfNeeded: recentCount), UInt8(truncatingIfNeeded: recentCount >> 8)]
        for digest in [recent, older, beginnings] {
            octets.append(digest.octets.isEmpty ? 0 : 1)
            octets += digest.octets
        }
        return octets
    }

    /// - Parameter octets: those of `octets`, and others behind them; the former are removed.
    init?(from octets: inout ArraySlice<UInt8>) {
        guard let low = octets.popFirst(), let high = octets.popFirst() else { return nil }
        recentCount = Int(low) | Int(high) << 8
        func digest(_ size: Int) -> PacketDigest? {
            guard let mark = octets.popFirst(), mark <= 1, mark == 0 || octets.count >= size else { return nil }
            guard mark == 1 else { return PacketDigest(size: size) }
            defer { octets = octets.dropFirst(size) }
            return PacketDigest(size: size, octets: Array(octets.prefix(size)))
        }
        guard recentCount <= Self.generationCount, let recent = digest(8192), let older = digest(8192),
            let beginnings = digest(4096)
        else { return nil }
        self.recent = recent
        self.older = older
        self.beginnings = beginnings
    }
}
