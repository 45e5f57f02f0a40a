/// Packets that wait, oldest first.
struct PacketQueue {
    private var packets: [[UInt8]] = []
    private var head = 0

    var count: Int { packets.count - head }

    mutating func append(_ packet: [UInt8]) { packets.append(packet) }

    mutating func popFirst() -> [UInt8]? {
        guard head < packets.count else { return nil }
        defer {
            head += 1
            if head == packets.count || head > 1024 {
                packets.removeFirst(head)
                head = 0
            }
        }
        return packets[head]
    }
}
