import BLEPackets

/// What a client may ask for on credit-based channels.
public enum ChannelCommand: Equatable, Sendable {
    /// Accepts credit-based channels on an SPSM, 0x0001 to 0x00FF; `nil` takes a free one from 0x0080 on. If encryption
    /// is required, the key in use must also meet `SecuritySettings.pairing` and `ChannelSecurity`.
    case listen(spsm: UInt16?, ChannelSettings, requiresEncryption: Bool, demanding: ChannelSecurity? = nil)
    /// Stops accepting channels; open channels stay open.
    case stopListening(spsm: UInt16)
    /// Opens a credit-based channel to the peer's SPSM (Core 5.4, Vol 3, Part A, 4.22).
    case open(LinkID, spsm: UInt16, ChannelSettings)
    /// Opens one to five channels by the enhanced form (4.25). MTU and MPS are raised to 64; the peer may refuse some
    /// of the channels.
    case openEnhanced(LinkID, spsm: UInt16, ChannelSettings, count: Int)
    /// Asks the peer to send with other sizes on one to five open channels of the enhanced form (4.27), in octets. The
    /// MTU must not become smaller; the MPS may, for a single channel.
    case reconfigure([ChannelID], maximumTransmissionUnit: UInt16, maximumPayloadSize: UInt16)
    /// Sends one service data unit, no longer than the peer accepts; ends when the controller has all of it.
    case send(ChannelID, [UInt8])
    /// The client has consumed this many received units, so the peer may send more.
    case consume(ChannelID, units: Int)
    /// Closes a channel. Nothing more is accepted or received. The peer learns of it after it has everything that was
    /// sent before, or after 30 s.
    case close(ChannelID)
}
