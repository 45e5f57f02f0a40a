/// The log of Bluetooth in the text of Android's bug reports: base64 of a header and a zlib stream ("btsnooz"), between two
/// lines.
enum AndroidReport {
    private static let begin = Array("--- BEGIN:BTSNOOP_LOG_SUMMARY".utf8)
    private static let end = Array("--- END:BTSNOOP_LOG_SUMMARY".utf8)
    /// The most octets of a log, unpacked: Android keeps far less.
    static let limit = 8 << 20
    /// Longer lines are no lines of interest.
    private static let lineLimit = 4096

    /// Finds lines in pieces of a text, and keeps what is between the two.
    private struct Finder {
        var line: [UInt8] = []
        var isLong = false
        var isInside = false
        var isOver = false
        var text: [UInt8] = []

        mutating func add(_ octets: ArraySlice<UInt8>) throws(SystemError) {
            for octet in octets where !isOver {
                if octet == 0x0A {
                    try endLine()
                } else if line.count < AndroidReport.lineLimit {
                    line.append(octet)
                } else {
                    isLong = true
                }
            }
        }

        private mutating func endLine() throws(SystemError) {
            defer {
                line.removeAll(keepingCapacity: true)
                isLong = false
            }
            if line.starts(with: AndroidReport.begin) {
                isInside = true
                text = []
            } else if isInside, line.starts(with: AndroidReport.end) {
                isOver = true
            } else if isInside {
                guard !isLong else { throw .damagedArchive }
                guard text.count + line.count <= 2 * AndroidReport.limit else { throw .longLog }
                text += line
            }
        }
    }

    /// The log in a text, as a btsnoop file.
    /// - Throws: `noCapture` if there is none.
    static func capture(_ input: inout PackedInput) throws(SystemError) -> [UInt8] {
        var finder = Finder()
        while !finder.isOver {
            let octets = try input.take(64 << 10)
            if octets.isEmpty { break }
            try finder.add(octets[...])
        }
        guard finder.isInside, let log = try btsnoop(finder.text) else { throw .noCapture }
        return log
    }

    /// The log in a text of an archive; `nil` if it has none.
    static func capture(in unpacker: inout Unpacker) throws(SystemError) -> [UInt8]? {
        var finder = Finder()
        while !finder.isOver {
            let octets = try unpacker.piece()
            if octets.isEmpty { break }
            try finder.add(octets[...])
        }
        return finder.isInside ? try btsnoop(finder.text) : nil
    }

    // MARK: Form

    /// - Returns: `nil` for a log of nothing.
    private static func btsnoop(_ text: [UInt8]) throws(SystemError) -> [UInt8]? {
        let packed = try base64(text)
        guard packed.count > 9 else { return nil }
        guard packed[0] == 1 || packed[0] == 2 else { throw .damagedArchive }
        // The time of the last packet, in microseconds since 1970.
        let last = (1..<9).reversed().reduce(0 as UInt64) { $0 << 8 | UInt64(packed[$1]) }
        let records = try inflate(Array(packed[9...]))
        let header = packed[0] == 1 ? 7 : 9
        var result = Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 0x03, 0xEA]
        func number(_ place: Int, _ width: Int) -> UInt64 {
            (0..<width).reversed().reduce(0) { $0 << 8 | UInt64(records[place + $1]) }
        }
        func append(_ value: UInt64, _ width: Int) {
            for place in (0..<width).reversed() { result.append(UInt8(truncatingIfNeeded: value >> (8 * place))) }
        }
        // Each record says how long after the one before it is: the first time is found from the last.
        var time = last &+ UInt64(bitPattern: Btsnoop.unixEpoch)
        var position = 0
        while position + header <= records.count {
            time = time &- number(position + header - 5, 4)
            position += header - 1 + max(1, Int(number(position, 2)))
        }
        position = 0
        // The last record may be cut: the log is a ring.
        while position + header <= records.count {
            let included = Int(number(position, 2))
            let original = header == 7 ? UInt64(included) : number(position + 2, 2)
            time = time &+ number(position + header - 5, 4)
            let kind = records[position + header - 1]
            position += header
            guard included >= 1, position + included - 1 <= records.count else { break }
            append(max(original, UInt64(included)), 4)
            append(UInt64(included), 4)
            append(kind & 0x10 != 0 ? 1 : 0, 4)
            append(0, 4)
            append(time, 8)
            result.append(type(of: kind))
            result += records[position..<position + included - 1]
            position += included - 1
        }
        return result
    }

    /// The H4 type of a record's kind, which also says the direction.
    private static func type(of kind: UInt8) -> UInt8 {
        switch kind {
        case 0x20: 0x01
        case 0x11, 0x21: 0x02
        case 0x12, 0x22: 0x03
        case 0x10: 0x04
        case 0x17, 0x2D: 0x05
        default: 0
        }
    }

    private static func inflate(_ packed: [UInt8]) throws(SystemError) -> [UInt8] {
        var input = PackedInput(InputFile(memory: packed), held: [])
        var stream = try Unpacker.stream(.zlib)
        var result: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            var count = 0
            var failure: SystemError?
            unsafe piece.withUnsafeMutableBytes { buffer in
                do throws(SystemError) { count = try unsafe input.inflate(&stream, into: buffer) } catch {
                    failure = error
                }
            }
            if let failure { throw failure }
            if count == 0 { return result }
            guard result.count + count <= limit else { throw .longLog }
            result += piece[..<count]
        }
    }

    private static func base64(_ text: [UInt8]) throws(SystemError) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count / 4 * 3)
        var value: UInt32 = 0
        var bits = 0
        for octet in text {
            let digit: UInt8
            switch octet {
            case 0x41...0x5A: digit = octet - 0x41
            case 0x61...0x7A: digit = octet - 0x61 + 26
            case 0x30...0x39: digit = octet - 0x30 + 52
            case UInt8(ascii: "+"): digit = 62
            case UInt8(ascii: "/"): digit = 63
            case UInt8(ascii: "="), 0x0D, 0x20, 0x09: continue
            default: throw .damagedArchive
            }
            value = value << 6 | UInt32(digit)
            bits += 6
            if bits >= 8 {
                bits -= 8
                result.append(UInt8(truncatingIfNeeded: value >> UInt32(bits)))
            }
        }
        return result
    }
}
