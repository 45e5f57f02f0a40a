import BLE

/// Shows packets to several observers, in order.
final class PacketObservers: PacketObserver {
    private let observers: [any PacketObserver]

    init(_ observers: [(any PacketObserver)?]) { self.observers = observers.compactMap { $0 } }

    func observe(_ packet: RawSpan, direction: PacketDirection, unixMicroseconds: UInt64) {
        for observer in observers {
            observer.observe(packet, direction: direction, unixMicroseconds: unixMicroseconds)
        }
    }
}

/// Passes what crosses HCI to the daemon, on its loop.
final class TrafficTap: PacketObserver, @unchecked Sendable {
    // @unchecked Sendable is correct because only the loop uses it: the engine calls `observe` there.
    /// Gets every packet while `isWanted`.
    var onPacket: ((RawSpan, PacketDirection, UInt64) -> Void)?
    /// While nobody wants to see packets, they cost nothing.
    var isWanted = false
    /// The observer that the daemon's owner has set.
    var next: (any PacketObserver)?

    func observe(_ packet: RawSpan, direction: PacketDirection, unixMicroseconds: UInt64) {
        next?.observe(packet, direction: direction, unixMicroseconds: unixMicroseconds)
        if isWanted { onPacket?(packet, direction, unixMicroseconds) }
    }
}
