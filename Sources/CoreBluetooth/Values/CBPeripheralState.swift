/// How a peripheral stands to its manager (SPEC 2.1).
public enum CBPeripheralState: Int, Sendable {
    /// This manager has no connection and seeks none; the system may have one for somebody else (SPEC CEN-23).
    case disconnected = 0
    /// A connection is pending, however long that takes (SPEC CEN-9).
    case connecting = 1
    /// This manager holds the connection, and requests are taken.
    case connected = 2
    /// The app has cancelled the connection, and the delegate has not been told of its end yet (SPEC CEN-22, CEN-24).
    case disconnecting = 3
}

/// What happened between the system and a peripheral, whichever app caused it (SPEC 2.1, 2.3).
public enum CBConnectionEvent: Int, Sendable {
    /// The last who held the connection let go of it, or it was lost.
    case peerDisconnected = 0
    /// Somebody has connected to the peripheral; a manager that has not must do so as well to use it (SPEC REC-7).
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
    /// An interval of 15 to 30 ms: quick answers.
    case low = 0
    /// An interval of 90 to 120 ms, of which the peripheral may skip two.
    case medium = 1
    /// An interval of 285 to 300 ms, of which the peripheral may skip four: saves power.
    case high = 2
}

/// The number under which an L2CAP channel is offered, 0x0080 to 0x00FF where the system picks it (SPEC 2.1).
public typealias CBL2CAPPSM = UInt16

/// What `registerForConnectionEvents(options:)` is to match (SPEC 2.2).
public struct CBConnectionEventMatchingOption: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    /// As `init(rawValue:)`, without a label.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// An array of `CBUUID`: peripherals with any of these services.
    public static let serviceUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionServiceUUIDs")
    /// An array of `UUID`: these peripherals.
    public static let peripheralUUIDs = Self(rawValue: "kCBConnectionEventMatchingOptionPeripheralUUIDs")
}
