/// Credit Based Reconfigure Request: other sizes for channels of the enhanced form (Core 5.4, Vol 3, Part A, 4.27).
public struct L2CAPCreditBasedReconfigureRequest: L2CAPSignallingCommand {
    /// 0x19, from both sides, for channels that are there. The new sizes hold for what the receiver sends.
    public static let code = L2CAPSignallingCode.creditBasedReconfigureRequest

    /// The largest service data unit that the sender accepts, in octets; at least 64.
    public var maximumTransmissionUnit: UInt16
    /// The largest payload of one K-frame that the sender accepts, in octets; at least 64.
    public var maximumPayloadSize: UInt16
    /// The channels' ends at the sender of this request, one to five.
    public var destinationChannelIdentifiers: [L2CAPChannelIdentifier]

    public init(
        maximumTransmissionUnit: UInt16, maximumPayloadSize: UInt16, destinations: [L2CAPChannelIdentifier]
    ) {
        self.maximumTransmissionUnit = maximumTransmissionUnit
        self.maximumPayloadSize = maximumPayloadSize
        destinationChannelIdentifiers = destinations
    }

    /// - Throws: `DecodingError.truncated` when the data is too short, `.invalidValue` with field `count` for no
    ///   channel and for more than five.
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        maximumTransmissionUnit = try reader.read()
        maximumPayloadSize = try reader.read()
        destinationChannelIdentifiers = try L2CAPChannelIdentifier.list(decoding: &reader)
        guard !destinationChannelIdentifiers.isEmpty else { throw .invalidValue(0, field: .count) }
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(maximumTransmissionUnit)
        packet.write(maximumPayloadSize)
        for identifier in destinationChannelIdentifiers { packet.write(identifier.rawValue) }
    }
}

/// Credit Based Reconfigure Response: whether the sizes hold (Core 5.4, Vol 3, Part A, 4.28).
public struct L2CAPCreditBasedReconfigureResponse: L2CAPSignallingCommand {
    /// 0x1A, from both sides. Without success all channels keep their sizes.
    public static let code = L2CAPSignallingCode.creditBasedReconfigureResponse

    /// Success if all channels have the new sizes, otherwise the reason why none has.
    public var result: L2CAPReconfigureResult

    public init(result: L2CAPReconfigureResult) { self.result = result }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        result = L2CAPReconfigureResult(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) { packet.write(result.rawValue) }
}
