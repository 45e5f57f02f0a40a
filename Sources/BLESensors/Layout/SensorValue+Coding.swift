import BLEPackets

extension PacketReader {
    /// Reads an integer of 1 to 8 octets, least significant first, or last.
    /// - Throws: `DecodingError.truncated` when fewer remain.
    mutating func readInteger(_ width: Int, isBigEndian: Bool = false) throws(DecodingError) -> UInt64 {
        let octets = try readBytes(width)
        var value: UInt64 = 0
        for offset in 0..<width {
            value = value << 8 | UInt64(octets.byte(at: isBigEndian ? offset : width - 1 - offset) ?? 0)
        }
        return value
    }
}

extension UInt64 {
    /// The two's complement of a number with this many octets.
    func signed(octets width: Int) -> Int64 {
        let unused = UInt64(64 - 8 * width)
        return Int64(bitPattern: self << unused) >> Int64(unused)
    }
}

extension SensorValue {
    /// A number of IEEE 11073-20601: exponent of ten and significand, 4 and 12 bits, or 8 and 24.
    static func medicalFloat(_ bits: UInt64, octets: Int) -> SensorValue {
        let width = octets == 2 ? 12 : 24
        let half: UInt64 = 1 << UInt64(width - 1)
        let significand = bits & (half << 1 - 1)
        switch significand {
        case half - 1: return .unknown
        // Infinite, out of range, or reserved.
        case half - 2, half, half + 1, half + 2: return .invalid
        default:
            let number = significand < half ? Int64(significand) : Int64(significand) - Int64(half << 1)
            let exponent = octets == 2 ? Int(bits >> 12 & 15) : Int(bits >> 24 & 255)
            let sign = octets == 2 ? 16 : 256
            return .number(DecimalNumber(number, exponent: exponent < sign / 2 ? exponent : exponent - sign))
        }
    }

    /// A date and time of 7 octets, `2026-11-22 06:18:38`.
    static func dateTime(_ reader: inout PacketReader) throws(DecodingError) -> SensorValue {
        guard reader.remainingCount >= 7 else { throw .truncated(needed: 7, remaining: reader.remainingCount) }
        let year = Int(try reader.read(UInt16.self))
        let date = CivilDate(year: year, month: Int(try reader.read(UInt8.self)), day: Int(try reader.read(UInt8.self)))
        var time: [String] = []
        for _ in 0..<3 {
            let number = try reader.read(UInt8.self)
            time.append(number < 10 ? "0\(number)" : "\(number)")
        }
        let isKnown = date.year + date.month + date.day > 0
        return isKnown ? .text("\(date) \(time.joined(separator: ":"))") : .unknown
    }

    /// 1.1 to the power of N − 64, in seconds; 0 means none.
    static func exponentialTime(_ octet: UInt8) -> SensorValue {
        guard octet > 0 else { return .number(0) }
        var seconds = 1.0
        for _ in 0..<abs(Int(octet) - 64) { seconds *= 1.1 }
        if octet < 64 { seconds = 1 / seconds }
        let places = seconds < 1 ? 4 : seconds < 100 ? 2 : 0
        return DecimalNumber(rounding: seconds, places: places).map { .number($0) } ?? .invalid
    }
}
