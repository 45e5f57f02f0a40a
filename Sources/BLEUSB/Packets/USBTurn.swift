/// What has arrived in one turn of the loop, in the order in which the host gets it.
///
/// Events and data come through two endpoints, and their order is lost on the way: data of a new link can overtake the
/// event that reports the link, and encrypted data the event that reports the encryption. So events come first. Only a
/// Disconnection Complete waits for the data, which the host would otherwise throw away.
struct USBTurn {
    private var events: [[UInt8]] = []
    private var data: [[UInt8]] = []

    private static let disconnectionComplete: UInt8 = 0x05

    var isEmpty: Bool { events.isEmpty && data.isEmpty }

    /// Adds a packet, type octet first, of the endpoint of events.
    mutating func add(event packet: [UInt8]) { events.append(packet) }

    /// Adds a packet, type octet first, of the endpoint of data.
    mutating func add(data packet: [UInt8]) { data.append(packet) }

    /// The packets in order; nothing is left.
    mutating func take() -> [[UInt8]] {
        // After one that waits, the others keep their order.
        let end = data.isEmpty ? nil : events.firstIndex { $0.count > 1 && $0[1] == Self.disconnectionComplete }
        let packets = events[..<(end ?? events.count)] + data + events[(end ?? events.count)...]
        events.removeAll(keepingCapacity: true)
        data.removeAll(keepingCapacity: true)
        return Array(packets)
    }
}
