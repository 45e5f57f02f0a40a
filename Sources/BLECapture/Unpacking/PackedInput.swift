import BLEDecompression

/// The octets of a packed file, as they are read: with a place to put back what was read too far.
struct PackedInput: ~Copyable {
    private static let pieceByteCount = 64 << 10

    private var file: InputFile
    private var held: [UInt8]
    private var position = 0
    /// How many octets have been consumed.
    private(set) var offset: UInt64 = 0

    init(_ file: consuming InputFile, held: [UInt8]) {
        self.file = file
        self.held = held
    }

    var isSeekable: Bool { file.isSeekable }
    var count: Int { held.count - position }

    /// Goes back to the start of the file.
    mutating func rewind() {
        file.rewind()
        held = []
        position = 0
        offset = 0
    }

    /// Makes `count` octets available, at most a piece; `false` at the end of the file.
    mutating func fill(_ count: Int) throws(SystemError) -> Bool {
        while self.count < count {
            if position > 0 {
                held.removeFirst(position)
                position = 0
            }
            let old = held.count
            held.append(contentsOf: repeatElement(0, count: Self.pieceByteCount))
            var read = 0
            var failure: SystemError?
            unsafe held.withUnsafeMutableBytes { buffer in
                do throws(SystemError) {
                    read = try unsafe file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[old...]))
                } catch { failure = error }
            }
            held.removeLast(held.count - old - read)
            if let failure { throw failure }
            if read == 0 { return false }
        }
        return true
    }

    func octet(_ place: Int) -> UInt8 { position + place < held.count ? held[position + place] : 0 }
    func number(_ place: Int, _ width: Int) -> UInt32 {
        (0..<width).reversed().reduce(0) { $0 << 8 | UInt32(octet(place + $1)) }
    }

    mutating func consume(_ count: Int) {
        position += min(count, self.count)
        offset += UInt64(count)
    }

    /// Skips octets; `false` if the file ends before.
    mutating func skip(_ count: UInt64) throws(SystemError) -> Bool {
        var left = count
        while left > 0 {
            guard try fill(1) else { return false }
            let step = Int(min(left, UInt64(self.count)))
            consume(step)
            left -= UInt64(step)
        }
        return true
    }

    /// Takes up to `count` octets as they are.
    mutating func take(_ count: Int) throws(SystemError) -> [UInt8] {
        guard count > 0, try fill(1) else { return [] }
        let step = min(count, self.count)
        defer { consume(step) }
        return Array(held[position..<position + step])
    }

    /// Decompresses into `output`.
    /// - Returns: how many octets; 0 at the end of the stream.
    mutating func inflate(
        _ stream: inout InflatingStream, into output: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Int {
        while !stream.isOver {
            guard try fill(1) else { throw .damagedArchive }
            var used = (taken: 0, given: 0)
            var failure: InflatingError?
            unsafe held.withUnsafeBytes { buffer in
                do throws(InflatingError) {
                    used = try unsafe stream.read(
                        UnsafeRawBufferPointer(rebasing: buffer[position...]), into: output)
                } catch { failure = error }
            }
            if let failure { throw SystemError(failure) }
            consume(used.taken)
            if used.given > 0 { return used.given }
            // Neither took nor gave anything: the stream is stuck.
            if used.taken == 0, !stream.isOver { throw .damagedArchive }
        }
        return 0
    }
}
