/// Facts about a packet, for filters and charts.
public struct PacketFacts: Sendable {
    /// Kinds of packets, for filters.
    public struct Kinds: OptionSet, Sendable {
        public let rawValue: UInt16
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// HCI commands.
        public static let command = Kinds(rawValue: 1)
        /// HCI events, including advertising reports.
        public static let event = Kinds(rawValue: 2)
        /// ACL data with any content; of a sniffer, data that is not empty.
        public static let acl = Kinds(rawValue: 4)
        /// Synchronous data: voice over BR/EDR.
        public static let sco = Kinds(rawValue: 8)
        /// Isochronous data.
        public static let iso = Kinds(rawValue: 16)
        /// Notes of the capture program and packets of unknown type.
        public static let other = Kinds(rawValue: 32)
        /// L2CAP frames on any channel.
        public static let l2cap = Kinds(rawValue: 64)
        /// L2CAP signalling.
        public static let signalling = Kinds(rawValue: 128)
        /// PDUs of the Attribute Protocol, on enhanced bearers and over BR/EDR, too.
        public static let att = Kinds(rawValue: 256)
        /// PDUs of the Security Manager Protocol, over LE and over BR/EDR.
        public static let smp = Kinds(rawValue: 512)
        /// Advertising reports, and PDUs of advertisers.
        public static let advertising = Kinds(rawValue: 1024)
        /// Malformed packets.
        public static let malformed = Kinds(rawValue: 2048)
        /// What a sniffer received: every packet of it.
        public static let linkLayer = Kinds(rawValue: 4096)
    }

    /// The number of the record in the capture, from 1.
    public internal(set) var frame = 0
    /// The kind of the HCI packet, and the kinds of its content.
    public internal(set) var kinds = Kinds()
    /// Whether the host sent it, or a central that a sniffer captured; `nil` for notes.
    public internal(set) var isFromHost: Bool?
    /// Microseconds since 1970-01-01 00:00 UTC, as in the capture.
    public internal(set) var timestampMicroseconds: Int64 = 0
    /// The connection, numbered in the order in which connections began; `nil` for none.
    public internal(set) var connection: Int?

    var filter = DecodingFilter()
    var hasHandle = false
    var hasAddress = false
    var hasAttribute = false
    var hasBrokenData = false
    var linkCount = 0
    /// The address that was read last.
    var latestAddress: UInt64 = 0

    mutating func reset() {
        kinds = []
        isFromHost = nil
        connection = nil
        hasHandle = false
        hasAddress = false
        hasAttribute = false
        hasBrokenData = false
    }

    @inline(__always)
    mutating func record(handle: UInt16) {
        if filter.connectionHandle == handle { hasHandle = true }
    }

    @inline(__always)
    mutating func record(address: UInt64, isTarget: Bool = false) {
        // An advertisement says what its sender measures, not whom it is directed to.
        if !isTarget { latestAddress = address }
        if filter.address == address { hasAddress = true }
    }

    @inline(__always)
    mutating func record(attribute: UInt16) {
        if filter.attributeHandle == attribute { hasAttribute = true }
    }

    /// Whether the packet passes the filter.
    var passes: Bool {
        if !filter.kinds.isEmpty, filter.kinds.isDisjoint(with: kinds) { return false }
        if filter.connectionHandle != nil, !hasHandle { return false }
        if filter.address != nil, !hasAddress { return false }
        return filter.attributeHandle == nil || hasAttribute
    }
}

/// A filter for packets; all conditions must be met.
public struct DecodingFilter: Sendable {
    /// Packets of any of these kinds; empty for all.
    public var kinds = PacketFacts.Kinds()
    /// Data on this connection, and commands and events with its handle; `nil` for all.
    public var connectionHandle: UInt16?
    /// Packets of the device with this address, of 48 bits, the first octet of the text highest; `nil` for all.
    public var address: UInt64?
    /// ATT PDUs with this attribute handle; `nil` for all packets.
    public var attributeHandle: UInt16?

    public init(
        kinds: PacketFacts.Kinds = [], connectionHandle: UInt16? = nil, address: UInt64? = nil,
        attributeHandle: UInt16? = nil
    ) {
        self.kinds = kinds
        self.connectionHandle = connectionHandle
        self.address = address
        self.attributeHandle = attributeHandle
    }

    /// Whether every packet passes.
    public var isEmpty: Bool {
        kinds.isEmpty && connectionHandle == nil && address == nil && attributeHandle == nil
    }
}
