import BLEPackets

/// One advertising event as it goes through the air, with the scan response that may be asked for.
struct AirAdvertisement {
    /// What distinguishes two advertising sets of one station.
    var set: UInt8
    /// `nil` for an anonymous advertiser.
    var address: DeviceAddress?
    /// Whom directed advertising is for.
    var target: DeviceAddress?
    var isConnectable: Bool
    var isScannable: Bool
    var isLegacy: Bool
    var primaryPHY = PHY.le1M
    var secondaryPHY: PHY?
    /// 0 to 15; 0xFF where there is none.
    var advertisingSetIdentifier: UInt8 = 0xFF
    /// Changes with the data of an extended advertisement.
    var dataIdentifier: UInt16 = 0
    /// dBm; 127 when the advertisement does not tell.
    var transmitPower: Int8 = 127
    var data: [UInt8]
    var scanResponse: [UInt8]
}
