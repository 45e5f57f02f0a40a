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
    /// Only devices with this complete or shortened name.
    public var name: String?
    /// Only packets with at least this RSSI, in dBm.
    public var minimumRSSI: Int8?
    /// Only this device.
    public var address: DeviceAddress?
    /// Whether the client is in the background, where the lower duty cycle is enough.
    public var isInBackground: Bool

    /// Creates a request in which `solicitedServiceUUIDs` is `nil`; it can be set afterwards.
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

#if !hasFeature(Embedded) && !JELLING_WITHOUT_CODING
extension ScanRequest: Codable {}
#endif
