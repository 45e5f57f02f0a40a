import BLEPackets

/// What controllers and drivers send of themselves: logs, traces and memory dumps, in the forms of their vendors. It may
/// contain keys, and belongs to no connection.
///
/// Drivers of Linux pass it on as diagnostics (`hci_qca.c`, `btusb.c`, `btmtk.c`, `btintel.c`, `btrtl.c`, `hci_bcm.c`);
/// other captures have it among the packets of HCI.
public enum ControllerTrace: Sendable {
    /// Qualcomm's log, as data under handle 0x0EDC.
    case qualcommLog
    /// Qualcomm's memory dump, as data under handle 0x0EDD.
    case qualcommDump
    /// MediaTek's log, as data under handles 0x05FE and 0x05FF.
    case mediaTekLog
    /// MediaTek's memory dump, as data under handle 0x0C6F.
    case mediaTekDump
    /// Intel's telemetry, and its report of an exception, as vendor-specific events.
    case intelTelemetry
    /// Intel's traces of its firmware and of link layer and link manager PDUs, as vendor-specific events.
    case intelTrace
    /// Realtek's memory dump, as vendor-specific events.
    case realtekDump
    /// Broadcom's diagnostics of its link manager, as packets of type 0x07.
    case broadcomDiagnostics
    /// What a driver of Linux passes on as diagnostics, as packets of type 0xF0.
    case linuxDiagnostics
    /// What a driver of Linux passes on as specific to a vendor, as packets of type 0xFF.
    case linuxVendorPacket

    /// What stands in the place of received ACL data. A connection can have the same handle: what the capture knows of
    /// connections comes first.
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

    /// What stands in a vendor-specific event (code 0xFF).
    /// - Parameters:
    ///   - parameters: the parameters of the event.
    ///   - manufacturer: the company identifier of the controller; `nil`: not known, and what other vendors may send
    ///     likewise is not named.
    public init?(vendorEvent parameters: RawSpan, manufacturer: UInt16?) {
        let first = parameters.byte(at: 0)
        if first == 0x87, parameters.byte(at: 1) == 0x80, parameters.byte(at: 2) == 0x03 {
            self = .intelTelemetry
            return
        }
        switch (manufacturer, first) {
        // Fatal, debug and system exception.
        case (Self.intel, 0x01), (Self.intel, 0x08), (Self.intel, 0x29): self = .intelTelemetry
        // PDUs of links, texts and octets of the firmware.
        case (Self.intel, 0x17), (Self.intel, 0x2C), (Self.intel, 0x2E): self = .intelTrace
        case (Self.realtek, 0x34): self = .realtekDump
        default: return nil
        }
    }

    private static let intel: UInt16 = 0x0002
    private static let realtek: UInt16 = 0x005D

    /// What a packet is whose type the specification does not know.
    /// - Parameter byteCount: octets of the packet with its type.
    public init?(packetType: UInt8, byteCount: Int) {
        switch (packetType, byteCount) {
        case (0x07, 64): self = .broadcomDiagnostics
        case (0xF0, _): self = .linuxDiagnostics
        case (0xFF, _): self = .linuxVendorPacket
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
        case .intelTelemetry: "Intel, telemetry"
        case .intelTrace: "Intel, trace"
        case .realtekDump: "Realtek, memory dump"
        case .broadcomDiagnostics: "Broadcom, diagnostics of the link manager"
        case .linuxDiagnostics: "Linux, diagnostics"
        case .linuxVendorPacket: "Linux, specific to a vendor"
        }
    }
}
