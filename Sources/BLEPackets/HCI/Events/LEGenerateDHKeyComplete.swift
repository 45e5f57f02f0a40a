/// LE Generate DHKey Complete: the secret that we share with the owner of a public key (Core 5.4, Vol 4, Part E,
/// 7.7.65.9).
public struct LEGenerateDHKeyComplete: LEMetaEvent {
    public static let subevent = LESubeventCode.generateDHKeyComplete

    public var status: HCIStatus
    public var key: DHKey

    public init(status: HCIStatus = .success, key: DHKey) {
        self.status = status
        self.key = key
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        status = HCIStatus(rawValue: try reader.read())
        key = try DHKey(decoding: &reader)
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(status.rawValue)
        key.encode(into: &packet)
    }
}
