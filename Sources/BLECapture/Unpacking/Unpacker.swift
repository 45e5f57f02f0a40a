import BLEDecompression

/// Unpacks a capture while it is read, in memory that does not grow with the file.
struct Unpacker: ~Copyable {
    private var input: PackedInput
    private var stream: InflatingStream?
    private let archive: CaptureArchive
    /// Of a file in a zip file that is stored as it is: octets that are left.
    private var stored: UInt64 = 0
    /// Unpacked octets that were looked at, and come first.
    private var first: [UInt8] = []
    private var position = 0
    /// The file in the archive.
    private(set) var name: String?

    /// How many octets of the packed file have been read.
    mutating func offset() -> UInt64 { input.offset }

    /// - Parameter held: the octets of the file that were read to recognise it.
    /// - Throws: `SystemError`: `noDecompressor`, `damagedArchive`, `noCapture`.
    init(_ archive: CaptureArchive, _ file: consuming InputFile, held: [UInt8]) throws(SystemError) {
        self.archive = archive
        input = PackedInput(file, held: held)
        switch archive {
        case .gzip: stream = try Self.stream(.gzip)
        case .zip: try findCapture()
        case .androidReport: first = try AndroidReport.capture(&input)
        case .xz, .zstd, .bzip2: throw .noDecompressor
        }
    }

    /// Fills the front of `output`.
    /// - Returns: how many octets; 0 at the end.
    mutating func read(into output: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        if position < first.count {
            let count = min(output.count, first.count - position)
            unsafe first.withUnsafeBytes {
                unsafe output.copyMemory(from: .init(rebasing: $0[position..<position + count]))
            }
            position += count
            return count
        }
        guard archive != .androidReport else { return 0 }
        guard stream != nil else {
            let octets = try input.take(Int(min(stored, UInt64(output.count))))
            if octets.isEmpty, stored > 0 { throw .damagedArchive }
            stored -= UInt64(octets.count)
            unsafe output.copyBytes(from: octets)
            return octets.count
        }
        while true {
            let count = try unsafe inflate(into: output)
            // A gzip file may consist of several: tools join them so.
            guard count == 0, archive == .gzip, try input.fill(2), input.number(0, 2) == 0x8B1F else { return count }
            stream = try Self.stream(.gzip)
        }
    }

    static func stream(_ form: InflatingStream.Form) throws(SystemError) -> InflatingStream {
        do throws(InflatingError) { return try InflatingStream(form) } catch { throw SystemError(error) }
    }

    private mutating func inflate(into output: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int {
        guard var taken = stream.take() else { return 0 }
        do throws(SystemError) {
            let count = try unsafe input.inflate(&taken, into: output)
            stream = consume taken
            return count
        } catch {
            stream = consume taken
            throw error
        }
    }

    // MARK: Zip

    /// The least that tells a capture.
    private static let headByteCount = 16
    /// More entries than a bug report has.
    static let entryLimit = 200_000

    /// Finds the capture in a zip file: the first file that begins as one; otherwise the text of a bug report that has one.
    private mutating func findCapture() throws(SystemError) {
        if try enter(isText: false) { return }
        guard input.isSeekable else { throw .noCapture }
        input.rewind()
        guard try enter(isText: true) else { throw .noCapture }
    }

    /// Local headers (APPNOTE.TXT 6.3, 4.3.7) one after the other; the directory at the end is not needed.
    private mutating func enter(isText: Bool) throws(SystemError) -> Bool {
        var entries = 0
        while try input.fill(30), input.number(0, 4) == 0x0403_4B50 {
            entries += 1
            guard entries <= Self.entryLimit else { throw .longArchive }
            let flags = input.number(6, 2)
            let method = input.number(8, 2)
            let (nameLength, extraLength) = (Int(input.number(26, 2)), Int(input.number(28, 2)))
            guard try input.fill(30 + nameLength + extraLength) else { throw .damagedArchive }
            let text = String(decoding: (0..<nameLength).map { input.octet(30 + $0) }, as: UTF8.self)
            var packed = UInt64(input.number(18, 4))
            if packed == UInt64(UInt32.max) { packed = longSize(30 + nameLength, extraLength) ?? packed }
            input.consume(30 + nameLength + extraLength)
            let isLengthKnown = flags & 8 == 0
            guard flags & 1 == 0, method == 8 || method == 0 && isLengthKnown else {
                guard isLengthKnown else { throw .damagedArchive }
                guard try input.skip(packed) else { return false }
                continue
            }
            let start = input.offset
            stream = method == 8 ? try Self.stream(.raw) : nil
            stored = packed
            first = []
            position = 0
            if isText {
                if text.hasSuffix(".txt"), let report = try AndroidReport.capture(in: &self) {
                    stream = nil
                    stored = 0
                    first = report
                    position = 0
                    name = text
                    return true
                }
            } else {
                first = try head()
                if CaptureReader.isCapture(first, named: text) {
                    name = text
                    return true
                }
            }
            try leave(start, packed, isLengthKnown: isLengthKnown)
        }
        return false
    }

    /// The packed size in the extra field of large files (APPNOTE.TXT 6.3, 4.5.3).
    private func longSize(_ start: Int, _ count: Int) -> UInt64? {
        var place = start
        while place + 4 <= start + count {
            let size = Int(input.number(place + 2, 2))
            if input.number(place, 2) == 1, size >= 16 {
                return UInt64(input.number(place + 12, 4)) | UInt64(input.number(place + 16, 4)) << 32
            }
            place += 4 + size
        }
        return nil
    }

    /// Passes over the rest of a file in the archive.
    private mutating func leave(_ start: UInt64, _ packed: UInt64, isLengthKnown: Bool) throws(SystemError) {
        if isLengthKnown {
            let read = input.offset - start
            guard read <= packed, try input.skip(packed - read) else { throw .damagedArchive }
            return
        }
        first = []
        position = 0
        while try !piece().isEmpty {}
        // The lengths follow: 12 octets, or 20 in large files, with or without a signature.
        guard try input.fill(16) else { return }
        if input.number(0, 4) == 0x0807_4B50 { input.consume(4) }
        input.consume(12)
        if try input.fill(12), input.number(0, 2) != 0x4B50, input.number(8, 2) == 0x4B50 { input.consume(8) }
    }

    /// The first octets of a file in the archive.
    private mutating func head() throws(SystemError) -> [UInt8] {
        var octets: [UInt8] = []
        while octets.count < Self.headByteCount {
            let more = try piece()
            if more.isEmpty { break }
            octets += more
        }
        return octets
    }

    /// The next unpacked octets of a file in the archive; empty at its end.
    mutating func piece() throws(SystemError) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: 64 << 10)
        var count = 0
        var failure: SystemError?
        unsafe octets.withUnsafeMutableBytes { buffer in
            do throws(SystemError) { count = try unsafe read(into: buffer) } catch { failure = error }
        }
        if let failure { throw failure }
        octets.removeLast(octets.count - count)
        return octets
    }
}

extension CaptureReader {
    /// Whether octets begin as a capture does; PacketLogger has no such beginning, only a name.
    static func isCapture(_ head: [UInt8], named name: String) -> Bool {
        guard head.count >= 4 else { return false }
        switch head[0..<4].reduce(0, { $0 << 8 | UInt32($1) }) {
        case 0x6274_736E, 0xA1B2_C3D4, 0xA1B2_3C4D, 0xD4C3_B2A1, 0x4D3C_B2A1, PcapNG.sectionHeaderBlock: return true
        default: return name.hasSuffix(".pklg")
        }
    }
}
