/// Data Buffer Overflow: the host sent more data than the controller had credits for (Core 5.4, Vol 4, Part E, 7.7.26).
public struct DataBufferOverflow: HCIEvent {
    public static let code = HCIEventCode.dataBufferOverflow

    /// 0 SCO, 1 ACL (LE too), 2 ISO.
    public var linkType: UInt8

    public init(linkType: UInt8) {
        self.linkType = linkType
    }

    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        linkType = try reader.read()
    }

    public func encode(into packet: inout PacketWriter) {
        packet.write(linkType)
    }
}
