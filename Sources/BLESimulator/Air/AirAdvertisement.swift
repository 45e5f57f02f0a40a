import BLEPackets

/// One advertising event on the air, with the scan response for scan requests.
struct AirAdvertisement {
    /// What distinguishes two advertising sets of one station.
    var set: UInt8
    /// `nil` for an anonymous advertiser.
    var address: DeviceAddress?
    /// The target of directed advertising.
    var target: DeviceAddress?
    var isConnectable: Bool
    var isScannable: Bool
    var isLegacy: Bool
    var primaryPHY = PHY.le1M
    var secondaryPHY: PHY?
    /// 0 to 15; 0xFF if there is none.
    var advertisingSetIdentifier: UInt8 = 0xFF
    /// Changes with the data of an extended advertisement.
    var dataIdentifier: UInt16 = 0
    /// Zero without periodic advertising.
    var periodicInterval = PeriodicAdvertisingInterval(rawValue: 0)
    /// dBm; 127 if the advertisement does not contain it.
    var transmitPower: Int8 = 127
    var data: [UInt8]
    var scanResponse: [UInt8]
}
