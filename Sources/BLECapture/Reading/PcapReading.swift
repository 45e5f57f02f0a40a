/// The header of a pcap file.
struct PcapHeader {
    static let fileHeaderByteCount = 24
    static let recordHeaderByteCount = 16

    var isBigEndian: Bool
    var resolution: CaptureTimeResolution
    var link: LinkType

    init(_ buffer: inout InputBuffer, isBigEndian: Bool) throws(CaptureError) {
        try CaptureReader.fillHeader(&buffer, Self.fileHeaderByteCount)
        let magic: UInt32 = buffer.load(at: 0, bigEndian: isBigEndian)
        let version: UInt16 = buffer.load(at: 4, bigEndian: isBigEndian)
        guard version == 2 else { throw CaptureError(.unsupportedVersion(UInt32(version))) }
        // The upper bits describe checksums at the end of frames, which HCI does not have.
        let number = buffer.load(at: 20, bigEndian: isBigEndian, as: UInt32.self) & 0x0FFF_FFFF
        guard let link = LinkType(rawValue: number) else { throw CaptureError(.unsupportedLinkType(number)) }
        buffer.consume(Self.fileHeaderByteCount)
        self.isBigEndian = isBigEndian
        self.resolution = magic == 0xA1B2_3C4D ? .nanoseconds : .microseconds
        self.link = link
    }
}

extension CaptureReader {
    /// Record: seconds, micro- or nanoseconds, included length, original length (32 bits each), packet.
    mutating func nextPcap(_ file: PcapHeader) throws(CaptureError) -> FoundRecord? {
        let header = PcapHeader.recordHeaderByteCount
        while try fill(header) {
            let seconds: UInt32 = buffer.load(at: 0, bigEndian: file.isBigEndian)
            let fraction: UInt32 = buffer.load(at: 4, bigEndian: file.isBigEndian)
            let included: UInt32 = buffer.load(at: 8, bigEndian: file.isBigEndian)
            let original: UInt32 = buffer.load(at: 12, bigEndian: file.isBigEndian)
            try fillRecord(header + Int(included))
            let microseconds = file.resolution == .nanoseconds ? fraction / 1000 : fraction
            let found = try readLink(
                file.link, at: header, count: Int(included), originalByteCount: Int(original),
                timestampMicroseconds: Int64(seconds) * 1_000_000 + Int64(microseconds), adapter: 0,
                statedDirection: nil, recordByteCount: header + Int(included), isBigEndian: file.isBigEndian)
            if let found { return found }
        }
        return nil
    }
}
