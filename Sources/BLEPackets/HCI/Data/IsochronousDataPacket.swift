/// An isochronous (ISO) data packet in place, without copying its data (Core 5.4, Vol 4, Part E, 5.4.5).
public struct IsochronousDataPacket: ~Escapable {
    /// Octets of the header, without the H4 packet type.
    public static let headerLength = 4

    /// The position of a fragment in its service data unit (Core 5.4, Vol 4, Part E, 5.4.5).
    public enum BoundaryFlag: UInt8, Hashable, Sendable {
        /// The first of several fragments.
        case first = 0b00
        /// Neither the first nor the last of several fragments.
        case continuing = 0b01
        /// A complete SDU.
        case complete = 0b10
        /// The last of several fragments.
        case last = 0b11
    }

    /// The isochronous stream of the data.
    public let connectionHandle: ConnectionHandle
    /// Which part of its unit the fragment is.
    public let boundary: BoundaryFlag
    /// Whether the load begins with a time stamp of four octets, in microseconds.
    public let hasTimestamp: Bool
    /// Time stamp, sequence number and length of the SDU, depending on the flags, and data.
    public let load: RawSpan

    /// - Parameter packet: The packet after the H4 packet type.
    /// - Throws: `DecodingError.truncated` when the header is incomplete, `DecodingError.lengthMismatch` when the
    ///   length of the load differs from the header.
    @inlinable @_lifetime(copy packet)
    public init(decoding packet: RawSpan) throws(DecodingError) {
        var reader = PacketReader(packet)
        let fields = try DataPacketFields(decoding: &reader)
        connectionHandle = fields.connectionHandle
        boundary = BoundaryFlag(rawValue: fields.flags & 0b11) ?? .complete
        hasTimestamp = fields.flags & 0b100 != 0
        let length = Int(try reader.read(UInt16.self) & 0x3FFF)
        guard reader.remainingCount == length else {
            throw .lengthMismatch(stated: length, actual: reader.remainingCount)
        }
        load = reader.readRest()
    }

    /// Writes the four octets of the header; the load follows.
    /// - Parameter length: Octets of load, at most 16,383.
    public static func encodeHeader(
        into packet: inout PacketWriter, handle: ConnectionHandle, boundary: BoundaryFlag, hasTimestamp: Bool = false,
        length: Int
    ) {
        DataPacketFields(connectionHandle: handle, flags: boundary.rawValue | (hasTimestamp ? 0b100 : 0))
            .encode(into: &packet)
        packet.write(UInt16(truncatingIfNeeded: length) & 0x3FFF)
    }
}
