/// Connection parameters for a link, in the order of several commands (Core 5.4, Vol 4, Part E, 7.8.12).
public struct LEConnectionParameters: Hashable, Sendable {
    /// The shortest connection interval that is acceptable.
    public var minimumInterval: ConnectionInterval
    /// The longest connection interval that is acceptable; the controller chooses between the two.
    public var maximumInterval: ConnectionInterval
    /// Connection events that the peripheral may skip, 0 to 499.
    public var latency: UInt16
    /// How long the link may be silent; more than (1 + latency) × `maximumInterval` × 2.
    public var supervisionTimeout: SupervisionTimeout
    /// The preferred length of a connection event, in units of 0.625 ms; zero for no preference.
    public var minimumEventLength: UInt16
    /// The preferred length of a connection event, in units of 0.625 ms; zero for no preference.
    public var maximumEventLength: UInt16

    @inlinable
    public init(
        minimumInterval: ConnectionInterval, maximumInterval: ConnectionInterval, latency: UInt16 = 0,
        supervisionTimeout: SupervisionTimeout, minimumEventLength: UInt16 = 0, maximumEventLength: UInt16 = 0
    ) {
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
        self.minimumEventLength = minimumEventLength
        self.maximumEventLength = maximumEventLength
    }

    /// - Throws: `DecodingError.truncated` when fewer than twelve octets remain.
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        minimumInterval = ConnectionInterval(rawValue: try reader.read())
        maximumInterval = ConnectionInterval(rawValue: try reader.read())
        latency = try reader.read()
        supervisionTimeout = SupervisionTimeout(rawValue: try reader.read())
        minimumEventLength = try reader.read()
        maximumEventLength = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(minimumInterval.rawValue)
        packet.write(maximumInterval.rawValue)
        packet.write(latency)
        packet.write(supervisionTimeout.rawValue)
        packet.write(minimumEventLength)
        packet.write(maximumEventLength)
    }
}
