import BLEPackets

/// Packets that wait for the transport, one after the other in a buffer that is reused.
struct Outbox {
    private var packets = PacketWriter(reservingCapacity: 4096)
    private var ends: [Int] = []

    var isEmpty: Bool { ends.isEmpty }

    /// Appends one packet, written by `encode`.
    @inline(__always)
    mutating func append(_ encode: (inout PacketWriter) -> Void) {
        encode(&packets)
        ends.append(packets.count)
    }

    mutating func append<Command: HCICommand>(_ command: Command) {
        append { command.encodePacket(into: &$0) }
    }

    /// Passes each packet to `send` in order, then removes them all.
    mutating func drain(_ send: (RawSpan) -> Void) {
        guard !ends.isEmpty else { return }
        lend(send)
        removeAll()
    }

    private func lend(_ send: (RawSpan) -> Void) {
        let bytes = packets.bytes.span.bytes
        var start = 0
        for end in ends {
            send(bytes.extracting(start..<end))
            start = end
        }
    }

    mutating func removeAll() {
        packets.removeAll()
        ends.removeAll(keepingCapacity: true)
    }
}
