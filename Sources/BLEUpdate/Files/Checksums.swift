/// The checksums of update protocols.
package enum Checksum {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    /// CRC-32 of IEEE 802.3, as zip files and Nordic's secure DFU have it.
    /// - Parameter earlier: the checksum of the octets before these.
    package static func crc32(_ octets: some Sequence<UInt8>, after earlier: UInt32 = 0) -> UInt32 {
        ~octets.reduce(~earlier) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ $0 >> 8 }
    }

    /// CRC-16 of CCITT from 0xFFFF, as Nordic's legacy DFU has it.
    package static func crc16(_ octets: some Sequence<UInt8>) -> UInt16 {
        octets.reduce(0xFFFF as UInt16) { earlier, octet in
            var value = earlier >> 8 | earlier << 8
            value ^= UInt16(octet)
            value ^= (value & 0xFF) >> 4
            value ^= value << 12
            return value ^ (value & 0xFF) << 5
        }
    }
}

/// Numbers in octets, least significant first; `nil` behind the end.
struct LittleEndian {
    let octets: ArraySlice<UInt8>

    init(_ octets: [UInt8]) { self.octets = octets[...] }

    func number(at offset: Int, count: Int) -> UInt64? {
        guard offset >= 0, offset <= octets.count - count else { return nil }
        return octets[(octets.startIndex + offset)...].prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    func number16(at offset: Int) -> Int? { number(at: offset, count: 2).map { Int($0) } }
    func number32(at offset: Int) -> Int? { number(at: offset, count: 4).map { Int($0) } }
}
