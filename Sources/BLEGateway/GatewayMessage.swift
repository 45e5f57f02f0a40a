/// A message for the broker.
public struct GatewayMessage: Equatable, Sendable {
    /// What a message is about.
    public enum Kind: Sendable { case document, presence, discovery }

    public var kind: Kind
    public var topic: String
    /// UTF-8.
    public var payload: [UInt8]
    /// Whether the broker keeps it for those who subscribe later.
    public var isRetained: Bool

    public init(kind: Kind, topic: String, payload: [UInt8], isRetained: Bool) {
        self.kind = kind
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
    }
}

/// What a gateway has done since it began.
public struct GatewayCounters: Equatable, Sendable {
    /// Packets of devices.
    public var reports: UInt64 = 0
    /// Packets that were too weak, of anonymous devices, or of private addresses that are dropped.
    public var ignoredReports: UInt64 = 0
    /// Packets of devices that the filter does not let through.
    public var filteredReports: UInt64 = 0
    /// Packets whose content was other than that of the packet before it.
    public var changedReports: UInt64 = 0
    /// Documents of devices.
    public var documents: UInt64 = 0
    /// Changes that went into a later document, because the device may not be reported so often.
    public var heldChanges: UInt64 = 0
    /// Devices forgotten because there was no room.
    public var evictedDevices: UInt64 = 0
    /// Packets whose values are encrypted with a key that is missing or wrong.
    public var unreadableReports: UInt64 = 0

    public init() {}
}
