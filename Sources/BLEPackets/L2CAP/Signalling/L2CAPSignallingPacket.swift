/// One packet of the signalling channel: a header and the data of a command (Core 5.4, Vol 3, Part A, 4).
///
/// On an LE link a frame carries exactly one of them. The packet borrows the bytes it was made from.
public struct L2CAPSignallingPacket: ~Escapable {
    /// The header of a command.
    public struct Header: Hashable, Sendable {
        /// The length of the header in octets.
        public static let byteCount = 4

        /// The code; reject unknown codes, do not ignore them.
        public var code: L2CAPSignallingCode
        /// Matches a response to its request; 0x01 to 0xFF.
        public var identifier: UInt8
        /// Octets of data, without the header.
        public var dataLength: UInt16

        /// - Parameters:
        ///   - identifier: 0x01 to 0xFF; a response repeats that of its request.
        ///   - dataLength: octets after the header; not checked.
        @inlinable
        public init(code: L2CAPSignallingCode, identifier: UInt8, dataLength: UInt16) {
            self.code = code
            self.identifier = identifier
            self.dataLength = dataLength
        }

        /// Reads only the header, so that a packet with malformed data can be rejected by its identifier.
        /// - Throws: `DecodingError.truncated` when fewer than four octets remain, `.invalidValue` for identifier 0.
        @inlinable
        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            guard reader.remainingCount >= Self.byteCount else {
                throw .truncated(needed: Self.byteCount, remaining: reader.remainingCount)
            }
            code = L2CAPSignallingCode(rawValue: try reader.read())
            identifier = try reader.read()
            dataLength = try reader.read()
            guard identifier != 0 else { throw .invalidValue(0, field: .identifier) }
        }

        /// Writes the four octets of the header; the data follows.
        @inlinable
        public func encode(into packet: inout PacketWriter) {
            packet.write(code.rawValue)
            packet.write(identifier)
            packet.write(dataLength)
        }
    }

    /// Code, identifier and length, as they stood in the packet.
    public let header: Header
    /// The octets after the header, for a `L2CAPSignallingCommand` to read.
    public let data: RawSpan

    /// What the packet is.
    @inlinable public var code: L2CAPSignallingCode { header.code }
    /// Matches a response to its request; 0x01 to 0xFF.
    @inlinable public var identifier: UInt8 { header.identifier }

    /// Decodes the payload of a frame on the LE signalling channel.
    /// - Throws: `DecodingError.truncated` when the header is incomplete, `.invalidValue` for identifier 0,
    ///   `.lengthMismatch` when the length of the data differs from the header.
    @inlinable @_lifetime(copy payload)
    public init(decoding payload: RawSpan) throws(DecodingError) {
        var reader = PacketReader(payload)
        let header = try Header(decoding: &reader)
        guard Int(header.dataLength) == reader.remainingCount else {
            throw .lengthMismatch(stated: Int(header.dataLength), actual: reader.remainingCount)
        }
        self.header = header
        data = reader.readRest()
    }
}
