/// Number Of Completed Packets: the controller has room for more data (Core 5.4, Vol 4, Part E, 7.7.19).
public struct NumberOfCompletedPackets: HCIEvent {
    public static let code = HCIEventCode.numberOfCompletedPackets

    /// At most 63.
    public var links: [CompletedPackets]

    public init(links: [CompletedPackets]) { self.links = links }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        links = try CompletedPackets.list(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) { CompletedPackets.encode(links, into: &packet) }
}

/// Walks through a Number Of Completed Packets event without copying it (Core 5.4, Vol 4, Part E, 7.7.19).
public struct NumberOfCompletedPacketsView: ~Escapable {
    @usableFromInline var reader: PacketReader
    @usableFromInline var remainingCount: Int

    /// - Parameter parameters: the parameters after the event's length.
    /// - Throws: `DecodingError.truncated` when the event has fewer links than it states; then no credit is used.
    @inlinable @_lifetime(copy parameters)
    public init(decoding parameters: RawSpan) throws(DecodingError) {
        reader = PacketReader(parameters)
        remainingCount = Int(try reader.read(UInt8.self))
        guard reader.remainingCount >= remainingCount * 4 else {
            throw .truncated(needed: remainingCount * 4, remaining: reader.remainingCount)
        }
    }

    /// Reads the next link and the number of its completed packets; `nil` after the last.
    @inlinable
    public mutating func next() throws(DecodingError) -> (ConnectionHandle, UInt16)? {
        guard remainingCount > 0 else { return nil }
        remainingCount -= 1
        let packets = try CompletedPackets(decoding: &reader)
        return (packets.connectionHandle, packets.count)
    }
}
