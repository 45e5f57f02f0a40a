/// LE Create Connection: connects to the first advertiser that fits (Core 5.4, Vol 4, Part E, 7.8.12).
///
/// Command Status comes at once, `LEConnectionComplete` when the link stands or the attempt was cancelled. There is one
/// attempt at a time.
public struct LECreateConnection: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x000D)
    public static let answer = CommandAnswer.status

    /// From the start of one scan to the start of the next.
    public var scanInterval: ScanInterval
    /// How long each scan is; at most `scanInterval`.
    public var scanWindow: ScanInterval
    public var filterPolicy: InitiatorFilterPolicy
    /// Ignored with the filter accept list.
    public var peerAddress: DeviceAddress
    public var ownAddressType: OwnAddressType
    public var parameters: LEConnectionParameters

    public init(
        scanInterval: ScanInterval = ScanInterval(rawValue: 0x0060),
        scanWindow: ScanInterval = ScanInterval(rawValue: 0x0030), filterPolicy: InitiatorFilterPolicy = .peerAddress,
        peerAddress: DeviceAddress = DeviceAddress(value: 0, kind: .public), ownAddressType: OwnAddressType = .public,
        parameters: LEConnectionParameters
    ) {
        self.scanInterval = scanInterval
        self.scanWindow = scanWindow
        self.filterPolicy = filterPolicy
        self.peerAddress = peerAddress
        self.ownAddressType = ownAddressType
        self.parameters = parameters
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        scanInterval = ScanInterval(rawValue: try reader.read())
        scanWindow = ScanInterval(rawValue: try reader.read())
        filterPolicy = InitiatorFilterPolicy(rawValue: try reader.read())
        peerAddress = try DeviceAddress(decodingWithKind: &reader)
        ownAddressType = try OwnAddressType(decoding: &reader)
        parameters = try LEConnectionParameters(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(scanInterval.rawValue)
        packet.write(scanWindow.rawValue)
        packet.write(filterPolicy.rawValue)
        peerAddress.encodeWithKind(into: &packet)
        packet.write(ownAddressType.rawValue)
        parameters.encode(into: &packet)
    }
}
