/// Disconnection Request: ends a credit-based channel (Core 5.4, Vol 3, Part A, 4.6).
public struct L2CAPDisconnectionRequest: L2CAPSignallingCommand {
    /// 0x06, from both sides. The sender drops everything that arrives on the channel afterwards.
    public static let code = L2CAPSignallingCode.disconnectionRequest

    /// The channel's end at the receiver of this request.
    public var destinationChannelIdentifier: L2CAPChannelIdentifier
    /// The channel's end at the sender of this request.
    public var sourceChannelIdentifier: L2CAPChannelIdentifier

    public init(destination: L2CAPChannelIdentifier, source: L2CAPChannelIdentifier) {
        destinationChannelIdentifier = destination
        sourceChannelIdentifier = source
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        destinationChannelIdentifier = try L2CAPChannelIdentifier(decoding: &reader)
        sourceChannelIdentifier = try L2CAPChannelIdentifier(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(destinationChannelIdentifier.rawValue)
        packet.write(sourceChannelIdentifier.rawValue)
    }
}

/// Disconnection Response: the channel is closed (Core 5.4, Vol 3, Part A, 4.7).
///
/// Both identifiers repeat those of the request.
public struct L2CAPDisconnectionResponse: L2CAPSignallingCommand {
    /// 0x07, from the side that got the request.
    public static let code = L2CAPSignallingCode.disconnectionResponse

    /// The channel's end at the sender of this response.
    public var destinationChannelIdentifier: L2CAPChannelIdentifier
    /// The channel's end at the receiver of this response.
    public var sourceChannelIdentifier: L2CAPChannelIdentifier

    public init(destination: L2CAPChannelIdentifier, source: L2CAPChannelIdentifier) {
        destinationChannelIdentifier = destination
        sourceChannelIdentifier = source
    }

    /// The response to a request.
    public init(answering request: L2CAPDisconnectionRequest) {
        self.init(destination: request.destinationChannelIdentifier, source: request.sourceChannelIdentifier)
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        destinationChannelIdentifier = try L2CAPChannelIdentifier(decoding: &reader)
        sourceChannelIdentifier = try L2CAPChannelIdentifier(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(destinationChannelIdentifier.rawValue)
        packet.write(sourceChannelIdentifier.rawValue)
    }
}
