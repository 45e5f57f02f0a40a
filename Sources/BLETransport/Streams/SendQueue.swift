import BLEPackets

/// Packets that the kernel has not accepted yet, in order and bounded.
struct SendQueue {
    /// Far beyond what a host can have in flight (its credits and one command): more means that the other side does not
    /// read.
    static let maximumByteCount = 1 << 20

    /// Packets that are joined grow to this size.
    private static let joinedByteCount = 16 * 1024

    /// Whether a packet is joined to the one before it. One who does not read would otherwise leave tens of thousands
    /// of small ones, which take a multiple of their bytes and milliseconds to release.
    private let joins: Bool
    private var packets = Queue<[UInt8]>()
    /// How many bytes of the first packet have been sent.
    private var sentOfHead = 0
    private(set) var byteCount = 0

    /// - Parameter joins: whether the limits of packets may change.
    init(joins: Bool = false) { self.joins = joins }

    var isEmpty: Bool { packets.isEmpty }

    /// Queues a packet whose first bytes may have been sent already.
    /// - Returns: `false` when the queue is full; the packet is not queued then.
    mutating func append(_ packet: RawSpan, alreadySent: Int = 0) -> Bool {
        guard byteCount + packet.byteCount - alreadySent <= SendQueue.maximumByteCount else { return false }
        if alreadySent > 0, isEmpty { sentOfHead = alreadySent }
        if joins, let count = packets.last?.count, count + packet.byteCount <= Self.joinedByteCount {
            join(packet)
        } else {
            packets.append(packet.copied())
        }
        byteCount += packet.byteCount - alreadySent
        return true
    }

    private mutating func join(_ packet: RawSpan) {
        guard var last = packets.popLast() else { return }
        unsafe packet.withUnsafeBytes { unsafe last.append(contentsOf: $0) }
        packets.append(last)
    }

    /// Writes until the queue is empty or `write` stops.
    /// - Parameter write: gets the rest of one packet; returns how many bytes it wrote, or a negative number to stop.
    mutating func flush(write: (UnsafeRawBufferPointer) -> Int) {
        while let packet = packets.first {
            let (count, remaining) = unsafe packet.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[sentOfHead...])
                return unsafe (write(rest), rest.count)
            }
            guard count >= 0 else { return }
            byteCount -= min(count, remaining)
            if count < remaining {
                sentOfHead += count
                return
            }
            _ = packets.popFirst()
            sentOfHead = 0
        }
    }
}
