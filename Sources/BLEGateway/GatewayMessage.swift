/// A message for the broker.
public struct GatewayMessage: Equatable, Sendable {
    /// The kind of a message.
    public enum Kind: Sendable { case document, presence, discovery }

    public var kind: Kind
    public var topic: String
    /// The text in UTF-8.
    public var payload: [UInt8]
    /// Whether the broker retains it for later subscribers.
    public var isRetained: Bool

    public init(kind: Kind, topic: String, payload: [UInt8], isRetained: Bool) {
        self.kind = kind
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
    }
}

/// The counters of a gateway since its start.
public struct GatewayCounters: Equatable, Sendable {
    /// All packets of devices.
    public var reports: UInt64 = 0
    /// Packets that were too weak, from anonymous devices, or from private addresses that are dropped.
    public var ignoredReports: UInt64 = 0
    /// Packets of devices that the filter excludes.
    public var filteredReports: UInt64 = 0
    /// Packets whose content differed from the previous packet of the device.
    public var changedReports: UInt64 = 0
    /// Documents of devices that were sent.
    public var documents: UInt64 = 0
    /// Changes that waited for a later document because of the shortest time between documents.
    public var heldChanges: UInt64 = 0
    /// Values that were dropped because their device had too many.
    public var droppedValues: UInt64 = 0
    /// Devices that were forgotten because there was no room.
    public var evictedDevices: UInt64 = 0
    /// Documents of devices that were not announced to Home Assistant because of `HomeAssistantSettings.deviceLimit`.
    public var unannouncedDocuments: UInt64 = 0
    /// Messages that removed what the broker had retained.
    public var withdrawals: UInt64 = 0
    /// Packets with encrypted values whose key is missing or wrong.
    public var unreadableReports: UInt64 = 0
    /// Packets that were received before, or whose counter did not continue those of the device.
    public var replayedReports: UInt64 = 0
    /// Reports in clear from addresses of devices whose keys the settings have.
    public var unprotectedReports: UInt64 = 0

    public init() {}
}
