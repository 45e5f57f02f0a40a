/// What the engine met and survived, counted since it was made.
public struct HostCounters: Hashable, Sendable {
    public var malformedPackets: UInt64 = 0
    public var unexpectedEvents: UInt64 = 0
    public var commandTimeouts: UInt64 = 0
    public var controllerResets: UInt64 = 0
    public var transportReopenings: UInt64 = 0
    public var hardwareErrors: UInt64 = 0
    /// Command Disallowed: our picture of the controller was wrong.
    public var desynchronisations: UInt64 = 0
    public var scanRestarts: UInt64 = 0
    public var advertisingReports: UInt64 = 0
    /// Devices forgotten because the scanner's memory was full.
    public var forgottenDevices: UInt64 = 0
    public var parkedPackets: UInt64 = 0
    /// ACL packets for handles that belong to no link.
    public var strayPackets: UInt64 = 0
    public var oversizedFrames: UInt64 = 0
    public var connectionRetries: UInt64 = 0
    /// Links that were ended since the peer asked on and on without taking the answers.
    public var floodedLinks: UInt64 = 0

    /// Discoveries that nobody took in time.
    public var droppedDiscoveries: UInt64 = 0
    /// ATT PDUs of links that have ended: broken ones, answers that nobody asked for, and values that came before anybody
    /// subscribed and were too many to keep.
    public var malformedATTPDUs: UInt64 = 0
    public var unexpectedATTResponses: UInt64 = 0
    public var droppedEarlyNotifications: UInt64 = 0

    public init() {}
}
