import BLEPackets

/// Which devices a client wants to discover, and how.
public struct ScanRequest: Hashable, Sendable {
    /// Whether the scan is active, that is, asks for scan responses.
    public var isActive: Bool
    /// Report every packet instead of every change (SPEC CEN-27).
    public var allowsDuplicates: Bool
    /// Only devices that advertise one of these services, in the visible data or in the overflow area; empty: all
    /// devices (SPEC CEN-4).
    public var serviceUUIDs: [BluetoothUUID]
    /// Devices that solicit one of these services are reported, too; `nil` for none (SPEC 2.3).
    public var solicitedServiceUUIDs: [BluetoothUUID]?
    /// Only devices with this complete or shortened name; zeros and spaces at its end do not count.
    public var name: String?
    /// Only packets with at least this RSSI, in dBm.
    public var minimumRSSI: Int8?
    /// Only this device.
    public var address: DeviceAddress?
    /// Whether the client is in the background, where the lower duty cycle is enough.
    public var isInBackground: Bool
    /// Whether to scan on LE Coded, too, for devices of longer range; ignored if the controller cannot.
    public var scansCodedPHY = false
    /// Whether to report advertising that is directed to a private address which the controller could not resolve
    /// (Core 5.4, Vol 4, Part E, 7.8.64, filter policies 2 and 3); ignored if the controller cannot. Otherwise it is
    /// not reported.
    public var includesUnresolvedTargets = false
    /// Only these devices; empty: all devices. While all clients name theirs, the controller reports no others if its
    /// filter accept list has room (Core 5.4, Vol 4, Part E, 7.8.64, filter policies 1 and 3), so that they wake
    /// nobody.
    public var acceptList: [DeviceAddress] = []

    /// Creates a request with the defaults of the other properties, which can be set afterwards.
    public init(
        isActive: Bool = true, allowsDuplicates: Bool = false, serviceUUIDs: [BluetoothUUID] = [],
        name: String? = nil, minimumRSSI: Int8? = nil, address: DeviceAddress? = nil, isInBackground: Bool = false
    ) {
        self.isActive = isActive
        self.allowsDuplicates = allowsDuplicates
        self.serviceUUIDs = serviceUUIDs
        self.name = name
        self.minimumRSSI = minimumRSSI
        self.address = address
        self.isInBackground = isInBackground
    }
}
