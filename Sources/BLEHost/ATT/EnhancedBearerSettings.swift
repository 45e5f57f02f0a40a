/// Which enhanced attribute bearers this device wants on encrypted links (Core 5.4, Vol 3, Part F, 3.2.11).
public struct EnhancedBearerSettings: Hashable, Sendable {
    /// How many bearers this side opens on a link whose peer supports them, 0 to 5. Peers may open up to five in any
    /// case; both sides use all bearers, whichever side opened them.
    public var opened: Int
    /// The longest PDU that this side accepts, 64 to 65535 octets.
    public var maximumTransmissionUnit: UInt16
    /// The longest payload of one frame that this side accepts, 64 to 2044 octets.
    public var maximumPayloadSize: UInt16
    /// Frames that the peer may send on a bearer before any is processed, at least 1.
    public var credits: UInt16

    /// Creates settings; values outside their ranges become the nearest allowed value.
    public init(
        opened: Int = 0, maximumTransmissionUnit: UInt16 = 517, maximumPayloadSize: UInt16 = 247, credits: UInt16 = 8
    ) {
        self.opened = min(max(0, opened), 5)
        self.maximumTransmissionUnit = max(64, maximumTransmissionUnit)
        self.maximumPayloadSize = min(max(64, maximumPayloadSize), 2044)
        self.credits = max(1, credits)
    }

    var channel: ChannelSettings {
        ChannelSettings(
            maximumTransmissionUnit: maximumTransmissionUnit, maximumPayloadSize: maximumPayloadSize, credits: credits)
    }
}
