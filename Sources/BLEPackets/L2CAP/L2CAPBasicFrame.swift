/// A basic information frame, the outer form of every L2CAP packet (Core 5.4, Vol 3, Part A, 3.1).
///
/// The frame borrows its bytes without copying them.
public struct L2CAPBasicFrame: ~Escapable {
    /// The header: the length of the payload and its channel.
    public struct Header: Hashable, Sendable {
        /// The length of the header in octets.
        public static let byteCount = 4

        /// Octets of payload, without the header.
        public var payloadLength: UInt16
        /// The channel's end at the receiver of the frame.
        public var channelIdentifier: L2CAPChannelIdentifier

        /// - Parameter payloadLength: octets after the header; not checked.
        @inlinable
        public init(payloadLength: UInt16, channelIdentifier: L2CAPChannelIdentifier) {
            self.payloadLength = payloadLength
            self.channelIdentifier = channelIdentifier
        }

        /// Reads only the header, for the first fragment of a longer packet.
        /// - Throws: `DecodingError.truncated` when fewer than four octets remain.
        @inlinable
        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            guard reader.remainingCount >= Self.byteCount else {
                throw .truncated(needed: Self.byteCount, remaining: reader.remainingCount)
            }
            payloadLength = try reader.read()
            channelIdentifier = L2CAPChannelIdentifier(rawValue: try reader.read())
        }

        /// Writes the four octets of the header; the payload follows.
        @inlinable
        public func encode(into packet: inout PacketWriter) {
            packet.write(payloadLength)
            packet.write(channelIdentifier.rawValue)
        }
    }

    /// Length and channel, as they stood in the packet.
    public let header: Header
    /// The octets after the header.
    public let payload: RawSpan

    /// The channel's end at the receiver of the frame.
    @inlinable public var channelIdentifier: L2CAPChannelIdentifier { header.channelIdentifier }
    /// Octets of payload.
    @inlinable public var length: Int { payload.byteCount }

    /// Decodes a complete frame.
    /// - Throws: `DecodingError.truncated` when the header is incomplete, `.lengthMismatch` when the length of the
    ///   payload differs from the header.
    @inlinable @_lifetime(copy bytes)
    public init(decoding bytes: RawSpan) throws(DecodingError) {
        var reader = PacketReader(bytes)
        let header = try Header(decoding: &reader)
        guard Int(header.payloadLength) == reader.remainingCount else {
            throw .lengthMismatch(stated: Int(header.payloadLength), actual: reader.remainingCount)
        }
        self.header = header
        payload = reader.readRest()
    }

    /// Writes a header and the payload that the closure writes, and sets the length afterwards.
    ///
    /// - Parameter payload: writes at most 65535 octets.
    @inlinable
    public static func encode(
        on channelIdentifier: L2CAPChannelIdentifier, into packet: inout PacketWriter,
        payload: (inout PacketWriter) -> Void
    ) {
        let start = packet.count
        Header(payloadLength: 0, channelIdentifier: channelIdentifier).encode(into: &packet)
        payload(&packet)
        let length = packet.count - start - Header.byteCount
        packet.overwrite(UInt16(truncatingIfNeeded: length), at: start)
    }
}
