extension CaptureReader {
    /// Recognises the format by the first octets, and reads the header of the file.
    static func recognise(_ buffer: inout InputBuffer) throws(CaptureError) -> (CaptureFormat, Decoder) {
        let magicIsThere: Bool
        do { magicIsThere = try buffer.fill(4) } catch { throw CaptureError(.cannotRead(error)) }
        guard magicIsThere else { throw CaptureError(buffer.bufferedCount == 0 ? .empty : .unknownFormat) }
        let magic: UInt32 = buffer.load(at: 0, bigEndian: true)
        switch magic {
        case 0x6274_736E:
            return try Btsnoop.readHeader(&buffer)
        case 0xA1B2_C3D4, 0xA1B2_3C4D:
            return (.pcap, .pcap(try PcapHeader(&buffer, isBigEndian: true)))
        case 0xD4C3_B2A1, 0x4D3C_B2A1:
            return (.pcap, .pcap(try PcapHeader(&buffer, isBigEndian: false)))
        case PcapNG.sectionHeaderBlock:
            // A file can have several sections: the first is read like the others, before the first record.
            return (.pcapng, .pcapng)
        default:
            if let archive = CaptureArchive(magic: magic) { throw CaptureError(.packed(archive)) }
            if try HCIDump.recognise(&buffer) { return (.hcidump, .hcidump) }
            guard let isBigEndian = try PacketLogger.recognise(&buffer) else { throw CaptureError(.unknownFormat) }
            return (.packetLogger, .packetLogger(bigEndian: isBigEndian))
        }
    }

    /// Makes the header of the file available.
    static func fillHeader(_ buffer: inout InputBuffer, _ count: Int) throws(CaptureError) {
        let isFilled: Bool
        do { isFilled = try buffer.fill(count) } catch { throw CaptureError(.cannotRead(error)) }
        guard isFilled else {
            throw CaptureError(.truncated(needed: UInt64(count), available: UInt64(buffer.bufferedCount)))
        }
    }
}
