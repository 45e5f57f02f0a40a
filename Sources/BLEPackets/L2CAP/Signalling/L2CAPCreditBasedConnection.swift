/// Credit Based Connection Request: requests up to five channels, the enhanced form (Core 5.4, Vol 3, Part A, 4.25).
public struct L2CAPCreditBasedConnectionRequest: L2CAPSignallingCommand {
    /// 0x17, from both sides.
    public static let code = L2CAPSignallingCode.creditBasedConnectionRequest
    /// Channels that one packet of the enhanced form can name.
    public static let maximumChannelCount = 5

    /// Simplified Protocol/Service Multiplexer: 0x0001 to 0x007F assigned, 0x0080 to 0x00FF dynamic.
    public var spsm: UInt16
    /// The largest service data unit that the sender accepts, in octets; at least 64.
    public var maximumTransmissionUnit: UInt16
    /// The largest payload of one K-frame that the sender accepts, in octets; at least 64.
    public var maximumPayloadSize: UInt16
    /// The number of K-frames that the receiver may send on each channel; at least 1.
    public var initialCredits: UInt16
    /// The channels' ends at the sender, one to five.
    public var sourceChannelIdentifiers: [L2CAPChannelIdentifier]

    public init(
        spsm: UInt16, maximumTransmissionUnit: UInt16, maximumPayloadSize: UInt16, initialCredits: UInt16,
        sources: [L2CAPChannelIdentifier]
    ) {
        self.spsm = spsm
        self.maximumTransmissionUnit = maximumTransmissionUnit
        self.maximumPayloadSize = maximumPayloadSize
        self.initialCredits = initialCredits
        sourceChannelIdentifiers = sources
    }

    /// - Throws: `DecodingError.truncated` when the data is too short, `.invalidValue` with field `count` for no
    ///   channel and for more than five.
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        spsm = try reader.read()
        maximumTransmissionUnit = try reader.read()
        maximumPayloadSize = try reader.read()
        initialCredits = try reader.read()
        sourceChannelIdentifiers = try L2CAPChannelIdentifier.list(decoding: &reader)
        guard !sourceChannelIdentifiers.isEmpty else { throw .invalidValue(0, field: .count) }
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(spsm)
        packet.write(maximumTransmissionUnit)
        packet.write(maximumPayloadSize)
        packet.write(initialCredits)
        for identifier in sourceChannelIdentifiers { packet.write(identifier.rawValue) }
    }
}

/// Credit Based Connection Response: which of the channels are there (Core 5.4, Vol 3, Part A, 4.26).
public struct L2CAPCreditBasedConnectionResponse: L2CAPSignallingCommand {
    /// 0x18, from both sides. Refused and pending requests get it, too.
    public static let code = L2CAPSignallingCode.creditBasedConnectionResponse

    /// The largest service data unit that the sender accepts, in octets; at least 64.
    public var maximumTransmissionUnit: UInt16
    /// The largest payload of one K-frame that the sender accepts, in octets; at least 64.
    public var maximumPayloadSize: UInt16
    /// The number of K-frames that the receiver may send on each channel.
    public var initialCredits: UInt16
    /// One result for all channels. If only some were refused, the others are open: see
    /// `destinationChannelIdentifiers`.
    public var result: L2CAPCreditBasedConnectionResult
    /// The channels' ends at the sender of this response, in the order of the request; `.null` for a refused one.
    public var destinationChannelIdentifiers: [L2CAPChannelIdentifier]

    public init(
        maximumTransmissionUnit: UInt16, maximumPayloadSize: UInt16, initialCredits: UInt16,
        result: L2CAPCreditBasedConnectionResult, destinations: [L2CAPChannelIdentifier]
    ) {
        self.maximumTransmissionUnit = maximumTransmissionUnit
        self.maximumPayloadSize = maximumPayloadSize
        self.initialCredits = initialCredits
        self.result = result
        destinationChannelIdentifiers = destinations
    }

    /// Refuses all requested channels.
    public init(refusing request: L2CAPCreditBasedConnectionRequest, result: L2CAPCreditBasedConnectionResult) {
        self.init(
            maximumTransmissionUnit: 0, maximumPayloadSize: 0, initialCredits: 0, result: result,
            destinations: request.sourceChannelIdentifiers.map { _ in .null })
    }

    /// - Throws: `DecodingError.truncated` when the data is too short, `.invalidValue` with field `count` for more than
    ///   five channels; fewer than requested, or none, are accepted.
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        maximumTransmissionUnit = try reader.read()
        maximumPayloadSize = try reader.read()
        initialCredits = try reader.read()
        result = L2CAPCreditBasedConnectionResult(rawValue: try reader.read())
        destinationChannelIdentifiers = try L2CAPChannelIdentifier.list(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(maximumTransmissionUnit)
        packet.write(maximumPayloadSize)
        packet.write(initialCredits)
        packet.write(result.rawValue)
        for identifier in destinationChannelIdentifiers { packet.write(identifier.rawValue) }
    }
}
