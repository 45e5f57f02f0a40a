/// LE Set Periodic Advertising Data: what a periodic train says, whole or in fragments (Core 5.4, Vol 4, Part E,
/// 7.8.62).
public struct LESetPeriodicAdvertisingData: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x003F)
    public static let answer = CommandAnswer.complete

    /// Which advertising set, 0x00 to 0xEF.
    public var advertisingHandle: UInt8
    public var operation: DataFragmentOperation
    /// At most 252 octets.
    public var data: [UInt8]

    public init(advertisingHandle: UInt8, operation: DataFragmentOperation = .complete, data: [UInt8]) {
        self.advertisingHandle = advertisingHandle
        self.operation = operation
        self.data = data
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        advertisingHandle = try reader.read()
        operation = DataFragmentOperation(rawValue: try reader.read())
        data = try reader.readCountedOctets()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(advertisingHandle)
        packet.write(operation.rawValue)
        packet.write(counted: data)
    }
}
