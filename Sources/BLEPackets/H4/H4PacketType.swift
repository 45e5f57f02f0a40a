/// The first octet of a packet on an H4 transport (Core 5.4, Vol 4, Part A, 2).
public enum H4PacketType: UInt8, Sendable {
    /// From host to controller: opcode, length and parameters.
    case command = 0x01
    /// In both directions: a fragment of an L2CAP frame on a link.
    case acl = 0x02
    /// In both directions: voice on a BR/EDR link.
    case sco = 0x03
    /// From controller to host: code, length and parameters.
    case event = 0x04
    /// In both directions: data of an isochronous stream.
    case iso = 0x05
}
