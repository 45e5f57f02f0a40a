/// Which share of its connection events a link may use (Core 5.4, Vol 4, Part E, 7.8.124).
public struct SubrateParameters: Hashable, Sendable {
    /// Every n-th event is used, 1 to 500.
    public var minimumFactor: UInt16
    /// Every n-th event is used, 1 to 500.
    public var maximumFactor: UInt16
    /// Used events that the peripheral may skip, 0 to 499.
    public var maximumLatency: UInt16
    /// Events that are used after one that carried data, 0 to 499.
    public var continuationNumber: UInt16
    /// How long the link may be silent before it counts as lost.
    public var supervisionTimeout: SupervisionTimeout

    public init(
        minimumFactor: UInt16, maximumFactor: UInt16, maximumLatency: UInt16 = 0, continuationNumber: UInt16 = 0,
        supervisionTimeout: SupervisionTimeout
    ) {
        self.minimumFactor = minimumFactor
        self.maximumFactor = maximumFactor
        self.maximumLatency = maximumLatency
        self.continuationNumber = continuationNumber
        self.supervisionTimeout = supervisionTimeout
    }

    /// - Throws: `DecodingError.truncated` when fewer than ten octets remain.
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        minimumFactor = try reader.read()
        maximumFactor = try reader.read()
        maximumLatency = try reader.read()
        continuationNumber = try reader.read()
        supervisionTimeout = SupervisionTimeout(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(minimumFactor)
        packet.write(maximumFactor)
        packet.write(maximumLatency)
        packet.write(continuationNumber)
        packet.write(supervisionTimeout.rawValue)
    }
}
