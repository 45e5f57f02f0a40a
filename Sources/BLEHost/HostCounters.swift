/// Counters of errors and recoveries since the creation of the engine.
public struct HostCounters: Hashable, Sendable {
    /// Packets of the controller that could not be decoded; each was dropped and reported as
    /// `HostEvent.malformedPacket`.
    public var malformedPackets: UInt64 = 0
    /// Events that do not match the engine's state, for example a handle that the controller assigns twice.
    public var unexpectedEvents: UInt64 = 0
    /// Commands that the controller did not answer within 2 s.
    public var commandTimeouts: UInt64 = 0
    /// How often the controller was reset to bring it back (pain 6).
    public var controllerResets: UInt64 = 0
    /// How often the transport was reopened because resets did not help (pain 6).
    public var transportReopenings: UInt64 = 0
    /// Hardware Error events (Core 5.4, Vol 4, Part E, 7.7.16).
    public var hardwareErrors: UInt64 = 0
    /// Command Disallowed responses: the engine's copy of the controller's state was wrong.
    public var desynchronisations: UInt64 = 0
    /// How often scanning was restarted because no reports arrived (pain 5).
    public var scanRestarts: UInt64 = 0
    /// Advertising reports of the controller, before any filter.
    public var advertisingReports: UInt64 = 0
    /// Devices forgotten because the scanner's memory was full.
    public var forgottenDevices: UInt64 = 0
    /// ACL packets that came before the Connection Complete of their link and were stored (pain 11).
    public var parkedPackets: UInt64 = 0
    /// ACL packets for handles that belong to no link, frames for channels that do not exist, and responses of the
    /// signalling channel that answer no request.
    public var strayPackets: UInt64 = 0
    /// L2CAP frames that were too long or incomplete, and fragments that continue no frame.
    public var oversizedFrames: UInt64 = 0
    /// Connections that could not be established (0x3E) and were tried again.
    public var connectionRetries: UInt64 = 0
    /// Links closed because the peer sent requests without reading the responses.
    public var floodedLinks: UInt64 = 0
    /// Links closed because the peer acknowledged nothing for 45 s although packets were waiting for it.
    public var stalledLinks: UInt64 = 0
    /// Data Buffer Overflow events: the controller lost data although it had said that it had room (Core 5.4, Vol 4,
    /// Part E, 7.7.26).
    public var dataBufferOverflows: UInt64 = 0
    /// Unencrypted PDUs of peers that had not yet proved that they have the key of their bond; all were dropped.
    public var refusedCleartext: UInt64 = 0

    /// Enhanced attribute bearers that were opened, by this side or by peers.
    public var enhancedBearers: UInt64 = 0
    /// Enhanced attribute bearers that were closed because the peer broke the rules or did not answer in time.
    public var failedBearers: UInt64 = 0

    /// Requests to the crypto provider that were not answered within 20 s.
    public var cryptoTimeouts: UInt64 = 0
    /// Discoveries that the owner did not fetch in time.
    public var droppedDiscoveries: UInt64 = 0
    /// Values of notifications and write commands, and malformed packets, that the owner did not fetch in time.
    public var droppedValues: UInt64 = 0
    /// Updates of the local server that a client missed because it took earlier ones too slowly.
    public var missedUpdates: UInt64 = 0
    /// Malformed ATT PDUs of links that have ended.
    public var malformedATTPDUs: UInt64 = 0
    /// ATT responses that did not answer the request in progress, or came without one, of links that have ended.
    public var unexpectedATTResponses: UInt64 = 0
    /// Values that came before a client subscribed and were too many to store, of links that have ended (pain 12).
    public var droppedEarlyNotifications: UInt64 = 0

    /// All zero.
    public init() {}
}
