import BLEHost
import BLEPackets
import BLESimulator

/// A virtual air with stations on it, all under one virtual clock.
final class World {
    let air: SimulatedAir
    private(set) var now = Instant.zero
    private var stations: [any Station] = []

    init(seed: UInt64 = 1) { air = SimulatedAir(seed: seed) }

    func add(_ station: any Station) {
        stations.append(station)
        settle()
    }

    func remove(_ station: any Station) { stations.removeAll { $0 === station } }

    /// Lets time pass until `isDone` holds or the span is over.
    /// - Returns: whether it held.
    @discardableResult
    func run(for span: Microseconds, until isDone: () -> Bool = { false }) -> Bool {
        settle()
        let end = now.advanced(by: span)
        while !isDone() {
            var next = air.nextDeadlineMicroseconds.map { Instant(microseconds: $0) }
            for station in stations {
                if let deadline = station.nextDeadline { next = next.map { min($0, deadline) } ?? deadline }
            }
            now = max(now, min(next ?? end, end))
            air.advance(to: now.microseconds)
            for station in stations {
                if let deadline = station.nextDeadline, deadline <= now { station.advance(to: now) }
            }
            settle()
            if next.map({ $0 > end }) ?? true { return isDone() }
            if now == end, next == end { return isDone() }
        }
        return true
    }

    func settle() {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            for station in stations where station.exchange(with: air, at: now) { isQuiet = false }
        }
    }
}

/// Whatever drives a controller on the air.
protocol Station: AnyObject {
    var nextDeadline: Instant? { get }
    func advance(to now: Instant)
    /// Hands packets over in both directions.
    /// - Returns: whether there were any.
    func exchange(with air: SimulatedAir, at now: Instant) -> Bool
}
