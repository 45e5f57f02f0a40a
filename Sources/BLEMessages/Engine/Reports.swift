import BLEHost
import BLEPackets

/// A discovery as the daemon sends it.
public struct DiscoveryMessage: Message, Equatable, Sendable {
    /// With the client's number of the scan.
    public var discovery: Discovery
    /// The number of this client's discoveries before this one that were dropped.
    public var lost: UInt32

    public init(_ discovery: Discovery, lost: UInt32 = 0) {
        self.discovery = discovery
        self.lost = lost
    }

    public static var blank: Self {
        Self(
            Discovery(
                scan: .blank, client: .local, address: nil, rssi: 0, isConnectable: false, isScannable: false,
                advertisement: [], scanResponse: [], txPower: nil, isExtended: false, time: .zero))
    }
    public static var schemaName: String { "Discovery" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "operation", &it.discovery.scan)
        try c.field(2, "address", &it.discovery.address)
        try c.field(3, "rssi", &it.discovery.rssi)
        try c.field(4, "is_connectable", &it.discovery.isConnectable)
        try c.field(5, "is_scannable", &it.discovery.isScannable)
        try c.field(6, "advertisement", &it.discovery.advertisement)
        try c.field(7, "scan_response", &it.discovery.scanResponse)
        try c.field(8, "tx_power", &it.discovery.txPower, nilAs: 127)
        try c.field(9, "is_extended", &it.discovery.isExtended)
        try c.field(10, "time", &it.discovery.time)
        try c.field(11, "lost", &it.lost)
        try c.field(12, "sid", &it.discovery.advertisingSetIdentifier)
        try c.field(13, "primary_phy", &it.discovery.primaryPHY, zeroAs: .le1M)
        try c.field(14, "secondary_phy", &it.discovery.secondaryPHY, nilAs: 0)
        try c.field(15, "periodic_interval", &it.discovery.periodicInterval, nilAs: 0)
        try c.field(16, "unresolved_target", &it.discovery.unresolvedTarget)
    }
}

/// What an advertising set of a client did.
public struct SetMessage: Message, Equatable, Sendable {
    /// The client's number.
    public var operation: OperationID
    public var event: AdvertisingSetEvent
    /// Responses and requests for data of this set before this event that were dropped.
    public var dropped: UInt32

    public init(_ operation: OperationID, _ event: AdvertisingSetEvent, dropped: UInt32 = 0) {
        self.operation = operation
        self.event = event
        self.dropped = dropped
    }

    public static var blank: Self { Self(.blank, .blank) }
    public static var schemaName: String { "SetEvent" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "operation", &it.operation)
        try c.choice(&it.event)
        try c.field(22, "dropped", &it.dropped)
    }
}

/// What a train that a client follows brought.
public struct TrainMessage: Message, Equatable, Sendable {
    /// The client's number.
    public var operation: OperationID
    public var event: PeriodicSyncEvent
    /// Reports of this train before this one that were dropped.
    public var dropped: UInt32

    public init(_ operation: OperationID, _ event: PeriodicSyncEvent, dropped: UInt32 = 0) {
        self.operation = operation
        self.event = event
        self.dropped = dropped
    }

    public static var blank: Self { Self(.blank, .blank) }
    public static var schemaName: String { "TrainEvent" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "operation", &it.operation)
        try c.choice(&it.event)
        try c.field(5, "dropped", &it.dropped)
    }
}

/// The part of the message behind the operation.
extension AdvertisingRoom: Message {
    public static var blank: Self { Self() }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(2, "hidden_services", &it.hiddenServices)
        try c.field(3, "hides_name", &it.hidesName)
    }
}

/// The end of an operation of a client.
public struct Completion: Message, Equatable, Sendable {
    /// The client's number.
    public var operation: OperationID
    public var result: Result<HostResult, HostFailure>

    public init(_ operation: OperationID, _ result: Result<HostResult, HostFailure>) {
        self.operation = operation
        self.result = result
    }

    public static var blank: Self { Self(.blank, .success(.done)) }
    public static var schemaName: String { "Completed" }
    public static func describe<C: Coder>(_ it: inout Self, _ c: inout C) throws(MessageError) {
        try c.field(1, "operation", &it.operation)
        try c.choice(&it.result)
    }
}
