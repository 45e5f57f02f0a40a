import BLEPackets

/// ACL data that arrived before the Connection Complete of its handle: events and data may travel on different pipes
/// (pain 11). Each packet waits for a limited time, and their number is limited.
///
/// Data for a handle that has just been disconnected is late, not early, and is not stored.
struct ParkedPackets {
    private struct Packet {
        var handle: ConnectionHandle
        var bytes: [UInt8]
        var expiry: Instant
    }

    private static let timeout: Microseconds = .milliseconds(500)
    private static let lateness: Microseconds = .milliseconds(100)

    private let limit: Int
    private var packets: [Packet] = []
    private var closed: [(handle: ConnectionHandle, until: Instant)] = []

    init(limit: Int) { self.limit = limit }

    /// - Returns: whether the packet is stored.
    mutating func park(_ packet: RawSpan, for handle: ConnectionHandle, at now: Instant) -> Bool {
        packets.removeAll { $0.expiry <= now }
        closed.removeAll { $0.until <= now }
        guard packets.count < limit, !closed.contains(where: { $0.handle == handle }) else { return false }
        packets.append(Packet(handle: handle, bytes: packet.copied(), expiry: now.advanced(by: Self.timeout)))
        return true
    }

    /// Whether a packet waits for this handle.
    func hasPackets(for handle: ConnectionHandle, at now: Instant) -> Bool {
        packets.contains { $0.handle == handle && $0.expiry > now }
    }

    /// Takes the packets for a handle whose link now exists, in order.
    mutating func remove(for handle: ConnectionHandle, at now: Instant) -> [[UInt8]] {
        closed.removeAll { $0.handle == handle }
        guard !packets.isEmpty else { return [] }
        let taken = packets.filter { $0.handle == handle && $0.expiry > now }.map { $0.bytes }
        packets.removeAll { $0.handle == handle }
        return taken
    }

    mutating func linkClosed(_ handle: ConnectionHandle, at now: Instant) {
        packets.removeAll { $0.handle == handle }
        closed.removeAll { $0.until <= now || $0.handle == handle }
        closed.append((handle, now.advanced(by: Self.lateness)))
    }

    mutating func removeAll() {
        packets.removeAll()
        closed.removeAll()
    }
}
