/// How a peripheral stands to its manager (SPEC 2.1).
public enum CBPeripheralState: Int, Sendable {
    case disconnected = 0
    /// A connection is pending, however long that takes (SPEC CEN-9).
    case connecting = 1
    case connected = 2
    case disconnecting = 3
}

/// What happened between the system and a peripheral, whichever app caused it (SPEC 2.1, 2.3).
public enum CBConnectionEvent: Int, Sendable {
    case peerDisconnected = 0
    case peerConnected = 1
}

/// How a value is written (SPEC CEN-19, CEN-20).
public enum CBCharacteristicWriteType: Int, Sendable {
    /// The peripheral answers, and the delegate hears of it.
    case withResponse = 0
    /// Nobody hears of it, not even of failure.
    case withoutResponse = 1
}

/// A wish for the pace of a connection (SPEC 2.1).
public enum CBPeripheralManagerConnectionLatency: Int, Sendable {
    case low = 0
    case medium = 1
    case high = 2
}

/// The number under which an L2CAP channel is offered, 0x0080 to 0x00FF where the system picks it (SPEC 2.1).
public typealias CBL2CAPPSM = UInt16

/// Seconds since 2001-01-01 00:00 UTC; the name that Apple's Core Foundation gives to them (SPEC 6.1).
public typealias CFAbsoluteTime = Double

/// What `registerForConnectionEvents(options:)` is to match (SPEC 2.2).
public struct CBConnectionEventMatchingOption: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// An array of `CBUUID`: peripherals with any of these services.
    public static let serviceUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs")
    /// An array of `UUID`: these peripherals.
    public static let peripheralUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs")
}
