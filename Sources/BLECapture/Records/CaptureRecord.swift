public import BLEPackets

/// One record of a capture, valid until the reader's next record is read.
///
/// `bytes` is in the reader's buffer; use `bytes.copied()` to keep it longer.
public struct CaptureRecord: ~Escapable {
    /// The kind of a record.
    public enum Content: Hashable, Sendable {
        /// An H4 packet: the type octet, then the packet (Core 5.4, Vol 4, Part A, 2).
        ///
        /// The type is the one in the file and may be unknown to the specification; a damaged file may contain an empty
        /// packet.
        case packet(CaptureDirection)
        /// A packet of the link layer, as a sniffer received it.
        case linkLayer(LinkLayerReading)
        /// Not a packet: an adapter that was added or removed, a log line, management traffic.
        case note(CaptureNote)
    }

    /// The kind of the record.
    public let content: Content
    /// Microseconds since 1970-01-01 00:00 UTC; finer resolutions are rounded down.
    ///
    /// Simple packets of pcapng have no time; they get that of the previous record.
    public let timestampMicroseconds: Int64
    /// The adapter's index; 0 if the format does not distinguish adapters, `noAdapter` if the record concerns none.
    public let adapter: UInt16
    /// The length of the record before a capture program shortened it; otherwise `bytes.byteCount`.
    public let originalByteCount: Int
    /// A packet with its H4 type octet, the payload of a note, or a packet of the link layer from its access address on.
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

    /// The direction of an HCI packet; `nil` for others.
    @inlinable public var direction: CaptureDirection? {
        if case .packet(let direction) = content { direction } else { nil }
    }

    /// The H4 type of an HCI packet; `nil` for an empty packet and an unknown type.
    @inlinable public var packetType: H4PacketType? {
        guard case .packet = content, let octet = bytes.byte(at: 0) else { return nil }
        return H4PacketType(rawValue: octet)
    }

    /// Whether the capture program kept only the start of the record.
    @inlinable public var isShortened: Bool { originalByteCount > bytes.byteCount }
}
