import BLEPackets

/// Identifies a credit-based channel on a link.
public struct ChannelID: Hashable, Sendable {
    /// The link that carries it.
    public var link: LinkID
    /// Unique among the channels of a link, even if its channel identifier is used again.
    public var number: UInt32

    public init(link: LinkID, number: UInt32) {
        self.link = link
        self.number = number
    }
}

/// What this side offers the peer as a sender on a channel (Core 5.4, Vol 3, Part A, 4.22).
public struct ChannelSettings: Hashable, Sendable {
    /// The longest service data unit that this side accepts, 23 to 65535 octets.
    public var maximumTransmissionUnit: UInt16
    /// The longest payload of one frame that this side accepts, 23 to 2044 octets.
    public var maximumPayloadSize: UInt16
    /// Frames that the peer may send before any is consumed (initial credits), at least 1.
    public var credits: UInt16

    /// Creates settings; values outside their ranges become the nearest allowed value.
    public init(maximumTransmissionUnit: UInt16 = 2048, maximumPayloadSize: UInt16 = 247, credits: UInt16 = 16) {
        self.maximumTransmissionUnit = max(23, maximumTransmissionUnit)
        self.maximumPayloadSize = min(max(23, maximumPayloadSize), 2044)
        self.credits = max(1, credits)
    }
}

/// What a listener requires of the key that encrypts a link (Core 5.4, Vol 3, Part C, 10.3.1).
public struct ChannelSecurity: Hashable, Sendable {
    /// Whether the key must be protected against a man in the middle.
    public var requiresAuthentication: Bool
    /// The smallest key size in octets, 7 to 16.
    public var minimumKeySize: UInt8

    public init(requiresAuthentication: Bool = false, minimumKeySize: UInt8 = 7) {
        self.requiresAuthentication = requiresAuthentication
        self.minimumKeySize = minimumKeySize
    }
}

/// An open channel.
public struct ChannelInformation: Hashable, Sendable {
    /// Identifies this channel; later channels have other identifiers.
    public var id: ChannelID
    /// Simplified Protocol/Service Multiplexer.
    public var spsm: UInt16
    /// The longest service data unit that the peer accepts, in octets.
    public var sendMTU: UInt16
    /// The longest service data unit that this side accepts, in octets.
    public var receiveMTU: UInt16

    public init(id: ChannelID, spsm: UInt16, sendMTU: UInt16, receiveMTU: UInt16) {
        self.id = id
        self.spsm = spsm
        self.sendMTU = sendMTU
        self.receiveMTU = receiveMTU
    }
}

/// Why a channel ended.
public enum ChannelEnd: Hashable, Sendable {
    /// This side closed it.
    case closedLocally
    /// The peer closed it.
    case closedByPeer
    /// The peer broke the rules of the protocol: it sent without credits, or more than was agreed.
    case protocolViolation
    /// The link is gone.
    case linkLost
}

/// What happens on channels.
public enum ChannelEvent: Equatable, Sendable {
    /// The peer opened a channel to an SPSM on which this client listens.
    case opened(ChannelInformation, ClientID)
    /// The peer changed what it accepts on a channel of the enhanced form.
    case reconfigured(ChannelInformation)
    /// A complete service data unit. `ChannelCommand.consume` lets the peer send another.
    case received(ChannelID, [UInt8])
    /// Reported once for each channel that was open.
    case closed(ChannelID, ChannelEnd)
}

/// Why a channel could not be opened, or data could not be sent.
public enum ChannelFailure: Error, Hashable, Sendable {
    /// The peer refused the channel. Pairing resolves `insufficientAuthentication` and `insufficientEncryption`.
    case refused(L2CAPCreditBasedConnectionResult)
    /// The sizes of the channels cannot be changed like this, or the peer refused the change.
    case notReconfigurable(L2CAPReconfigureResult)
    /// The peer answered with values that the specification does not allow, or did not answer.
    case invalidAnswer
    /// The channel no longer exists, or is not open yet.
    case notOpen
    /// No channel identifier or SPSM is free, or too much already waits on the channel.
    case noResources
    /// The unit is longer than the peer accepts.
    case unitTooLong
    /// The SPSM already has a listener, or is not in 0x0001 to 0x00FF.
    case invalidSPSM
}
