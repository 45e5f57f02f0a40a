/// Connection Parameter Update Request: a peripheral asks the central for other connection parameters
/// (Core 5.4, Vol 3, Part A, 4.20).
public struct L2CAPConnectionParameterUpdateRequest: L2CAPSignallingCommand {
    /// 0x12, from the peripheral. Where both link layers know the Connection Parameters Request procedure, that serves
    /// instead.
    public static let code = L2CAPSignallingCode.connectionParameterUpdateRequest

    /// The minimum connection interval in units of 1.25 ms; 6 to 3200.
    public var minimumInterval: UInt16
    /// The maximum connection interval in units of 1.25 ms; 6 to 3200.
    public var maximumInterval: UInt16
    /// Connection events that the peripheral may skip, 0 to 499.
    public var latency: UInt16
    /// How long the link may be silent before it counts as lost, in units of 10 ms; 10 to 3200.
    public var supervisionTimeout: UInt16

    public init(minimumInterval: UInt16, maximumInterval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.latency = latency
        self.supervisionTimeout = supervisionTimeout
    }

    /// Whether all values are in their ranges and the supervision timeout is longer than the events that may be
    /// skipped; an invalid request is answered with `L2CAPConnectionParameterUpdateResponse.Result.rejected`.
    public var isValid: Bool {
        guard (6...3200).contains(minimumInterval), (6...3200).contains(maximumInterval),
            minimumInterval <= maximumInterval, latency <= 499, (10...3200).contains(supervisionTimeout)
        else { return false }
        // Timeout in ms > (1 + latency) × interval in ms × 2, both sides times 4 to stay with integers.
        return UInt32(supervisionTimeout) * 40 > (1 + UInt32(latency)) * UInt32(maximumInterval) * 10
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        minimumInterval = try reader.read()
        maximumInterval = try reader.read()
        latency = try reader.read()
        supervisionTimeout = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(minimumInterval)
        packet.write(maximumInterval)
        packet.write(latency)
        packet.write(supervisionTimeout)
    }
}

/// Connection Parameter Update Response: the central's answer (Core 5.4, Vol 3, Part A, 4.21).
public struct L2CAPConnectionParameterUpdateResponse: L2CAPSignallingCommand {
    /// 0x13, from the central. Accepting means that the central will ask its controller, not that the link has changed.
    public static let code = L2CAPSignallingCode.connectionParameterUpdateResponse

    /// Accepted or rejected; other values have no meaning and count as rejected.
    public struct Result: RawRepresentable, Hashable, Sendable {
        public let rawValue: UInt16
        @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// The central is going to change the parameters.
        public static let accepted = Result(rawValue: 0x0000)
        /// The parameters stay as they are.
        public static let rejected = Result(rawValue: 0x0001)
    }

    /// The decision of the central.
    public var result: Result

    public init(result: Result) { self.result = result }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        result = Result(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) { packet.write(result.rawValue) }
}
