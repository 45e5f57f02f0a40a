import BLEPackets

/// What is measured on a link while a client wants to know (`LinkProcedure`).
public enum LinkReport: Hashable, Sendable {
    /// The power of one side changed (Core 5.4, Vol 4, Part E, 7.7.65.33).
    case transmitPower(TransmitPower, isPeers: Bool)
    /// The path loss entered another zone (7.7.65.32).
    case pathLoss(PathLoss)
    /// The link is encrypted, and no packet has proved the peer's key for longer than allowed (7.7.75): the peer may be
    /// gone, and another device keeps the link alive. The link stays; a careful client disconnects.
    case unauthenticated
}

/// A PHY in commands about power, which distinguish the two forms of LE Coded (Core 5.4, Vol 4, Part E, 7.8.117).
public struct PowerPHY: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// LE 1M.
    public static let le1M = PowerPHY(rawValue: 1)
    /// LE 2M.
    public static let le2M = PowerPHY(rawValue: 2)
    /// LE Coded with eight symbols for each bit.
    public static let leCodedS8 = PowerPHY(rawValue: 3)
    /// LE Coded with two symbols for each bit.
    public static let leCodedS2 = PowerPHY(rawValue: 4)
}

/// The power with which one side of a link sends.
public struct TransmitPower: Hashable, Sendable {
    /// The PHY to which it applies.
    public var phy: PowerPHY
    /// In dBm; `nil` if it is unknown, or the PHY is not managed.
    public var level: Int8?
    /// The greatest power in dBm that this side can use; `nil` if it is unknown, as the peer's always is.
    public var maximum: Int8?
    /// Whether it is the least power of that side; `false` if that is unknown.
    public var isLeast: Bool
    /// Whether it is the greatest power of that side.
    public var isGreatest: Bool

    public init(phy: PowerPHY, level: Int8?, maximum: Int8?, isLeast: Bool, isGreatest: Bool) {
        self.phy = phy
        self.level = level
        self.maximum = maximum
        self.isLeast = isLeast
        self.isGreatest = isGreatest
    }
}

/// The path loss of a link: the peer's transmit power less what is received.
public struct PathLoss: Hashable, Sendable {
    /// The zones of `PathLossZones`, with the numbers of the specification.
    public enum Zone: UInt8, Hashable, Sendable { case low, middle, high }

    /// The zone that the path loss entered.
    public var zone: Zone
    /// In dB; `nil` if it is unknown.
    public var decibels: UInt8?

    public init(zone: Zone, decibels: UInt8?) {
        self.zone = zone
        self.decibels = decibels
    }
}

/// Zones of path loss (Core 5.4, Vol 6, Part B, 4.5.16). A zone is entered when its threshold is passed by the
/// hysteresis, and left when it is passed by it in the other direction.
public struct PathLossZones: Hashable, Sendable {
    /// Above it lies the high zone, in dB; `nil`: there is none.
    public var high: UInt8?
    public var highHysteresis: UInt8
    /// Below it lies the low zone, in dB.
    public var low: UInt8
    public var lowHysteresis: UInt8
    /// Connection events in a zone before it is reported.
    public var minimumEvents: UInt16

    /// - Parameter hysteresis: in dB, for both thresholds.
    public init(low: UInt8, high: UInt8?, hysteresis: UInt8 = 2, minimumEvents: UInt16 = 10) {
        self.low = low
        self.high = high
        lowHysteresis = hysteresis
        highHysteresis = high == nil ? 0 : hysteresis
        self.minimumEvents = minimumEvents
    }

    /// Whether the zones do not overlap (Core 5.4, Vol 4, Part E, 7.8.119).
    var isValid: Bool {
        let (lowest, lowEnd) = (Int(low) - Int(lowHysteresis), Int(low) + Int(lowHysteresis))
        guard lowest >= 0 else { return false }
        guard let high else { return lowEnd <= 0xFF }
        return high != 0xFF && lowEnd <= Int(high) - Int(highHysteresis) && Int(high) + Int(highHysteresis) <= 0xFF
    }
}
