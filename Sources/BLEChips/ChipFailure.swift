import BLEPackets

/// Why a chip could not be started. The description names the cause, and after a semicolon the remedy.
public enum ChipFailure: Error, Hashable, Sendable {
    /// The chip did not answer this command.
    case unanswered(HCIOpcode)
    /// The chip refused this command.
    case refused(HCIOpcode, HCIStatus)
    /// The chip's answer to this command is too short, or does not fit.
    case invalidAnswer(HCIOpcode)
    /// The chip reports another manufacturer than that of the family.
    case otherFamily(ChipFamily, manufacturer: UInt16)
    /// A chip of the family that is not in its table.
    case unknownChip(ChipFamily, subversion: UInt16, revision: UInt16)
    /// None of these files is there; the Debian package has them.
    case missingFirmware([String], package: String)
    /// The file is no firmware for this chip.
    case invalidFirmware(file: String, reason: String)
    /// The serial port does not support this speed.
    case unsupportedBaud(UInt32)
    /// Only a driver of the kernel starts chips of this family.
    case needsKernelDriver(ChipFamily)
}

extension ChipFailure: CustomStringConvertible {
    public var description: String { remedy.map { "\(cause); \($0)" } ?? cause }

    /// What went wrong.
    public var cause: String {
        switch self {
        case .unanswered(let opcode): "the chip does not answer command \(Self.text(opcode.rawValue))"
        case .refused(let opcode, let status):
            "the chip refuses command \(Self.text(opcode.rawValue)) with status \(Self.text(UInt16(status.rawValue)))"
        case .invalidAnswer(let opcode): "the chip's answer to command \(Self.text(opcode.rawValue)) is malformed"
        case .otherFamily(let family, let manufacturer):
            "the chip is not from \(family.name): it reports manufacturer \(Self.text(manufacturer))"
                + (ChipFamily(manufacturer: manufacturer).map { " (\($0.name))" } ?? "")
        case .unknownChip(let family, let subversion, let revision):
            "no firmware is known for this \(family.name) chip (LMP subversion \(Self.text(subversion)), HCI revision "
                + "\(Self.text(revision)))"
        case .missingFirmware(let files, _):
            "the chip's firmware is missing: " + files.map { "‘\($0)’" }.joined(separator: " or ")
        case .invalidFirmware(let file, let reason): "‘\(file)’ is no firmware for this chip: \(reason)"
        case .unsupportedBaud(let baud): "the serial port or the chip does not support \(baud) baud"
        case .needsKernelDriver(let family): "\(family.name) chips are started by the kernel's driver only"
        }
    }

    /// What to do about it.
    public var remedy: String? {
        switch self {
        case .unanswered: "check the baud rate, the flow control, and that the chip has power"
        case .refused, .invalidAnswer: nil
        case .otherFamily: "name another family after ‘chip=’, or ‘chip=auto’"
        case .unknownChip: "use the kernel's driver (‘btattach’), then user:N"
        case .missingFirmware(_, let package):
            "install \(package), or name the folder with the files in JELLING_FIRMWARE"
        case .invalidFirmware(_, _): "install the firmware's package again"
        case .unsupportedBaud: "use 115200, or another speed"
        case .needsKernelDriver(let family):
            switch family {
            case .intel: "run ‘btattach -B DEVICE -P intel’, then use user:N"
            case .qualcomm: "run ‘btattach -B DEVICE -P qca’, then use user:N"
            case .nxp:
                "name the chip in the device tree (btnxpuart), or run ‘btattach -B DEVICE -P mrvl’; then use user:N"
            default: "name the chip in the device tree (btmtkuart), then use user:N"
            }
        }
    }

    static func text(_ number: UInt16) -> String {
        let digits = String(number, radix: 16, uppercase: true)
        return "0x" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
