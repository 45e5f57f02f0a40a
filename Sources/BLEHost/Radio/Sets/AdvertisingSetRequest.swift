import BLEPackets

/// An advertising set of one client: with separate data, address, interval, PHYs and duration (Core 5.4, Vol 6, Part B,
/// 4.4.2.10). Several sets are advertised at the same time, as many as the controller has.
///
/// A controller without extended advertising sends a set that legacy PDUs can express as its only advertisement.
public struct AdvertisingSetRequest: Equatable, Sendable {
    /// The maximum length of advertising data in extended PDUs, in octets (Core 5.4, Vol 4, Part E, 7.8.54).
    public static let longestData = 1650
    /// The maximum length of advertising data and of scan responses in legacy PDUs, in octets.
    public static let longestLegacyData = 31

    /// Advertising data. A scannable set with extended PDUs has none: its data are in the scan response.
    public var data: [UInt8]
    /// The scan response of a scannable set.
    public var scanResponse: [UInt8]
    /// Whether legacy PDUs are sent, which every scanner receives: at most 31 octets, on LE 1M only.
    public var usesLegacyPDUs: Bool
    /// Whether centrals may connect.
    public var isConnectable: Bool
    /// Whether scanners may ask for the scan response. Extended PDUs cannot be connectable as well; legacy PDUs that
    /// are connectable always are scannable.
    public var isScannable: Bool
    /// Whether the address is left out; only in extended PDUs that are neither connectable nor scannable.
    public var isAnonymous = false
    /// Whether extended PDUs state the transmit power.
    public var includesTransmitPower = false
    /// The time between two advertising events: 20 ms to 10,485.759 s; with legacy PDUs at most 10.24 s.
    public var interval: ExtendedAdvertisingInterval = .milliseconds(100)
    /// On the primary channels: LE 1M, or LE Coded for a longer range.
    public var primaryPHY = PHY.le1M
    /// On the other channels, where extended PDUs have their data.
    public var secondaryPHY = PHY.le1M
    /// A random address for only this set; `nil` for the address of this device.
    public var address: DeviceAddress?
    /// The Advertising SID, 0 to 15, by which receivers distinguish the sets of a device; `nil`: the engine chooses.
    public var identifier: UInt8?
    /// The requested power in dBm, -127 to 20; `nil` for no preference.
    public var transmitPower: Int8?
    /// How long the set advertises, 10 ms to 655.35 s; `nil`: until it is cancelled. It begins again when advertising
    /// resumes after a connection or a pause of the radio.
    public var duration: Microseconds?
    /// How many advertising events are sent; 0 without a limit. They are counted again when advertising resumes after a
    /// connection or a pause of the radio.
    public var maximumEvents: UInt8 = 0
    /// Whether advertising continues after a central has connected, as far as the controller can; otherwise the request
    /// ends.
    public var resumesAfterConnection = true
    /// The periodic advertising of the set.
    public var train: PeriodicAdvertising?

    /// A set without periodic advertising, with the defaults of the other properties.
    public init(
        data: [UInt8] = [], scanResponse: [UInt8] = [], usesLegacyPDUs: Bool = false, isConnectable: Bool = false,
        isScannable: Bool = false
    ) {
        self.data = data
        self.scanResponse = scanResponse
        self.usesLegacyPDUs = usesLegacyPDUs
        self.isConnectable = isConnectable
        self.isScannable = isScannable
    }

    /// What contradicts the specification.
    public enum Fault: Hashable, Sendable {
        /// The data or the scan response is longer than the PDUs can carry.
        case tooMuchData
        /// Data in a place that such a set does not have: advertising data of a scannable set with extended PDUs, or a
        /// scan response of a set that is not scannable. Or a scannable set with extended PDUs has no scan response.
        case misplacedData
        /// Extended PDUs that are connectable and scannable, or anonymous and one of them.
        case contradictoryProperties
        /// Legacy PDUs with a property that only extended ones have, or with another PHY than LE 1M.
        case needsExtendedPDUs
        /// LE 2M on the primary channels.
        case primaryPHY
        /// The interval, the duration, the identifier or the power is out of range.
        case outOfRange
        /// An address that is not random.
        case address
        /// Periodic advertising of a set that is connectable, scannable, anonymous or has legacy PDUs.
        case train
        /// Subevents or response slots out of range, that do not fit into the interval, or beside data of the whole
        /// train.
        case subevents
    }

