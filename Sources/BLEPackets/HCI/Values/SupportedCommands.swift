/// The commands that a controller supports, in 64 octets (Core 5.4, Vol 4, Part E, 6.27).
public struct SupportedCommands: Hashable, Sendable {
    /// Eight octets in each element, the first in the least significant place.
    @usableFromInline var words: SIMD8<UInt64>

    /// No command at all.
    @inlinable public init() { words = .zero }

    /// - Throws: `DecodingError.truncated` when fewer than 64 octets remain.
    public init(decoding reader: inout PacketReader) throws(DecodingError) {
        guard reader.remainingCount >= 64 else { throw .truncated(needed: 64, remaining: reader.remainingCount) }
        words = .zero
        for index in 0..<8 { words[index] = try reader.read() }
    }

    public func encode(into packet: inout PacketWriter) {
        for index in 0..<8 { packet.write(words[index]) }
    }

    /// Whether a bit is set; `false` outside 0 to 63 and 0 to 7.
    @inlinable
    public func contains(octet: Int, bit: Int) -> Bool {
        guard 0..<64 ~= octet, 0..<8 ~= bit else { return false }
        return words[octet / 8] >> UInt64(octet % 8 * 8 + bit) & 1 == 1
    }

    /// Sets a bit; has no effect outside 0 to 63 and 0 to 7.
    @inlinable
    public mutating func insert(octet: Int, bit: Int) {
        guard 0..<64 ~= octet, 0..<8 ~= bit else { return }
        words[octet / 8] |= 1 << UInt64(octet % 8 * 8 + bit)
    }

    /// Whether the controller reports a command as supported; `false` for commands without a known bit.
    public func contains(_ opcode: HCIOpcode) -> Bool {
        guard let position = Self.position(of: opcode) else { return false }
        return contains(octet: position / 8, bit: position % 8)
    }

    /// Marks a command as supported; has no effect for commands without a known bit.
    public mutating func insert(_ opcode: HCIOpcode) {
        guard let position = Self.position(of: opcode) else { return }
        insert(octet: position / 8, bit: position % 8)
    }
}

extension SupportedCommands {
    /// The position of a command's bit, counted from the first bit of the first octet.
    private static func position(of opcode: HCIOpcode) -> Int? {
        let command = Int(opcode.commandField)
        if opcode.groupField == HCIOpcode.Group.leController.rawValue {
            switch command {
            case 0x01...0x03, 0x05...0x1F: return command + 199
            case 0x20...0x5E: return command + 236
            case 0x5F...0x7B: return command + 237
            case 0x7C...0x7F, 0x82...0x86: return command + 243
            default: return nil
            }
        }
        return positionOutsideLE(of: opcode)
    }
}
