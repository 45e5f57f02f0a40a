/// LE Set Extended Scan Response Data: what an advertising set answers to a scan request, whole or in fragments (Core
/// 5.4, Vol 4, Part E, 7.8.55).
public struct LESetExtendedScanResponseData: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0038)
    public static let answer = CommandAnswer.complete

    /// Which advertising set, 0x00 to 0xEF.
    public var advertisingHandle: UInt8
    public var operation: DataFragmentOperation
    public var fragmentPreference: FragmentPreference
    /// At most 251 octets.
    public var data: [UInt8]

    public init(
        advertisingHandle: UInt8, operation: DataFragmentOperation = .complete,
        fragmentPreference: FragmentPreference = .shouldNotFragment, data: [UInt8]
    ) {
        self.advertisingHandle = advertisingHandle
        self.operation = operation
        self.fragmentPreference = fragmentPreference
        self.data = data
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        advertisingHandle = try reader.read()
        operation = DataFragmentOperation(rawValue: try reader.read())
        fragmentPreference = FragmentPreference(rawValue: try reader.read())
        data = try reader.readCountedOctets()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(advertisingHandle)
        packet.write(operation.rawValue)
        packet.write(fragmentPreference.rawValue)
        packet.write(counted: data)
    }
}
