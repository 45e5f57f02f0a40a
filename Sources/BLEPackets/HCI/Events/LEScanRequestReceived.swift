/// LE Scan Request Received: somebody asked an advertising set for its scan response (Core 5.4, Vol 4, Part E,
/// 7.7.65.19).
public struct LEScanRequestReceived: LEMetaEvent {
    public static let subevent = LESubeventCode.scanRequestReceived

    /// Which advertising set, 0x00 to 0xEF.
    public var advertisingHandle: UInt8
    /// Who asked; its identity where the controller resolved it.
    public var scannerAddress: DeviceAddress

    public init(advertisingHandle: UInt8, scannerAddress: DeviceAddress) {
        self.advertisingHandle = advertisingHandle
        self.scannerAddress = scannerAddress
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        advertisingHandle = try reader.read()
        scannerAddress = try DeviceAddress(decodingWithKind: &reader)
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(advertisingHandle)
        scannerAddress.encodeWithKind(into: &packet)
    }
}
