/// LE Set Advertising Parameters: how legacy advertising shall run; disallowed while it does (Core 5.4, Vol 4, Part E,
/// 7.8.5).
public struct LESetAdvertisingParameters: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0006)
    public static let answer = CommandAnswer.complete

    /// The shortest time between two events that will do.
    public var minimumInterval: AdvertisingInterval
    /// The longest time between two events that will do; the controller chooses between the two.
    public var maximumInterval: AdvertisingInterval
    public var type: AdvertisingType
    public var ownAddressType: OwnAddressType
    /// The peer of directed advertising, and whose resolving list entry makes our address; else all zero.
    public var peerAddress: DeviceAddress
    public var channels: AdvertisingChannels
    public var filterPolicy: AdvertisingFilterPolicy

    public init(
        minimumInterval: AdvertisingInterval = AdvertisingInterval(rawValue: 0x0800),
        maximumInterval: AdvertisingInterval = AdvertisingInterval(rawValue: 0x0800),
        type: AdvertisingType = .connectableUndirected, ownAddressType: OwnAddressType = .public,
        peerAddress: DeviceAddress = DeviceAddress(value: 0, kind: .public), channels: AdvertisingChannels = .all,
        filterPolicy: AdvertisingFilterPolicy = .all
    ) {
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.type = type
        self.ownAddressType = ownAddressType
        self.peerAddress = peerAddress
        self.channels = channels
        self.filterPolicy = filterPolicy
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        minimumInterval = AdvertisingInterval(rawValue: try reader.read())
        maximumInterval = AdvertisingInterval(rawValue: try reader.read())
        type = AdvertisingType(rawValue: try reader.read())
        ownAddressType = try OwnAddressType(decoding: &reader)
        peerAddress = try DeviceAddress(decodingWithKind: &reader)
        channels = AdvertisingChannels(rawValue: try reader.read())
        filterPolicy = AdvertisingFilterPolicy(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(minimumInterval.rawValue)
        packet.write(maximumInterval.rawValue)
        packet.write(type.rawValue)
        packet.write(ownAddressType.rawValue)
        peerAddress.encodeWithKind(into: &packet)
        packet.write(channels.rawValue)
        packet.write(filterPolicy.rawValue)
    }
}
