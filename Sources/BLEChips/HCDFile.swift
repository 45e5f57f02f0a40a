import BLEPackets

/// Broadcom's firmware: HCI commands, one behind the other, each with opcode, length and parameters.
struct HCDFile: Equatable {
    struct Command: Equatable {
        var opcode: UInt16
        var parameters: [UInt8]
    }

    /// More than a file of the greatest size can have.
    static let maximumByteCount = 1 << 20

    var commands: [Command]

    init(commands: [Command]) { self.commands = commands }

    /// - Throws: `ChipFailure.invalidFirmware` with the place of what is wrong.
    init(_ file: ChipFile) throws(ChipFailure) {
        let octets = file.octets
        guard !octets.isEmpty else { throw .invalidFirmware(file: file.name, reason: "it is empty") }
        guard octets.count <= Self.maximumByteCount else {
            throw .invalidFirmware(file: file.name, reason: "it is too long")
        }
        commands = []
        var position = 0
        while position < octets.count {
            guard position + 3 <= octets.count, position + 3 + Int(octets[position + 2]) <= octets.count else {
                throw .invalidFirmware(file: file.name, reason: "the command at octet \(position) is cut off")
            }
            let end = position + 3 + Int(octets[position + 2])
            let opcode = UInt16(octets[position]) | UInt16(octets[position + 1]) << 8
            // Only the vendor's commands: a file must not reset the chip in the middle, or begin to scan.
            guard opcode >> 10 == 0x3F else {
                throw .invalidFirmware(
                    file: file.name,
                    reason: "the command at octet \(position), \(ChipFailure.text(opcode)), is not the vendor's")
            }
            commands.append(Command(opcode: opcode, parameters: Array(octets[(position + 3)..<end])))
            position = end
        }
    }
}
