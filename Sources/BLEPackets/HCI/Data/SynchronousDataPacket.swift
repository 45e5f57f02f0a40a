/// A synchronous (SCO) data packet in place, without copying its data (Core 5.4, Vol 4, Part E, 5.4.3).
public struct SynchronousDataPacket: ~Escapable {
    /// Octets of the header, without the H4 packet type.
    public static let headerLength = 3

    /// The voice link of the data.
    public let connectionHandle: ConnectionHandle
    /// The status of the data: 0 correct, 1 possibly invalid, 2 nothing received, 3 partly lost.
    public let packetStatus: UInt8
    /// Octets of voice in the coding of the link, at most 255.
    public let data: RawSpan

    /// - Parameter packet: The packet after the H4 packet type.
    /// - Throws: `DecodingError.truncated` when the header is incomplete, `DecodingError.lengthMismatch` when the
    ///   length of the data differs from the header.
    @inlinable @_lifetime(copy packet)
    public init(decoding packet: RawSpan) throws(DecodingError) {
        var reader = PacketReader(packet)
        let fields = try DataPacketFields(decoding: &reader)
        connectionHandle = fields.connectionHandle
        packetStatus = fields.flags & 0b11
        let length = Int(try reader.read(UInt8.self))
        guard reader.remainingCount == length else {
            throw .lengthMismatch(stated: length, actual: reader.remainingCount)
        }
        data = reader.readRest()
    }

    /// Writes the three octets of the header; the data follows.
    /// - Parameter length: Octets of data, at most 255.
    public static func encodeHeader(
        into packet: inout PacketWriter, handle: ConnectionHandle, packetStatus: UInt8 = 0, length: Int
    ) {
        DataPacketFields(connectionHandle: handle, flags: packetStatus & 0b11).encode(into: &packet)
        packet.write(UInt8(truncatingIfNeeded: length))
    }
}
