/// LE Long Term Key Request: a central wants to encrypt, and the peripheral's host shall give the key (Core 5.4, Vol 4,
/// Part E, 7.7.65.5).
public struct LELongTermKeyRequest: LEMetaEvent {
    public static let subevent = LESubeventCode.longTermKeyRequest

    public var connectionHandle: ConnectionHandle
    /// Zero for a key of LE Secure Connections.
    public var randomNumber: UInt64
    /// Zero for a key of LE Secure Connections.
    public var encryptedDiversifier: UInt16

    public init(connectionHandle: ConnectionHandle, randomNumber: UInt64, encryptedDiversifier: UInt16) {
        self.connectionHandle = connectionHandle
        self.randomNumber = randomNumber
        self.encryptedDiversifier = encryptedDiversifier
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        connectionHandle = ConnectionHandle(rawValue: try reader.read())
        randomNumber = try reader.read()
        encryptedDiversifier = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(connectionHandle.rawValue)
        packet.write(randomNumber)
        packet.write(encryptedDiversifier)
    }
}
