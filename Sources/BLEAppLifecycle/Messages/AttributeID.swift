import BLEPackets

/// Identifies a service, characteristic or descriptor of a remote device, within that device.
///
/// Stable until `PeripheralEvent.servicesModified` names its service or the peripheral is discovered again after a
/// power-off: then it is invalid, and requests for it end with `CoreBluetoothError.invalidHandle`.
public struct RemoteAttributeID: RawRepresentable, Hashable, Comparable, Codable, Sendable {
    /// The handle of a service's or characteristic's declaration, or of a descriptor.
    public let rawValue: UInt16
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    init(_ handle: AttributeHandle) { rawValue = handle.rawValue }
    var handle: AttributeHandle { AttributeHandle(rawValue: rawValue) }

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Identifies a service, characteristic or descriptor that an app publishes, within its peripheral manager.
///
/// The app's side chooses the number, once per attribute. Restored services keep their numbers; the app's side
/// continues after the greatest of them.
public struct LocalAttributeID: RawRepresentable, Hashable, Comparable, Codable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// Identifies a request of a remote central, which the app must answer once (SPEC PER-16, PER-18).
public struct ATTRequestID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Identifies an L2CAP channel with credit-based flow control, opened by either side.
public struct L2CAPChannelID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}
