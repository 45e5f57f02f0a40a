/// LE Set Periodic Advertising Parameters [v1]: how the periodic train of an advertising set shall run (Core 5.4, Vol
/// 4, Part E, 7.8.61).
public struct LESetPeriodicAdvertisingParameters: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x003E)
    public static let answer = CommandAnswer.complete

    /// Which advertising set, 0x00 to 0xEF.
    public var advertisingHandle: UInt8
    /// The shortest time between two events that will do.
    public var minimumInterval: PeriodicAdvertisingInterval
    /// The longest time between two events that will do; the controller chooses between the two.
    public var maximumInterval: PeriodicAdvertisingInterval
    public var properties: PeriodicAdvertisingProperties

    public init(
        advertisingHandle: UInt8, minimumInterval: PeriodicAdvertisingInterval,
        maximumInterval: PeriodicAdvertisingInterval, properties: PeriodicAdvertisingProperties = []
    ) {
        self.advertisingHandle = advertisingHandle
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.properties = properties
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        advertisingHandle = try reader.read()
        minimumInterval = PeriodicAdvertisingInterval(rawValue: try reader.read())
        maximumInterval = PeriodicAdvertisingInterval(rawValue: try reader.read())
        properties = PeriodicAdvertisingProperties(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(advertisingHandle)
        packet.write(minimumInterval.rawValue)
        packet.write(maximumInterval.rawValue)
        packet.write(properties.rawValue)
    }
}
