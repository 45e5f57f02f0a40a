/// The name of a channel's end point on one link (Core 5.4, Vol 3, Part A, 2.1).
public struct L2CAPChannelIdentifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Not a channel; used in responses for refused channels.
    public static let null = L2CAPChannelIdentifier(rawValue: 0x0000)
    /// ATT over the bearer that every LE link has.
    public static let attributeProtocol = L2CAPChannelIdentifier(rawValue: 0x0004)
    /// Signalling on LE links.
    public static let leSignalling = L2CAPChannelIdentifier(rawValue: 0x0005)
    /// The Security Manager protocol on LE links.
    public static let securityManager = L2CAPChannelIdentifier(rawValue: 0x0006)

    /// The range of identifiers for credit-based channels on an LE link.
    public static let leDynamicRange: ClosedRange<UInt16> = 0x0040...0x007F

    /// Whether the identifier is in the range for credit-based channels on an LE link.
    @inlinable public var isLEDynamic: Bool { rawValue >= 0x0040 && rawValue <= 0x007F }

    /// Whether the identifier can name a peer's end of a credit-based channel: it is not the null identifier nor that
    /// of a fixed channel. Accept it even beyond `leDynamicRange`, because some hosts count their channels past its end.
    @inlinable public var isDynamic: Bool { rawValue >= 0x0040 }
}

extension L2CAPChannelIdentifier {
    @inlinable
    init(decoding reader: inout PacketReader) throws(DecodingError) {
        self.init(rawValue: try reader.read())
    }

    /// Reads identifiers up to the end of the packet, at most `L2CAPCreditBasedConnectionRequest.maximumChannelCount`.
    static func list(
        decoding reader: inout PacketReader, atLeast minimum: Int
    ) throws(DecodingError) -> [L2CAPChannelIdentifier] {
        let count = reader.remainingCount / 2
        guard reader.remainingCount <= 2 * L2CAPCreditBasedConnectionRequest.maximumChannelCount else {
            throw .invalidValue(UInt64(count), field: .count)
        }
        var identifiers: [L2CAPChannelIdentifier] = []
        while !reader.isAtEnd {
            identifiers.append(try L2CAPChannelIdentifier(decoding: &reader))
        }
        guard count >= minimum else { throw .invalidValue(UInt64(count), field: .count) }
        return identifiers
    }
}

extension L2CAPCreditBasedConnectionRequest {
    /// Channels that one packet of the enhanced form can name.
    public static let maximumChannelCount = 5
}
