/// LE Set Extended Advertising Enable: starts and stops advertising sets (Core 5.4, Vol 4, Part E, 7.8.56).
public struct LESetExtendedAdvertisingEnable: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0039)
    public static let answer = CommandAnswer.complete

    /// How long one set runs.
    public struct AdvertisingSet: Hashable, Sendable {
        /// Which advertising set, 0x00 to 0xEF.
        public var advertisingHandle: UInt8
        /// Units of 10 ms; zero is without end.
        public var duration: UInt16
        /// Zero is without end.
        public var maximumEvents: UInt8

        public init(advertisingHandle: UInt8, duration: UInt16 = 0, maximumEvents: UInt8 = 0) {
            self.advertisingHandle = advertisingHandle
            self.duration = duration
            self.maximumEvents = maximumEvents
        }
    }

    public var isEnabled: Bool
    /// At most 63; none with `isEnabled` false stops all.
    public var sets: [AdvertisingSet]

    public init(isEnabled: Bool, sets: [AdvertisingSet] = []) {
        self.isEnabled = isEnabled
        self.sets = sets
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        isEnabled = try reader.readBoolean()
        let count = Int(try reader.read(UInt8.self))
        sets = []
        for _ in 0..<count {
            sets.append(
                AdvertisingSet(
                    advertisingHandle: try reader.read(), duration: try reader.read(),
                    maximumEvents: try reader.read()))
        }
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(boolean: isEnabled)
        packet.write(UInt8(truncatingIfNeeded: sets.count))
        for set in sets {
            packet.write(set.advertisingHandle)
            packet.write(set.duration)
            packet.write(set.maximumEvents)
        }
    }
}
