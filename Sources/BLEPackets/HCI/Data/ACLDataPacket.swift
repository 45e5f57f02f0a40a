/// The position of a fragment in its L2CAP frame (Core 5.4, Vol 4, Part E, 5.4.2).
public enum PacketBoundaryFlag: UInt8, Hashable, Sendable {
    /// The first fragment from an LE host: the controller does not flush it.
    case firstNonFlushable = 0b00
    /// A later fragment of the frame that began last on this link.
    case continuing = 0b01
    /// The first fragment from a controller, or a flushable one from a host.
    case first = 0b10
    /// A complete BR/EDR frame.
    case complete = 0b11

    /// Whether an L2CAP frame begins with this fragment.
    @inlinable public var isFirst: Bool { self != .continuing }
}

/// Whether data is for one device or for several (Core 5.4, Vol 4, Part E, 5.4.2); LE knows only the first.
public enum BroadcastFlag: UInt8, Hashable, Sendable {
    /// For the one device at the other end of the link.
    case pointToPoint = 0b00
    /// BR/EDR: for all devices of a piconet.
    case broadcast = 0b01
    case reserved2 = 0b10
    case reserved3 = 0b11
}

/// An ACL data packet in place, without copying its data (Core 5.4, Vol 4, Part E, 5.4.2).
public struct ACLDataPacket: ~Escapable {
    /// Octets of the header, without the H4 packet type.
    public static let headerLength = 4

    /// The link of the data.
    public let connectionHandle: ConnectionHandle
    /// Whether an L2CAP frame begins here.
    public let boundary: PacketBoundaryFlag
    /// For whom the data is.
    public let broadcast: BroadcastFlag
    /// A fragment of an L2CAP frame.
    public let data: RawSpan

    /// - Parameter packet: The packet after the H4 packet type.
    /// - Throws: `DecodingError.truncated` when the header is incomplete, `DecodingError.lengthMismatch` when the
    ///   length of the data differs from the header.
    @inlinable @_lifetime(copy packet)
    public init(decoding packet: RawSpan) throws(DecodingError) {
        var reader = PacketReader(packet)
        let fields = try DataPacketFields(decoding: &reader)
        connectionHandle = fields.connectionHandle
        boundary = PacketBoundaryFlag(rawValue: fields.flags & 0b11) ?? .continuing
        broadcast = BroadcastFlag(rawValue: fields.flags >> 2) ?? .pointToPoint
        let length = Int(try reader.read(UInt16.self))
        guard reader.remainingCount == length else {
            throw .lengthMismatch(stated: length, actual: reader.remainingCount)
        }
        data = reader.readRest()
    }

    /// Writes the four octets of the header; the data follows.
    /// - Parameter length: Octets of data, at most 65,535.
    public static func encodeHeader(
        into packet: inout PacketWriter, handle: ConnectionHandle, boundary: PacketBoundaryFlag,
        broadcast: BroadcastFlag = .pointToPoint, length: Int
    ) {
        DataPacketFields(connectionHandle: handle, flags: broadcast.rawValue << 2 | boundary.rawValue)
            .encode(into: &packet)
        packet.write(UInt16(truncatingIfNeeded: length))
    }

    /// Writes the H4 packet type and the four octets of the header; the data follows.
    /// - Parameter length: Octets of data, at most 65,535.
    public static func encodePacketHeader(
        into packet: inout PacketWriter, handle: ConnectionHandle, boundary: PacketBoundaryFlag,
        broadcast: BroadcastFlag = .pointToPoint, length: Int
    ) {
        packet.write(H4PacketType.acl.rawValue)
        encodeHeader(into: &packet, handle: handle, boundary: boundary, broadcast: broadcast, length: length)
    }
}

/// The first two octets of every data packet: twelve bits of handle, four of flags (Core 5.4, Vol 4, Part E, 5.4.2).
@usableFromInline
struct DataPacketFields {
    @usableFromInline let connectionHandle: ConnectionHandle
    /// The upper four bits.
    @usableFromInline let flags: UInt8

    init(connectionHandle: ConnectionHandle, flags: UInt8) {
        self.connectionHandle = connectionHandle
        self.flags = flags
    }

    @inlinable
    init(decoding reader: inout PacketReader) throws(DecodingError) {
        let field = try reader.read(UInt16.self)
        connectionHandle = ConnectionHandle(rawValue: field & 0x0FFF)
        flags = UInt8(truncatingIfNeeded: field >> 12)
    }

    func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue & 0x0FFF | UInt16(flags & 0x0F) << 12)
    }
}
