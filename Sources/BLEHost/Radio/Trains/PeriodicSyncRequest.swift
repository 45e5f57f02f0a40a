import BLEPackets

/// Follows the periodic advertising of one device (Core 5.4, Vol 3, Part C, 9.5.4).
///
/// While the train is not found, the controller scans. After a loss it looks for the train again.
public struct PeriodicSyncRequest: Hashable, Sendable {
    /// A train: the device's address and the SID of its advertising set, which a scan reports.
    public struct Advertiser: Hashable, Sendable {
        /// The advertiser's address.
        public var address: DeviceAddress
        /// The Advertising SID, 0 to 15.
        public var identifier: UInt8

        public init(address: DeviceAddress, identifier: UInt8) {
            self.address = address
            self.identifier = identifier
        }
    }

    /// The train to follow. Of several, the controller chooses the first that it finds; it uses its periodic advertiser
    /// list for that.
    public var advertisers: [Advertiser]
    /// How the train is followed. The options of a train that another client follows already stay as they are.
    public var options = PeriodicSyncSettings()
    /// Whether to look for it on LE Coded, too.
    public var scansCodedPHY = false
    /// Whether to look for the train again after a loss; otherwise the request ends with the loss.
    public var resumesAfterLoss = true

    public init(_ advertisers: [Advertiser]) { self.advertisers = advertisers }

    /// Whether it asks for this train.
    func names(_ train: PeriodicSyncInformation) -> Bool {
        advertisers.contains {
            $0.identifier == train.identifier
                && $0.address.withoutIdentityMark == train.advertiser.withoutIdentityMark
        }
    }

    /// Whether the specification allows the request.
    var isValid: Bool {
        !advertisers.isEmpty && advertisers.allSatisfy { $0.identifier <= 0x0F } && options.isValid
    }
}

/// How a train is followed (Core 5.4, Vol 4, Part E, 7.8.67 and 7.8.91).
public struct PeriodicSyncSettings: Hashable, Sendable {
    /// How many packets may be skipped after each received one, 0 to 499.
    public var skip: UInt16 = 0
    /// After how long without a packet the train counts as lost: 100 ms to 163.84 s.
    public var timeout = SupervisionTimeout.milliseconds(10_000)
    /// Whether equal data are reported only once, as far as the train and the controller allow it.
    public var reportsOnlyChanges = false
    /// Which subevents of a train with responses are received, at most 128; `nil`: all. Only some controllers can
    /// receive them: `LEFeatures.periodicAdvertisingWithResponsesScanner`. A train without responses has none, and is
    /// followed all the same.
    public var subevents: [UInt8]?

    public init() {}

    var isValid: Bool {
        guard skip <= 499, 0x000A...0x4000 ~= timeout.rawValue else { return false }
        guard let subevents else { return true }
        return 1...128 ~= subevents.count && subevents.allSatisfy { $0 < 128 }
    }

    /// Whether subevents of a train that has so many are received.
    func wants(_ subevent: UInt8, of count: UInt8) -> Bool {
        subevent < count && (subevents.map { $0.contains(subevent) } ?? true)
    }

    /// What satisfies both: no packet is skipped, lost or left out that one of them wants.
    func joined(with other: PeriodicSyncSettings) -> PeriodicSyncSettings {
        var joined = PeriodicSyncSettings()
        joined.skip = min(skip, other.skip)
        joined.timeout = SupervisionTimeout(rawValue: max(timeout.rawValue, other.timeout.rawValue))
        joined.reportsOnlyChanges = reportsOnlyChanges && other.reportsOnlyChanges
        // Of a train itself, not of the controller's settings for those that are transferred.
        joined.subevents = subevents
        return joined
    }
}

/// What happens with a train.
public enum PeriodicSyncEvent: Equatable, Sendable {
    /// The train was found; reports follow.
    case synchronized(PeriodicSyncInformation)
    case report(PeriodicSyncReport)
    /// The train was not received for too long, or the controller was reset.
    case lost(advertiser: DeviceAddress, identifier: UInt8)
}

/// A train that is followed.
public struct PeriodicSyncInformation: Hashable, Sendable {
    /// The advertiser's address.
    public var advertiser: DeviceAddress
    /// The Advertising SID, 0 to 15.
    public var identifier: UInt8
    /// The PHY of its packets.
    public var phy: PHY
    /// The time between two packets.
    public var interval: PeriodicAdvertisingInterval
    /// The number that the peer's host gave with it; `nil` if the train was not transferred.
    public var serviceData: UInt16?
    /// The subevents of a train with responses; `nil` for another train.
    public var subevents: PeriodicSubevents?

    public init(
        advertiser: DeviceAddress, identifier: UInt8, phy: PHY, interval: PeriodicAdvertisingInterval,
        serviceData: UInt16?, subevents: PeriodicSubevents? = nil
    ) {
        self.advertiser = advertiser
        self.identifier = identifier
        self.phy = phy
        self.interval = interval
        self.serviceData = serviceData
        self.subevents = subevents
    }
}

/// Data of a train.
public struct PeriodicSyncReport: Hashable, Sendable {
    /// The advertiser's address.
    public var advertiser: DeviceAddress
    /// The Advertising SID, 0 to 15.
    public var identifier: UInt8
    /// The data, at most 1,650 octets.
    public var data: [UInt8]
    /// Whether the controller received only the beginning of the data.
    public var isTruncated: Bool
    /// In dBm; 127 if it is unknown.
    public var rssi: Int8
    /// In dBm; `nil` if it is not stated.
    public var txPower: Int8?
    /// The counter of the periodic advertising event, to which a response refers; `nil` if the controller does not
    /// report it.
    public var event: UInt16?
    /// The subevent of a train with responses, 0 to 127; `nil` for another train.
    public var subevent: UInt8?
    /// When it was received.
    public var time: Instant

    public init(
        advertiser: DeviceAddress, identifier: UInt8, data: [UInt8], isTruncated: Bool, rssi: Int8, txPower: Int8?,
        event: UInt16? = nil, subevent: UInt8? = nil, time: Instant
    ) {
        self.advertiser = advertiser
        self.identifier = identifier
        self.data = data
        self.isTruncated = isTruncated
        self.rssi = rssi
        self.txPower = txPower
        self.event = event
        self.subevent = subevent
        self.time = time
    }
}
