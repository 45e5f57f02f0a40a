/// The features of one side: the content of Pairing Request and Pairing Response
/// (Core 5.4, Vol 3, Part H, 3.5.1 and 3.5.2).
public struct PairingFeatures: Hashable, Sendable {
    /// The input and output capabilities; those of both sides determine the association model.
    public var ioCapability: IOCapability
    /// Whether out-of-band data of the other side is present.
    public var hasOutOfBandData: Bool
    /// The pairing requirements of the device.
    public var authentication: AuthenticationRequirements
    /// Octets, 7 to 16.
    public var maximumKeySize: UInt8
    /// The keys that the initiator, the central, sends. The response may only remove some.
    public var initiatorKeys: KeyDistribution
    /// The keys that the responder, the peripheral, sends. The response may only remove some.
    public var responderKeys: KeyDistribution

    /// - Parameter maximumKeySize: octets, 7 to 16; other values are written unchanged and rejected by the receiver.
    public init(
        ioCapability: IOCapability, hasOutOfBandData: Bool = false, authentication: AuthenticationRequirements,
        maximumKeySize: UInt8 = 16, initiatorKeys: KeyDistribution, responderKeys: KeyDistribution
    ) {
        self.ioCapability = ioCapability
        self.hasOutOfBandData = hasOutOfBandData
        self.authentication = authentication
        self.maximumKeySize = maximumKeySize
        self.initiatorKeys = initiatorKeys
        self.responderKeys = responderKeys
    }

    init(decoding reader: inout PacketReader) throws(DecodingError) {
        ioCapability = try reader.read(IOCapability.self, field: .ioCapability)
        hasOutOfBandData = try reader.readBoolean()
        authentication = AuthenticationRequirements(rawValue: try reader.read())
        maximumKeySize = try reader.read()
        guard (7...16).contains(maximumKeySize) else {
            throw .invalidValue(UInt64(maximumKeySize), field: .length)
        }
        initiatorKeys = KeyDistribution(rawValue: try reader.read())
        responderKeys = KeyDistribution(rawValue: try reader.read())
    }

    func encode(into packet: inout PacketWriter) {
        packet.write(ioCapability.rawValue)
        packet.write(UInt8(hasOutOfBandData ? 1 : 0))
        packet.write(authentication.rawValue)
        packet.write(maximumKeySize)
        packet.write(initiatorKeys.rawValue)
        packet.write(responderKeys.rawValue)
    }
}
