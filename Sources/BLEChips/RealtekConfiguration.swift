/// Realtek's configuration file: 32-bit 0x8723AB55, 16-bit length, and entries of 16-bit offset, 8-bit length and data
/// (Linux, drivers/bluetooth/btrtl.c).
struct RealtekConfiguration: Equatable {
    private static let signature: [UInt8] = [0x55, 0xAB, 0x23, 0x87]
    /// The entry with the parameters of the UART, which begin with the speed.
    private static let uartOffset: UInt16 = 0x000C
    private static let headerByteCount = 6

    private(set) var octets: [UInt8]
    /// Where the speed is.
    private var speedPosition: Int?

    /// - Throws: `ChipFailure.invalidFirmware`.
    init(_ file: ChipFile) throws(ChipFailure) {
        func invalid(_ reason: String) -> ChipFailure { .invalidFirmware(file: file.name, reason: reason) }
        octets = file.octets
        guard octets.starts(with: Self.signature), octets.count >= Self.headerByteCount else {
            throw invalid("it does not begin as a configuration does")
        }
        guard Int(octets[4]) | Int(octets[5]) << 8 == octets.count - Self.headerByteCount else {
            throw invalid("its length is not the one that it states")
        }
        var position = Self.headerByteCount
        while position < octets.count {
            guard position + 3 <= octets.count, position + 3 + Int(octets[position + 2]) <= octets.count else {
                throw invalid("the entry at octet \(position) is cut off")
            }
            let offset = UInt16(octets[position]) | UInt16(octets[position + 1]) << 8
            if offset == Self.uartOffset, octets[position + 2] >= 4 { speedPosition = position + 3 }
            position += 3 + Int(octets[position + 2])
        }
    }

    /// Sets the speed with which the chip starts again behind its firmware.
    mutating func setSpeed(_ code: UInt32) {
        guard let speedPosition else { return }
        octets.replaceSubrange(speedPosition..<(speedPosition + 4), with: littleEndian(code))
    }
}
