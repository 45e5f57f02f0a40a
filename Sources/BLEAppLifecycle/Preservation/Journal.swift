/// The format of a journal: lines of text with a checksum each, which are appended and never changed.
///
/// A process may be killed at any moment: an incomplete or damaged line is ignored, and all other lines count.
public enum Journal {
    /// The longest payload that is read, in octets.
    public static let longestPayload = 16 << 20

    /// Creates a line.
    /// - Parameter payload: an entry in a format without line breaks, such as JSON.
    public static func line(_ payload: [UInt8]) -> [UInt8] {
        digits(checksum(payload[...])) + [UInt8(ascii: " ")] + payload + [UInt8(ascii: "\n")]
    }

    /// The payloads of all valid lines, in order.
    public static func payloads(in journal: [UInt8]) -> [[UInt8]] { lines(in: journal).compactMap(\.self) }

    /// The payload of each line, in order; `nil` for a damaged or incomplete line.
    public static func lines(in journal: [UInt8]) -> [[UInt8]?] {
        journal.split(separator: UInt8(ascii: "\n")).map { line in
            guard line.count > 9, line.count <= longestPayload, line[line.startIndex + 8] == UInt8(ascii: " ") else {
                return nil
            }
            let payload = line.dropFirst(9)
            return Array(line.prefix(8)) == digits(checksum(payload)) ? Array(payload) : nil
        }
    }

    /// CRC-32 (ISO 3309), reflected, polynomial 0xEDB88320.
    private static func checksum(_ octets: ArraySlice<UInt8>) -> UInt32 {
        var sum: UInt32 = 0xFFFF_FFFF
        for octet in octets {
            sum ^= UInt32(octet)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }

    private static func digits(_ value: UInt32) -> [UInt8] {
        (0..<8).reversed().map { position in
            let digit = UInt8(truncatingIfNeeded: value >> (4 * UInt32(position)) & 0xF)
            return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
    }
}
