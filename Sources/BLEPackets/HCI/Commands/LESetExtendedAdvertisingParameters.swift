/// LE Set Extended Advertising Parameters [v1]: makes an advertising set, or changes one that does not run (Core 5.4,
/// Vol 4, Part E, 7.8.53).
public struct LESetExtendedAdvertisingParameters: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0036)
    public static let answer = CommandAnswer.complete

    /// 0 to 0xEF.
    public var advertisingHandle: UInt8
    public var properties: ExtendedAdvertisingProperties
    /// The shortest time between two events that will do.
    public var minimumInterval: ExtendedAdvertisingInterval
    /// The longest time between two events that will do; the controller chooses between the two.
    public var maximumInterval: ExtendedAdvertisingInterval
    public var channels: AdvertisingChannels
    public var ownAddressType: OwnAddressType
    /// The peer of directed advertising, and whose resolving list entry makes our address; else all zero.
    public var peerAddress: DeviceAddress
    public var filterPolicy: AdvertisingFilterPolicy
    /// Wish in dBm, -127 to 20; 127 is no wish.
    public var transmitPower: Int8
    /// On the primary channels: LE 1M or LE Coded; LE 1M for legacy PDUs.
    public var primaryPHY: PHY
    /// Advertising events that may pass before the secondary channel is used.
    public var secondaryMaximumSkip: UInt8
    /// On the other channels, where extended PDUs carry their data; any PHY.
    public var secondaryPHY: PHY
    /// 0 to 15.
    public var advertisingSetIdentifier: UInt8
    /// Whether `LEScanRequestReceived` shall come.
    public var notifiesOfScanRequests: Bool

    public init(
        advertisingHandle: UInt8, properties: ExtendedAdvertisingProperties,
        minimumInterval: ExtendedAdvertisingInterval = ExtendedAdvertisingInterval(rawValue: 0x0800),
        maximumInterval: ExtendedAdvertisingInterval = ExtendedAdvertisingInterval(rawValue: 0x0800),
        channels: AdvertisingChannels = .all, ownAddressType: OwnAddressType = .public,
        peerAddress: DeviceAddress = DeviceAddress(value: 0, kind: .public),
        filterPolicy: AdvertisingFilterPolicy = .all, transmitPower: Int8 = 127, primaryPHY: PHY = .le1M,
        secondaryMaximumSkip: UInt8 = 0, secondaryPHY: PHY = .le1M, advertisingSetIdentifier: UInt8 = 0,
        notifiesOfScanRequests: Bool = false
    ) {
        self.advertisingHandle = advertisingHandle
        self.properties = properties
        self.minimumInterval = minimumInterval
        self.maximumInterval = maximumInterval
        self.channels = channels
        self.ownAddressType = ownAddressType
        self.peerAddress = peerAddress
        self.filterPolicy = filterPolicy
        self.transmitPower = transmitPower
        self.primaryPHY = primaryPHY
        self.secondaryMaximumSkip = secondaryMaximumSkip
        self.secondaryPHY = secondaryPHY
        self.advertisingSetIdentifier = advertisingSetIdentifier
        self.notifiesOfScanRequests = notifiesOfScanRequests
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        advertisingHandle = try reader.read()
        properties = ExtendedAdvertisingProperties(rawValue: try reader.read())
        minimumInterval = ExtendedAdvertisingInterval(rawValue: try reader.readUInt24())
        maximumInterval = ExtendedAdvertisingInterval(rawValue: try reader.readUInt24())
        channels = AdvertisingChannels(rawValue: try reader.read())
        ownAddressType = try OwnAddressType(decoding: &reader)
        peerAddress = try DeviceAddress(decodingWithKind: &reader)
        filterPolicy = AdvertisingFilterPolicy(rawValue: try reader.read())
        transmitPower = try reader.read()
        primaryPHY = PHY(rawValue: try reader.read())
        secondaryMaximumSkip = try reader.read()
        secondaryPHY = PHY(rawValue: try reader.read())
        advertisingSetIdentifier = try reader.read()
        notifiesOfScanRequests = try reader.readBoolean()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(advertisingHandle)
        packet.write(properties.rawValue)
        packet.writeUInt24(minimumInterval.rawValue)
        packet.writeUInt24(maximumInterval.rawValue)
        packet.write(channels.rawValue)
        packet.write(ownAddressType.rawValue)
        peerAddress.encodeWithKind(into: &packet)
        packet.write(filterPolicy.rawValue)
        packet.write(transmitPower)
        packet.write(primaryPHY.rawValue)
        packet.write(secondaryMaximumSkip)
        packet.write(secondaryPHY.rawValue)
        packet.write(advertisingSetIdentifier)
        packet.write(boolean: notifiesOfScanRequests)
    }

    /// What the controller answers.
    public struct ReturnParameters: HCIReturnParameters {
        public var status: HCIStatus
        /// dBm, -127 to 20.
        public var selectedTransmitPower: Int8 = 0

        public init(status: HCIStatus = .success, selectedTransmitPower: Int8 = 0) {
            self.status = status
            self.selectedTransmitPower = selectedTransmitPower
        }

        public init(decoding reader: inout PacketReader) throws(DecodingError) {
            status = HCIStatus(rawValue: try reader.read())
            if !status.isSuccess, reader.isAtEnd { return }
            selectedTransmitPower = try reader.read()
        }

        public func encode(into packet: inout PacketWriter) {
            packet.write(status.rawValue)
            packet.write(selectedTransmitPower)
        }
    }
}
