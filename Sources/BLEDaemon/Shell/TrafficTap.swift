import BLE

/// Shows packets to several observers, in order.
final class PacketObservers: PacketObserver {
    private let observers: [any PacketObserver]

    init(_ observers: [(any PacketObserver)?]) { self.observers = observers.compactMap { $0 } }

    func observe(_ packet: RawSpan, direction: PacketDirection, unixMicroseconds: UInt64) {
        for observer in observers { observer.observe(packet, direction: direction, unixMicroseconds: unixMicroseconds) }
    }
}

/// Passes what crosses HCI to the daemon, on its loop, without its secrets.
final class TrafficTap: PacketObserver, @unchecked Sendable {
    // @unchecked Sendable is correct because only the loop uses it: the engine calls `observe` there.
    /// Gets every packet while it is wanted. The engine is at work then.
    var onPacket: (DaemonInput) -> Void = { _ in }
    /// While no one wants to see packets, they cost nothing.
    private var mask: KeyMask?
    /// The observer that the daemon's owner has set.
    private let next: (any PacketObserver)?

    init(next: (any PacketObserver)?) { self.next = next }

    func setWanted(_ isWanted: Bool) { mask = isWanted ? mask ?? KeyMask() : nil }

    func observe(_ packet: RawSpan, direction: PacketDirection, unixMicroseconds: UInt64) {
        next?.observe(packet, direction: direction, unixMicroseconds: unixMicroseconds)
        guard let octets = mask?.masked(packet, direction) else { return }
        onPacket(.packet(octets, isFromController: direction == .controllerToHost, unixMicroseconds: unixMicroseconds))
    }
}
