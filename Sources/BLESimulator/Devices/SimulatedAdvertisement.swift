import BLEPackets

/// What a simulated device advertises.
public struct SimulatedAdvertisement: Hashable, Sendable {
    /// The advertising data structures: at most 31 octets, or 1650 in an extended advertisement.
    public var data: [UInt8]
    /// The data of the scan response.
    public var scanResponse: [UInt8]
    /// The advertising interval without the advertising delay, in microseconds; at least 20 ms.
    public var intervalMicroseconds: Int64
    /// Whether centrals can connect.
    public var isConnectable: Bool
    /// Whether scan requests are answered.
    public var isScannable: Bool
    /// Whether it is sent on a secondary channel, so that only extended scans receive it. A connectable extended
    /// advertisement cannot be scannable; if both are set, it is connectable.
    public var isExtended: Bool
    /// The PHY of the secondary channel, of an extended advertisement.
    public var secondaryPHY: PHY
    /// 0 to 15, of an extended advertisement.
    public var advertisingSetIdentifier: UInt8
    /// The PHY of the primary channels, of an extended advertisement: LE 1M or LE Coded.
    public var primaryPHY = PHY.le1M
    /// The periodic advertising of an extended advertisement that is neither connectable nor scannable.
    public var train: SimulatedTrain?

    public init(
        data: [UInt8], scanResponse: [UInt8] = [], intervalMicroseconds: Int64 = 100_000, isConnectable: Bool = true,
        isScannable: Bool = true, isExtended: Bool = false, secondaryPHY: PHY = .le1M,
        advertisingSetIdentifier: UInt8 = 0
    ) {
        self.data = data
        self.scanResponse = scanResponse
        self.intervalMicroseconds = intervalMicroseconds
        self.isConnectable = isConnectable
        self.isScannable = isScannable
        self.isExtended = isExtended
        self.secondaryPHY = secondaryPHY
        self.advertisingSetIdentifier = advertisingSetIdentifier
    }

    /// Flags, service UUIDs, manufacturer's and service data in the advertisement, the name in the scan response: what
    /// does not fit is omitted.
    public init(
        name: String?, serviceUUIDs: [BluetoothUUID] = [], manufacturerData: (company: UInt16, data: [UInt8])? = nil,
        serviceData: (uuid: BluetoothUUID, data: [UInt8])? = nil, intervalMicroseconds: Int64 = 100_000,
        isConnectable: Bool = true, isScannable: Bool = true
    ) {
        var advertisement = AdvertisingDataWriter()
        var response = AdvertisingDataWriter()
        func attempt(_ append: () throws(AdvertisingDataWriter.DoesNotFit) -> Void) {
            do throws(AdvertisingDataWriter.DoesNotFit) { try append() } catch {}
        }
        attempt { () throws(AdvertisingDataWriter.DoesNotFit) in
            try advertisement.append([.leGeneralDiscoverable, .brEdrNotSupported] as AdvertisingFlags)
        }
        let short = serviceUUIDs.filter { $0.width != .bits128 }
        let long = serviceUUIDs.filter { $0.width == .bits128 }
        for group in [short, long] where !group.isEmpty {
            attempt { () throws(AdvertisingDataWriter.DoesNotFit) in
                try advertisement.append(serviceUUIDs: group, areComplete: true)
            }
        }
        if let (company, data) = manufacturerData {
            attempt { () throws(AdvertisingDataWriter.DoesNotFit) in
                try advertisement.append(manufacturerData: data, company: company)
            }
        }
        if let (uuid, data) = serviceData {
            attempt { () throws(AdvertisingDataWriter.DoesNotFit) in
                try advertisement.append(serviceData: data, uuid: uuid)
            }
        }
        if let name {
            attempt { () throws(AdvertisingDataWriter.DoesNotFit) in
                if isScannable {
                    try response.append(localName: name)
                } else {
                    try advertisement.append(localName: name)
                }
            }
        }
        self.init(
            data: advertisement.bytes, scanResponse: response.bytes, intervalMicroseconds: intervalMicroseconds,
            isConnectable: isConnectable, isScannable: isScannable)
    }
}

/// Periodic advertising of a simulated device.
public struct SimulatedTrain: Hashable, Sendable {
    /// At most 1,650 octets.
    public var data: [UInt8]
    /// The time between two packets in microseconds, in steps of 1.25 ms, at least 7.5 ms.
    public var intervalMicroseconds: Int64

    public init(data: [UInt8], intervalMicroseconds: Int64 = 100_000) {
        self.data = data
        self.intervalMicroseconds = intervalMicroseconds
    }
}

/// A device that only advertises: a beacon.
public struct SimulatedBroadcaster: Sendable {
    /// Its address on the air.
    public var address: DeviceAddress
    /// What it advertises.
    public var advertisement: SimulatedAdvertisement
    /// The strength at which it is received, in dBm.
    public var rssi: Int8
    /// How it moves; `nil` for not at all. `rssi` is that at the near end.
    public var motion: SimulatedMotion?
    /// The advertising data that take each other's place, instead of those of `advertisement`; `nil` for data that stay.
    public var changingData: SimulatedChangingData?

    /// A broadcaster is not connectable, even if `advertisement` says so.
    public init(address: DeviceAddress, advertisement: SimulatedAdvertisement, rssi: Int8 = -60) {
        self.address = address
        self.advertisement = advertisement
        self.advertisement.isConnectable = false
        self.rssi = rssi
    }
}

/// Advertising data that change with the time, as those of a sensor.
public struct SimulatedChangingData: Sendable {
    /// How long the data stay the same in microseconds, at least 1 ms.
    public var everyMicroseconds: Int64
    /// Supplies the advertising data by their number: 0 from the start of the air, then 1, and so on.
    public var data: @Sendable (_ number: Int) -> [UInt8]

    public init(everyMicroseconds: Int64, data: @escaping @Sendable (_ number: Int) -> [UInt8]) {
        self.everyMicroseconds = everyMicroseconds
        self.data = data
    }
}
