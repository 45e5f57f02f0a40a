extension CaptureReader {
    /// Recognises the format by the first octets, and reads the header of the file.
    /// - Parameter isUnpacked: whether the file was packed; a packed file in another one is not unpacked.
    static func recognise(
        _ buffer: inout InputBuffer, isUnpacked: Bool = false
    ) throws(CaptureError) -> (CaptureFormat, Decoder) {
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
            if let archive = CaptureArchive(magic: magic) {
                guard archive.isUnpacked, !isUnpacked else { throw CaptureError(.packed(archive)) }
                try unpack(archive, &buffer)
                return try recognise(&buffer, isUnpacked: true)
            }
            if try HCIDump.recognise(&buffer) { return (.hcidump, .hcidump) }
            guard let isBigEndian = try PacketLogger.recognise(&buffer) else { throw CaptureError(.unknownFormat) }
            return (.packetLogger, .packetLogger(bigEndian: isBigEndian))
        }
    }

    private static func unpack(_ archive: CaptureArchive, _ buffer: inout InputBuffer) throws(CaptureError) {
        do throws(SystemError) { try buffer.unpack(archive) } catch {
            switch error {
            case .noDecompressor: throw CaptureError(.packed(archive))
            case .noCapture: throw CaptureError(.noCapture(archive))
            default: throw CaptureError(.cannotRead(error))
            }
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
