import BLEPackets

/// What a client may ask of credit-based channels.
public enum ChannelCommand: Equatable, Sendable {
    /// Accepts credit-based channels on an SPSM, 0x0001 to 0x00FF; without one, on a free one from 0x0080 on. Where
    /// encryption is required, the key in use has also to be what `SecuritySettings.pairing` and `ChannelSecurity`
    /// demand.
    case listen(
        spsm: UInt16?, ChannelSettings, requiresEncryption: Bool, demanding: ChannelSecurity? = nil)
    /// Stops accepting channels; open channels stay open.
    case stopListening(spsm: UInt16)
    /// Opens a credit-based channel to the peer's SPSM (Core 5.4, Vol 3, Part A, 4.22).
    case open(LinkID, spsm: UInt16, ChannelSettings)
    /// Sends one service data unit; ends when the controller has all of it.
    case send(ChannelID, [UInt8])
    /// The client has consumed this many received units, so the peer may send more.
    case consume(ChannelID, units: Int)
    /// Closes a channel. Nothing more is taken or received; the peer is told when it has what was given before, or
    /// after 30 s.
    case close(ChannelID)
}

#if !hasFeature(Embedded)
// As recordings name them.
extension ChannelCommand: Codable {
    enum CodingKeys: String, CodingKey {
        case listen = "listenForChannels"
        case stopListening = "stopListeningForChannels"
        case open = "openChannel"
        case send = "sendOnChannel"
        case consume = "consumeChannelData"
        case close = "closeChannel"
    }
}
#endif
