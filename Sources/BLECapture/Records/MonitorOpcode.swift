public import BLEPackets

/// The kind of a record of the Linux Bluetooth monitor: packets and notes.
///
/// The numbers are those of the kernel's monitor channel, of btsnoop datalink 2001 and of link type 254.
public struct MonitorOpcode: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt16
    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// An adapter was added: type, bus, address and name follow.
    public static let newIndex = Self(rawValue: 0)
    /// An adapter was removed.
    public static let deleteIndex = Self(rawValue: 1)
    /// An HCI command.
    public static let commandPacket = Self(rawValue: 2)
    /// An HCI event.
    public static let eventPacket = Self(rawValue: 3)
    /// ACL data from the host.
    public static let sentACLData = Self(rawValue: 4)
    /// ACL data from the controller.
    public static let receivedACLData = Self(rawValue: 5)
    /// Voice from the host.
    public static let sentSCOData = Self(rawValue: 6)
    /// Voice from the controller.
    public static let receivedSCOData = Self(rawValue: 7)
    /// An adapter was brought up.
    public static let openIndex = Self(rawValue: 8)
    /// An adapter was brought down.
    public static let closeIndex = Self(rawValue: 9)
    /// Address and manufacturer of an adapter.
    public static let indexInfo = Self(rawValue: 10)
    /// Vendor-specific diagnostics of a controller.
    public static let vendorDiagnostic = Self(rawValue: 11)
    /// Text of the system, such as the kernel's version.
    public static let systemNote = Self(rawValue: 12)
    /// A log line: priority, length of the identifier, identifier and text, both zero-terminated.
    public static let userLogging = Self(rawValue: 13)
    /// A program opened the management channel.
    public static let controlOpen = Self(rawValue: 14)
    /// A program closed the management channel.
    public static let controlClose = Self(rawValue: 15)
    /// A command on the management channel.
    public static let controlCommand = Self(rawValue: 16)
    /// An event on the management channel.
    public static let controlEvent = Self(rawValue: 17)
    /// Isochronous data from the host.
    public static let sentISOData = Self(rawValue: 18)
    /// Isochronous data from the controller.
    public static let receivedISOData = Self(rawValue: 19)
}

/// The kind of a record that is not an HCI packet, in the numbers of its format.
public enum CaptureNote: Hashable, Sendable {
    /// A record of the Linux Bluetooth monitor that is not a packet.
    case monitor(MonitorOpcode)
    /// A record of Apple's PacketLogger that is not a packet, such as `0xFC`, a text note.
    case packetLogger(UInt8)
}

extension MonitorOpcode {
    /// The H4 type and direction of the packets in records with this opcode; `nil` for notes.
    @inlinable public var packet: (type: H4PacketType, direction: CaptureDirection)? {
        switch rawValue {
        case 2: (.command, .hostToController)
        case 3: (.event, .controllerToHost)
        case 4: (.acl, .hostToController)
        case 5: (.acl, .controllerToHost)
        case 6: (.sco, .hostToController)
        case 7: (.sco, .controllerToHost)
        case 18: (.iso, .hostToController)
        case 19: (.iso, .controllerToHost)
        default: nil
        }
    }

    /// The opcode of records with such packets.
    @inlinable
    public init(type: H4PacketType, direction: CaptureDirection) {
        let isSent = direction == .hostToController
        self =
            switch type {
            case .command: .commandPacket
            case .event: .eventPacket
            case .acl: isSent ? .sentACLData : .receivedACLData
            case .sco: isSent ? .sentSCOData : .receivedSCOData
            case .iso: isSent ? .sentISOData : .receivedISOData
            }
    }
}
