/// Which PHYs the host would have, for each direction (Core 5.4, Vol 4, Part E, 7.8.48).
public struct PHYPreferences: Hashable, Sendable {
    /// The directions for which the host does not care; their PHYs do not count then.
    public struct Indifference: OptionSet, Hashable, Sendable {
        public var rawValue: UInt8
        @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// From this device to the other.
        public static let transmit = Indifference(rawValue: 1 << 0)
        /// From the other device to this one.
        public static let receive = Indifference(rawValue: 1 << 1)
    }

    /// Directions in which any PHY will do.
    public var indifference: Indifference
    /// PHYs to send on; at least one unless the host does not care.
    public var transmitPHYs: PHYSet
    /// PHYs to receive on; at least one unless the host does not care.
    public var receivePHYs: PHYSet

    public init(indifference: Indifference = [], transmitPHYs: PHYSet, receivePHYs: PHYSet) {
        self.indifference = indifference
        self.transmitPHYs = transmitPHYs
        self.receivePHYs = receivePHYs
    }

    /// - Parameters:
    ///   - transmit: `nil` when any PHY will do.
    ///   - receive: `nil` when any PHY will do.
    public init(transmit: PHYSet?, receive: PHYSet?) {
        var indifference: Indifference = []
        if transmit == nil { indifference.insert(.transmit) }
        if receive == nil { indifference.insert(.receive) }
        self.init(indifference: indifference, transmitPHYs: transmit ?? [], receivePHYs: receive ?? [])
    }

    /// - Throws: `DecodingError.truncated` when fewer than three octets remain.
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        indifference = Indifference(rawValue: try reader.read())
        transmitPHYs = PHYSet(rawValue: try reader.read())
        receivePHYs = PHYSet(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(indifference.rawValue)
        packet.write(transmitPHYs.rawValue)
        packet.write(receivePHYs.rawValue)
    }
}
