/// The state of a peripheral's connection to its manager (SPEC 2.1).
public enum CBPeripheralState: Int, Sendable {
    /// This manager has no connection and no pending attempt; another app may be connected through the system (SPEC
    /// CEN-23).
    case disconnected = 0
    /// The manager is connecting; there is no timeout (SPEC CEN-9).
    case connecting = 1
    /// This manager is connected and can send requests.
    case connected = 2
    /// The app has cancelled the connection, but the delegate has not been called for its end (SPEC CEN-22, CEN-24).
    case disconnecting = 3
}

/// A connection event between the system and a peripheral, whichever app caused it (SPEC 2.1, 2.3).
public enum CBConnectionEvent: Int, Sendable {
    /// The last app that used the connection has ended it, or it was lost.
    case peerDisconnected = 0
    /// The system has connected to the peripheral; a manager must still call `connect(_:options:)` to use it (SPEC
    /// REC-7).
    case peerConnected = 1
}

/// How to write a value (SPEC CEN-19, CEN-20).
public enum CBCharacteristicWriteType: Int, Sendable {
    /// The peripheral sends a response, and the delegate is called.
    case withResponse = 0
    /// There is no response and no call of the delegate, even if the write fails.
    case withoutResponse = 1
}

/// A request for the connection interval and peripheral latency (SPEC 2.1).
public enum CBPeripheralManagerConnectionLatency: Int, Sendable {
    /// An interval of 15 to 30 ms: fast responses.
    case low = 0
    /// An interval of 90 to 120 ms; the peripheral may skip two connection events.
    case medium = 1
    /// An interval of 285 to 300 ms; the peripheral may skip four connection events: saves power.
    case high = 2
}

/// The PSM of an L2CAP channel, 0x0080 to 0x00FF if the system picks it (SPEC 2.1).
public typealias CBL2CAPPSM = UInt16

/// A key of the options of `registerForConnectionEvents(options:)` (SPEC 2.2).
public struct CBConnectionEventMatchingOption: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a key, as `init(rawValue:)`.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// An array of `CBUUID`: peripherals with any of these services.
    public static let serviceUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs")
    /// An array of `UUID`: these peripherals.
    public static let peripheralUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs")
}
