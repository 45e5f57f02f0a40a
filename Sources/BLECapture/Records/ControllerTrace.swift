/// Received ACL data that belongs to no connection: logs and memory dumps of controllers.
///
/// Drivers of Linux pass them on as diagnostics (`hci_qca.c`, `btusb.c` and `btmtk.c`); other captures have them as data.
/// They may contain keys. A connection can have the same handle: what the capture knows of connections comes first.
public enum ControllerTrace: Sendable {
    /// Qualcomm's log, under handle 0x0EDC.
    case qualcommLog
    /// Qualcomm's memory dump, under handle 0x0EDD.
    case qualcommDump
    /// MediaTek's log, under handles 0x05FE and 0x05FF.
    case mediaTekLog
    /// MediaTek's memory dump, under handle 0x0C6F.
    case mediaTekDump

    /// - Parameter handleField: the handle of a packet with its flags, as in its first two octets. MediaTek's have flags
    ///   that no received data of a connection has.
    @inlinable
    public init?(handleField: UInt16, direction: CaptureDirection) {
        guard direction == .controllerToHost else { return nil }
        switch handleField {
        case 0x2EDC: self = .qualcommLog
        case 0x2EDD: self = .qualcommDump
        case 0x05FE, 0x05FF: self = .mediaTekLog
        case 0xFC6F: self = .mediaTekDump
        default: return nil
        }
    }

    /// Whose it is and what, in words.
    public var name: StaticString {
        switch self {
        case .qualcommLog: "Qualcomm, log"
        case .qualcommDump: "Qualcomm, memory dump"
        case .mediaTekLog: "MediaTek, log"
        case .mediaTekDump: "MediaTek, memory dump"
        }
    }
}
