/// LE Credit Based Connection Request: requests one credit-based channel (Core 5.4, Vol 3, Part A, 4.22).
public struct L2CAPLECreditBasedConnectionRequest: L2CAPSignallingCommand {
    /// 0x14, from both sides.
    public static let code = L2CAPSignallingCode.leCreditBasedConnectionRequest

    /// Simplified Protocol/Service Multiplexer: 0x0001 to 0x007F assigned, 0x0080 to 0x00FF dynamic.
    public var spsm: UInt16
    /// The channel's end at the sender.
    public var sourceChannelIdentifier: L2CAPChannelIdentifier
    /// The largest service data unit that the sender accepts, in octets; at least 23.
    public var maximumTransmissionUnit: UInt16
    /// The largest payload of one K-frame that the sender accepts, in octets; 23 to 65533.
    public var maximumPayloadSize: UInt16
    /// The number of K-frames that the receiver may send.
    public var initialCredits: UInt16

    public init(
        spsm: UInt16, source: L2CAPChannelIdentifier, maximumTransmissionUnit: UInt16, maximumPayloadSize: UInt16,
        initialCredits: UInt16
    ) {
        self.spsm = spsm
        sourceChannelIdentifier = source
        self.maximumTransmissionUnit = maximumTransmissionUnit
        self.maximumPayloadSize = maximumPayloadSize
        self.initialCredits = initialCredits
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        spsm = try reader.read()
        sourceChannelIdentifier = try L2CAPChannelIdentifier(decoding: &reader)
        maximumTransmissionUnit = try reader.read()
        maximumPayloadSize = try reader.read()
        initialCredits = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(spsm)
        packet.write(sourceChannelIdentifier.rawValue)
        packet.write(maximumTransmissionUnit)
        packet.write(maximumPayloadSize)
        packet.write(initialCredits)
    }
}

/// LE Credit Based Connection Response: the channel, or the reason for the refusal (Core 5.4, Vol 3, Part A, 4.23).
///
/// Without success the other fields have no meaning.
public struct L2CAPLECreditBasedConnectionResponse: L2CAPSignallingCommand {
    /// 0x15, from both sides.
    public static let code = L2CAPSignallingCode.leCreditBasedConnectionResponse

    /// The channel's end at the sender of this response.
    public var destinationChannelIdentifier: L2CAPChannelIdentifier
    /// The largest service data unit that the sender accepts, in octets; at least 23.
    public var maximumTransmissionUnit: UInt16
    /// The largest payload of one K-frame that the sender accepts, in octets; 23 to 65533.
    public var maximumPayloadSize: UInt16
    /// The number of K-frames that the receiver may send.
    public var initialCredits: UInt16
    /// Success, or the reason for the refusal.
    public var result: L2CAPCreditBasedConnectionResult

    public init(
        destination: L2CAPChannelIdentifier, maximumTransmissionUnit: UInt16, maximumPayloadSize: UInt16,
        initialCredits: UInt16, result: L2CAPCreditBasedConnectionResult = .success
    ) {
        destinationChannelIdentifier = destination
        self.maximumTransmissionUnit = maximumTransmissionUnit
        self.maximumPayloadSize = maximumPayloadSize
        self.initialCredits = initialCredits
        self.result = result
    }

    /// A refusal.
    /// - Parameter result: any but `.success`.
    public init(refusing result: L2CAPCreditBasedConnectionResult) {
        self.init(
            destination: .null, maximumTransmissionUnit: 0, maximumPayloadSize: 0, initialCredits: 0, result: result)
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        destinationChannelIdentifier = try L2CAPChannelIdentifier(decoding: &reader)
        maximumTransmissionUnit = try reader.read()
        maximumPayloadSize = try reader.read()
        initialCredits = try reader.read()
        result = L2CAPCreditBasedConnectionResult(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(destinationChannelIdentifier.rawValue)
        packet.write(maximumTransmissionUnit)
        packet.write(maximumPayloadSize)
        packet.write(initialCredits)
        packet.write(result.rawValue)
    }
}

/// Flow Control Credit Indication: more K-frames may be sent on a channel (Core 5.4, Vol 3, Part A, 4.24).
public struct L2CAPFlowControlCreditIndication: L2CAPSignallingCommand {
    /// 0x16, from both sides. It has an identifier, but no response.
    public static let code = L2CAPSignallingCode.flowControlCreditIndication

    /// The channel's end at the sender of this packet.
    public var channelIdentifier: L2CAPChannelIdentifier
    /// K-frames more than before, 1 to 65535. A sum above 65535 ends the channel.
    public var credits: UInt16

    public init(channelIdentifier: L2CAPChannelIdentifier, credits: UInt16) {
        self.channelIdentifier = channelIdentifier
        self.credits = credits
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        channelIdentifier = try L2CAPChannelIdentifier(decoding: &reader)
        credits = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(channelIdentifier.rawValue)
        packet.write(credits)
    }
}
