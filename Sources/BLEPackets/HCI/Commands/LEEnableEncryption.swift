/// LE Enable Encryption: the central encrypts a link, or refreshes its key (Core 5.4, Vol 4, Part E, 7.8.24).
///
/// Command Status comes at once, `EncryptionChange` or `EncryptionKeyRefreshComplete` when it is done. Random number
/// and diversifier are zero for keys of LE Secure Connections.
public struct LEEnableEncryption: HCICommand {
    public static let opcode = HCIOpcode(group: .leController, command: 0x0019)
    public static let answer = CommandAnswer.status

    public var connectionHandle: ConnectionHandle
    public var randomNumber: UInt64
    public var encryptedDiversifier: UInt16
    /// The key of the bond, or the short term key of a pairing that is under way.
    public var longTermKey: Key128

    public init(
        connectionHandle: ConnectionHandle, randomNumber: UInt64 = 0, encryptedDiversifier: UInt16 = 0,
        longTermKey: Key128
    ) {
        self.connectionHandle = connectionHandle
        self.randomNumber = randomNumber
        self.encryptedDiversifier = encryptedDiversifier
        self.longTermKey = longTermKey
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        randomNumber = try reader.read()
        encryptedDiversifier = try reader.read()
        longTermKey = Key128(rawValue: try reader.read())
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(randomNumber)
        packet.write(encryptedDiversifier)
        packet.write(longTermKey.rawValue)
    }
}
