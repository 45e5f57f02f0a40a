/// Realtek's firmware file: patches for several versions of a chip (Linux, drivers/bluetooth/btrtl.c).
///
/// "Realtech", 32-bit version, 16-bit count; then for each patch its chip identifier (16 bits), length (16) and offset
/// (32). At the end 51 04 FD 77, and before it records that are read backwards: opcode, length, data.
struct RealtekFirmware: Equatable {
    /// More than a file can have.
    static let maximumByteCount = 1 << 20

    private static let signature = Array("Realtech".utf8)
    private static let newSignature = Array("RTBTCore".utf8)
    private static let endSignature: [UInt8] = [0x51, 0x04, 0xFD, 0x77]
    private static let headerByteCount = 14

    /// The version that the patches get.
    let version: UInt32
    /// The chip for which the file is.
    let project: UInt8
    private let name: String
    private let octets: [UInt8]
    private let patchCount: Int

    /// - Throws: `ChipFailure.invalidFirmware`.
    init(_ file: ChipFile) throws(ChipFailure) {
        func invalid(_ reason: String) -> ChipFailure { .invalidFirmware(file: file.name, reason: reason) }
        let octets = file.octets
        guard octets.count <= Self.maximumByteCount else { throw invalid("it is too long") }
        guard !octets.starts(with: Self.newSignature) else {
            throw invalid("it has the format with sections (RTBTCore), which only the kernel's driver loads")
        }
        guard octets.starts(with: Self.signature) else { throw invalid("it does not begin with ‘Realtech’") }
        guard octets.count >= Self.headerByteCount + Self.endSignature.count,
            octets.suffix(4).elementsEqual(Self.endSignature)
        else { throw invalid("it is cut off: the signature at its end is missing") }
        version = Self.number(octets, at: 8, count: 4)
        patchCount = Int(Self.number(octets, at: 12, count: 2))
        guard octets.count >= Self.headerByteCount + 8 * patchCount + Self.endSignature.count else {
            throw invalid("its table of \(patchCount) patches is cut off")
        }
        guard let project = try Self.project(octets, file.name) else { throw invalid("it names no chip") }
        self.project = project
        self.octets = octets
        name = file.name
    }

    private static func project(_ octets: [UInt8], _ name: String) throws(ChipFailure) -> UInt8? {
        var position = octets.count - endSignature.count
        while position >= headerByteCount + 3 {
            let (opcode, length) = (octets[position - 1], Int(octets[position - 2]))
            position -= 2
            if opcode == 0xFF { return nil }
            guard length > 0, length <= position - headerByteCount else {
                throw .invalidFirmware(file: name, reason: "a record at its end has the length \(length)")
            }
            if opcode == 0, length == 1 { return octets[position - 1] }
            position -= length
        }
        return nil
    }

    /// The patch for a chip with this ROM, its last four octets replaced by the version.
    /// - Throws: `ChipFailure.invalidFirmware` if there is none, or its place is outside of the file.
    func patch(forROM rom: UInt8) throws(ChipFailure) -> [UInt8] {
        let wanted = UInt32(rom) + 1
        for index in 0..<patchCount {
            let identifier = Self.number(octets, at: Self.headerByteCount + 2 * index, count: 2)
            guard identifier == wanted else { continue }
            let lengths = Self.headerByteCount + 2 * patchCount
            let offsets = lengths + 2 * patchCount
            let length = Int(Self.number(octets, at: lengths + 2 * index, count: 2))
            let offset = Int(Self.number(octets, at: offsets + 4 * index, count: 4))
            guard length >= 4, offset + length <= octets.count else {
                throw .invalidFirmware(file: name, reason: "patch \(identifier) is outside of the file")
            }
            return octets[offset..<(offset + length - 4)] + littleEndian(version)
        }
        throw .invalidFirmware(file: name, reason: "it has no patch for ROM version \(rom)")
    }

    private static func number(_ octets: [UInt8], at start: Int, count: Int) -> UInt32 {
        var number: UInt32 = 0
        for index in 0..<count { number |= UInt32(octets[start + index]) << UInt32(8 * index) }
        return number
    }
}
