/// The number of completed packets of one link (Core 5.4, Vol 4, Part E, 7.7.19).
public struct CompletedPackets: Hashable, Sendable {
    /// The link of the packets; after its end nothing is reported.
    public var connectionHandle: ConnectionHandle
    /// Packets done with since the last report of this link.
    public var count: UInt16

    @inlinable
    public init(connectionHandle: ConnectionHandle, count: UInt16) {
        self.connectionHandle = connectionHandle
        self.count = count
    }

    /// - Throws: `DecodingError.truncated` when fewer than four octets remain.
    @inlinable
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        count = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(count)
    }

    /// Reads a count and that many elements.
    static func list(decoding reader: inout PacketReader) throws(DecodingError) -> [CompletedPackets] {
        let count = Int(try reader.read(UInt8.self))
        guard reader.remainingCount >= count * 4 else {
            throw .truncated(needed: count * 4, remaining: reader.remainingCount)
        }
        var list: [CompletedPackets] = []
        list.reserveCapacity(count)
        for _ in 0..<count { list.append(try CompletedPackets(decoding: &reader)) }
        return list
    }

    static func encode(_ list: [CompletedPackets], into packet: inout PacketWriter) {
        packet.write(UInt8(truncatingIfNeeded: list.count))
        for each in list { each.encode(into: &packet) }
    }
}
