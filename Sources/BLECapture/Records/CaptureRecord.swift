public import BLEPackets

/// One record of a capture, lent by the reader until its next record is asked for.
///
/// `bytes` lies in the reader's buffer; take `bytes.copied()` of what must live longer.
public struct CaptureRecord: ~Escapable {
    /// What the bytes of a record are.
    public enum Content: Hashable, Sendable {
        /// An H4 packet: the type octet, then the packet (Core 5.4, Vol 4, Part A, 2).
        ///
        /// The type is as the file has it and may be none of the specification's; a damaged file may hold a packet
        /// without any octet.
        case packet(CaptureDirection)
        /// Something beside the packets: an adapter that comes or goes, a log line, management traffic.
        case note(CaptureNote)
    }

    /// What the record holds.
    public let content: Content
    /// Microseconds since 1970-01-01 00:00 UTC; where the format counts finer, rounded down.
    ///
    /// The simple packets of pcapng carry no time: they have that of the record before.
    public let timestampMicroseconds: Int64
    /// The adapter's index; 0 where the format does not tell adapters apart, `noAdapter` where none is meant.
    public let adapter: UInt16
    /// How many octets the record had before a capture program shortened it; `bytes.byteCount` when it did not.
    public let originalByteCount: Int
    /// A packet with its H4 type octet, or the payload of a note.
    public let bytes: RawSpan

    /// The index of monitor records that concern no adapter.
    public static var noAdapter: UInt16 { 0xFFFF }

    @usableFromInline @_lifetime(copy bytes)
    init(
        content: Content, timestampMicroseconds: Int64, adapter: UInt16, originalByteCount: Int, bytes: RawSpan
    ) {
        self.content = content
        self.timestampMicroseconds = timestampMicroseconds
        self.adapter = adapter
        self.originalByteCount = originalByteCount
        self.bytes = bytes
    }

    /// The way of a packet; `nil` for a note.
    @inlinable public var direction: CaptureDirection? {
        if case .packet(let direction) = content { direction } else { nil }
    }

    /// The H4 type of a packet; `nil` for a note, an empty packet and a type that the specification does not know.
    @inlinable public var packetType: H4PacketType? {
        guard case .packet = content, let octet = bytes.byte(at: 0) else { return nil }
        return H4PacketType(rawValue: octet)
    }

    /// Whether the capture program kept only the start of the record.
    @inlinable public var isShortened: Bool { originalByteCount > bytes.byteCount }
}
