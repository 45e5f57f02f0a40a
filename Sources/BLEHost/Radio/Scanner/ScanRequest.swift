import BLEPackets

/// Which devices a client wants to hear of, and how.
public struct ScanRequest: Hashable, Sendable {
    /// Whether scan responses are asked for.
    public var isActive: Bool
    /// Report every packet instead of every change (SPEC CEN-27).
    public var allowsDuplicates: Bool
    /// Only devices that advertise one of these services, visibly or in the overflow area; empty: all (SPEC CEN-4).
    public var serviceUUIDs: [BluetoothUUID]
    /// Devices that look for one of these are reported too; `nil` for none (SPEC 2.3).
    public var solicitedServiceUUIDs: [BluetoothUUID]?
    /// Only devices of this complete or shortened name.
    public var name: String?
    /// Only packets received with at least this strength, in dBm.
    public var minimumRSSI: Int8?
    /// Only this device.
    public var address: DeviceAddress?
    /// Whether the client is in the background, where the lower duty cycle is enough.
    public var isInBackground: Bool

    /// `solicitedServiceUUIDs` is `nil`, and may be set afterwards.
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

#if !hasFeature(Embedded)
extension ScanRequest: Codable {}
#endif
