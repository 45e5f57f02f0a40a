import BLEDecompression

/// Reads the files in a zip file (APPNOTE.TXT 6.3, 4.3): stored or deflated ones. Names are only compared with those that
/// a manifest asks for, and nothing is written to disk.
package struct ZipArchive {
    /// The longest file in an archive: more than any device's flash.
    static let fileLimit = 16 << 20
    private static let entryLimit = 256

    private struct Entry {
        var method: Int
        var checksum: UInt32
        var compressedByteCount: Int
        var byteCount: Int
        var header: Int
    }

    private let octets: [UInt8]
    private var entries: [String: Entry] = [:]

    /// Whether octets begin as a zip file does.
    static func isArchive(_ octets: [UInt8]) -> Bool { octets.starts(with: [0x50, 0x4B, 0x03, 0x04]) }

    package init(_ octets: [UInt8]) throws(FirmwareFileError) {
        self.octets = octets
        let reader = LittleEndian(octets)
        // The end of the directory is followed by a comment of up to 65535 octets.
        let last = octets.count - 22
        guard last >= 0,
            let end = (max(0, last - 0xFFFF)...last).last(where: { reader.number32(at: $0) == 0x0605_4B50 }),
            let count = reader.number16(at: end + 10), let start = reader.number32(at: end + 16)
        else { throw .damagedArchive("its directory is missing") }
        guard count <= Self.entryLimit else { throw .damagedArchive("it has \(count) files") }
        var place = start
        for _ in 0..<count {
            guard reader.number32(at: place) == 0x0201_4B50, let flags = reader.number16(at: place + 8),
                let method = reader.number16(at: place + 10), let checksum = reader.number32(at: place + 16),
                let compressed = reader.number32(at: place + 20), let byteCount = reader.number32(at: place + 24),
                let nameLength = reader.number16(at: place + 28), let extra = reader.number16(at: place + 30),
                let comment = reader.number16(at: place + 32), let header = reader.number32(at: place + 42),
                place + 46 + nameLength <= octets.count
            else { throw .damagedArchive("its directory is incomplete") }
            guard flags & 1 == 0 else { throw .damagedArchive("it is encrypted") }
            let name = String(decoding: octets[place + 46..<place + 46 + nameLength], as: UTF8.self)
            guard entries[name] == nil else { throw .damagedArchive("two files have one name") }
            entries[name] = Entry(
                method: method, checksum: UInt32(checksum), compressedByteCount: compressed, byteCount: byteCount,
                header: header)
            place += 46 + nameLength + extra + comment
        }
    }

    /// The names of its files, in order.
    package var names: [String] { entries.keys.sorted() }

    /// The octets of a file.
    package func file(_ name: String) throws(FirmwareFileError) -> [UInt8] {
        guard let entry = entries[name] else { throw .missing("the file ‘\(name)’") }
        guard entry.byteCount <= Self.fileLimit else { throw .tooLong(limit: Self.fileLimit) }
        let reader = LittleEndian(octets)
        guard reader.number32(at: entry.header) == 0x0403_4B50, let name = reader.number16(at: entry.header + 26),
            let extra = reader.number16(at: entry.header + 28)
        else { throw .damagedArchive("a file is missing") }
        let start = entry.header + 30 + name + extra
        guard start <= octets.count, entry.compressedByteCount <= octets.count - start else {
            throw .damagedArchive("a file is cut")
        }
        let packed = octets[start..<start + entry.compressedByteCount]
        let content: [UInt8]
        switch entry.method {
        case 0: content = Array(packed)
        case 8: content = try Self.inflate(packed, byteCount: entry.byteCount)
        default: throw .damagedArchive("a file is compressed in a way that is not known here (\(entry.method))")
        }
        guard content.count == entry.byteCount else { throw .damagedArchive("a file has another length than it says") }
        guard Checksum.crc32(content) == entry.checksum else { throw .damagedArchive("a file's checksum is wrong") }
        return content
    }

    private static func inflate(_ packed: ArraySlice<UInt8>, byteCount: Int) throws(FirmwareFileError) -> [UInt8] {
        var content: [UInt8]
        let hasEnded: Bool
        do throws(InflatingError) {
            var stream = try InflatingStream(.raw)
            // One octet more shows whether the file is longer than it says.
            content = [UInt8](repeating: 0, count: byteCount + 1)
            var given = 0
            var failure: InflatingError?
            unsafe packed.withUnsafeBytes { input in
                unsafe content.withUnsafeMutableBytes { output in
                    do throws(InflatingError) { given = try unsafe stream.read(input, into: output).given } catch {
                        failure = error
                    }
                }
            }
            if let failure { throw failure }
            content.removeLast(content.count - given)
            hasEnded = stream.isOver
        } catch {
            switch error {
            case .noDecompressor: throw .noDecompressor
            case .damaged: throw .damagedArchive("a file cannot be decompressed")
            }
        }
        guard content.count <= byteCount else { throw .damagedArchive("a file is longer than it says") }
        guard hasEnded else { throw .damagedArchive("a file cannot be decompressed") }
        return content
    }
}