    /// The first contradiction; `nil` if there is none.
    public var fault: Fault? {
        let limit = usesLegacyPDUs ? Self.longestLegacyData : Self.longestData
        guard data.count <= limit, scanResponse.count <= limit else { return .tooMuchData }
        if usesLegacyPDUs {
            guard !isAnonymous, !includesTransmitPower, train == nil, primaryPHY == .le1M, secondaryPHY == .le1M else {
                return .needsExtendedPDUs
            }
            guard scanResponse.isEmpty || isScannable || isConnectable else { return .misplacedData }
        } else {
            guard !isConnectable || !isScannable, !isAnonymous || !(isConnectable || isScannable) else {
                return .contradictoryProperties
            }
            // A controller does not enable a scannable set without a scan response (Core 5.4, Vol 4, Part E, 7.8.56).
            guard isScannable ? data.isEmpty && !scanResponse.isEmpty : scanResponse.isEmpty else {
                return .misplacedData
            }
        }
        guard primaryPHY == .le1M || primaryPHY == .leCoded else { return .primaryPHY }
        guard 1...3 ~= secondaryPHY.rawValue else { return .outOfRange }
        let longest: UInt32 = usesLegacyPDUs ? 0x4000 : 0xFF_FFFF
        guard 0x20...longest ~= interval.rawValue, identifier ?? 0 <= 0x0F, transmitPower ?? 0 <= 20 else {
            return .outOfRange
        }
        if let duration, !(10_000...655_350_000 ~= duration.rawValue) { return .outOfRange }
        if let address, !address.isRandom { return .address }
        guard let train else { return nil }
        guard !isConnectable, !isScannable, !isAnonymous else { return .train }
        guard train.data.count <= Self.longestData else { return .tooMuchData }
        guard train.interval.rawValue >= 6 else { return .outOfRange }
        guard let subevents = train.subevents else { return nil }
        return train.data.isEmpty && subevents.isValid(in: train.interval) ? nil : .subevents
    }

    /// Whether legacy PDUs can express the set.
    var fitsLegacyPDUs: Bool {
        var request = self
        request.usesLegacyPDUs = true
        return request.fault == nil && address == nil && duration == nil && maximumEvents == 0
    }
}

/// Periodic advertising: data that are sent at exact times, which receivers can follow without scanning (Core 5.4, Vol
/// 3, Part C, 9.5).
public struct PeriodicAdvertising: Equatable, Sendable {
    /// The data, at most 1,650 octets.
    public var data: [UInt8]
    /// The time between two packets, 7.5 ms to 81.92 s.
    public var interval: PeriodicAdvertisingInterval
    /// Whether the packets say when their data are new (Core 5.3), as far as the controller can.
    public var includesDataInformation = false
    /// Whether the packets state the transmit power.
    public var includesTransmitPower = false
    /// The subevents of a train with responses (Core 5.4), which has no other data; `nil`: a train without responses.
    /// Only some controllers can send them: `LEFeatures.periodicAdvertisingWithResponsesAdvertiser`.
    public var subevents: PeriodicSubevents?

    public init(data: [UInt8] = [], interval: PeriodicAdvertisingInterval = .milliseconds(100)) {
        self.data = data
        self.interval = interval
    }
}

/// What happens to an advertising set.
public enum AdvertisingSetEvent: Equatable, Sendable {
    /// The controller advertises the set, with this power in dBm.
    case started(transmitPower: Int8)
    /// It does so no longer: the request has ended or changes, a central has connected, or the radio pauses.
    case stopped
    /// A central has connected by this set.
    case connected(LinkID)
    /// The controller asks for the data of the next subevents of a train with responses: from `firstSubevent` on, and
    /// after the last subevent the first one again. What comes too late is not sent.
    case dataRequested(firstSubevent: UInt8, count: UInt8)
    /// A device responded in a train with responses.
    case response(SlotResponse)
}
