/// A basic information frame, which is how every L2CAP packet looks from outside (Core 5.4, Vol 3, Part A, 3.1).
///
/// The frame borrows the bytes it was made from: nothing is copied.
public struct L2CAPBasicFrame: ~Escapable {
    /// What stands before the payload: its length and the channel it belongs to.
    public struct Header: Hashable, Sendable {
        /// Octets that the header itself takes.
        public static let byteCount = 4

        /// Octets of payload, without the header.
        public var payloadLength: UInt16
        /// The channel's end at the receiver of the frame.
        public var channelIdentifier: L2CAPChannelIdentifier

        /// - Parameter payloadLength: octets behind the header, not checked against anything.
        @inlinable
        public init(payloadLength: UInt16, channelIdentifier: L2CAPChannelIdentifier) {
            self.payloadLength = payloadLength
            self.channelIdentifier = channelIdentifier
        }

        /// Reads the header alone, as the start fragment of a longer packet begins with it.
        /// - Throws: `DecodingError.truncated` when fewer than four octets are there.
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
    /// Everything behind the header.
    public let payload: RawSpan

    /// The channel's end at the receiver of the frame.
    @inlinable public var channelIdentifier: L2CAPChannelIdentifier { header.channelIdentifier }
    /// Octets of payload.
    @inlinable public var length: Int { payload.byteCount }

    /// Views a whole frame.
    /// - Throws: `DecodingError.truncated` when the header is not whole, `.lengthMismatch` when the payload is shorter
    ///   or longer than the header states.
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

    /// Writes a header and whatever `payload` writes, and puts the length in afterwards.
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
