import BLEHost
import BLESimulator

/// A virtual air with stations on it, all under one virtual clock.
///
/// Time stands still between the calls: what a station does is carried out before the call returns, and `run` goes from
/// one deadline to the next.
public final class World {
    public let air: SimulatedAir
    public private(set) var now = Instant.zero
    /// In the order in which they came.
    public private(set) var stations: [any Station] = []

    public init(_ air: SimulatedAir = SimulatedAir()) { self.air = air }

    public func add(_ station: any Station) {
        stations.append(station)
        settle()
    }

    public func remove(_ station: any Station) { stations.removeAll { $0 === station } }

    /// When anything happens next, on the air or at a station.
    public var nextDeadline: Instant? {
        stations.reduce(air.nextDeadlineMicroseconds.map { Instant(microseconds: $0) }) {
            earliest($0, $1.nextDeadline)
        }
    }

    /// Lets time pass until `isDone` holds or the span is over.
    /// - Returns: whether it held.
    @discardableResult
    public func run(for span: Microseconds, until isDone: () -> Bool = { false }) -> Bool {
        settle()
        let end = now.advanced(by: span)
        while !isDone() {
            guard let next = nextDeadline, next <= end else {
                now = end
                air.advance(to: now.microseconds)
                settle()
                return isDone()
            }
            now = max(now, next)
            air.advance(to: now.microseconds)
            for station in stations {
                if let deadline = station.nextDeadline, deadline <= now { station.take(.advance, at: now) }
            }
            settle()
        }
        return true
    }

    /// Hands packets over in both directions until nothing moves.
    public func settle() {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            for station in stations where exchange(station) { isQuiet = false }
        }
    }

    /// Answers a station's questions and carries packets between it and its controller.
    /// - Returns: whether there was anything to do.
    private func exchange(_ station: any Station) -> Bool {
        var isBusy = false
        while let (question, result) = station.nextAnswer() {
            isBusy = true
            station.take(.cryptoProvider(question, result), at: now)
        }
        for packet in station.takePackets() {
            isBusy = true
            air.send(packet.span.bytes, to: station.controller, at: now.microseconds)
        }
        while let packet = air.nextPacket(from: station.controller) {
            isBusy = true
            station.take(.packet(station.received(packet)), at: now)
        }
        return station.collect(at: now) || isBusy
    }
}
