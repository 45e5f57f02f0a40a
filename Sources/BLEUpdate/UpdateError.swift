import BLE

/// Why a device was not updated.
public enum UpdateError: Error, Equatable, Sendable {
    /// The device has none of the services of firmware update.
    case noUpdateService
    /// The device has no service of mcumgr (SMP).
    case noManagementService
    /// The file is of another kind than the device takes.
    case wrongFile(String)
    /// The file is for another device: what it demands, and what is there.
    case unsuitable(String)
    /// The device refused a management request.
    case management(ManagementError)
    /// The device's bootloader refused a step.
    case refused(step: String, DFURefusal)
    /// What arrived at the device is not what was sent, also when it was sent again.
    case damagedTransfer
    /// The device broke a rule of the protocol.
    case invalidResponse(String)
    /// The device did not answer in time; what was asked.
    case timedOut(String)
    /// A write is too short for the protocol; the ATT_MTU in octets.
    case mtuTooSmall(Int)
    /// The device did not return after its restart.
    case deviceNotFound(String)
    /// The device runs its earlier image again.
    case imageNotStarted
    /// The link was lost again and again.
    case linkLost
    /// The bonded buttonless service needs a bond.
    case notBonded
}

/// The answer of a bootloader of Nordic's.
public struct DFURefusal: Error, Equatable, Sendable {
    /// The result code: its meaning depends on the protocol.
    public var code: UInt8
    /// The extended error of secure DFU, if there is one.
    public var extended: UInt8?
    /// The meaning of the codes.
    public var text: String
    /// What helps, if that is known.
    public var remedy: String?

    public init(code: UInt8, extended: UInt8? = nil, text: String, remedy: String? = nil) {
        self.code = code
        self.extended = extended
        self.text = text
        self.remedy = remedy
    }
}

extension UpdateError: CustomStringConvertible {
    /// The cause, and after a semicolon the remedy, if one is known.
    public var description: String { remedy.map { "\(cause); \($0)" } ?? cause }

    /// What went wrong, without the remedy.
    public var cause: String {
        switch self {
        case .noManagementService: "the device does not speak mcumgr's SMP"
        case .noUpdateService: "the device has no service of firmware update (mcumgr, Nordic's secure or legacy DFU)"
        case .wrongFile(let text), .unsuitable(let text): text
        case .management(let error): error.cause
        case .refused(let step, let refusal): "the device refused to \(step): \(refusal.text)"
        case .damagedTransfer: "what arrived at the device is not what was sent, also when it was sent again"
        case .invalidResponse(let detail): "the device broke the protocol of updates: \(detail)"
        case .timedOut(let what): "the device did not answer \(what) in time"
        case .mtuTooSmall(let mtu): "the device accepts only packets that are too short for an update (ATT_MTU \(mtu))"
        case .deviceNotFound(let what): "\(what) was not found after the restart"
        case .imageNotStarted: "the device runs its earlier image again"
        case .linkLost: "the link to the device was lost again and again"
        case .notBonded: "the device starts its bootloader for bonded devices only"
        }
    }

    /// What helps, if that is known.
    public var remedy: String? {
        switch self {
        case .noUpdateService:
            "bring it into its update mode, with a button or its maker's app"
        case .wrongFile, .unsuitable, .noManagementService: nil
        case .management(let error): error.remedy
        case .refused(_, let refusal): refusal.remedy
        case .damagedTransfer: "bring the devices closer together"
        case .invalidResponse: nil
        case .timedOut, .linkLost: "bring the device closer, and repeat the command: it continues where it was"
        case .mtuTooSmall: nil
        case .deviceNotFound: "repeat the command with the address under which it advertises now"
        case .imageNotStarted:
            "its bootloader refused the new image, most often because of its signature, or the image crashed"
        case .notBonded: "pair with it first"
        }
    }
}
