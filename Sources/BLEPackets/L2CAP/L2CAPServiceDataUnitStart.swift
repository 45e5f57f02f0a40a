/// The payload of the first K-frame of a service data unit on a credit-based channel: the SDU's length, then its first
/// octets (Core 5.4, Vol 3, Part A, 3.4.3). The following K-frames have only octets.
public struct L2CAPServiceDataUnitStart: ~Escapable {
    /// The length of the length field in octets; it counts towards the maximum PDU payload size (MPS).
    public static let lengthFieldByteCount = 2

    /// The length of the SDU in octets, over all its frames.
    public let unitLength: UInt16
    /// The octets of the unit that this frame carries.
    public let firstOctets: RawSpan

    /// Whether this frame carries the unit from its first octet to its last.
    @inlinable public var isWholeUnit: Bool { Int(unitLength) == firstOctets.byteCount }

    /// - Throws: `DecodingError.truncated` when the length field is incomplete, `.lengthMismatch` when the frame has
    ///   more octets than the SDU. Both end the channel.
    @inlinable @_lifetime(copy payload)
    public init(decoding payload: RawSpan) throws(DecodingError) {
        var reader = PacketReader(payload)
        unitLength = try reader.read()
        firstOctets = reader.readRest()
        guard firstOctets.byteCount <= Int(unitLength) else {
            throw .lengthMismatch(stated: Int(unitLength), actual: firstOctets.byteCount)
        }
    }

    /// Writes the length field; the octets of the unit follow.
    @inlinable
    public static func encode(unitLength: UInt16, into packet: inout PacketWriter) { packet.write(unitLength) }

    /// The number of K-frames of an SDU, which is also the number of credits.
    ///
    /// - Parameters:
    ///   - unitLength: the length of the SDU in octets.
    ///   - maximumPayloadSize: the receiver's MPS, at least 23 octets.
    /// - Returns: at least 1; `nil` for a payload size without room after the length field.
    public static func frameCount(unitLength: UInt16, maximumPayloadSize: UInt16) -> Int? {
        guard Int(maximumPayloadSize) > lengthFieldByteCount else { return nil }
        let octets = Int(unitLength) + lengthFieldByteCount
        return (octets + Int(maximumPayloadSize) - 1) / Int(maximumPayloadSize)
    }
}
