/// Why bytes could not be decoded.
///
/// Decoders never trap and never guess: whatever does not follow the specification ends as one of these.
public enum DecodingError: Error, Equatable, Sendable {
    /// A field needs more bytes than remain.
    case truncated(needed: Int, remaining: Int)
    /// The packet goes on after its last field.
    case trailingBytes(Int)
    /// A field holds a value that the specification does not give a meaning to.
    case invalidValue(UInt64, field: Field)
    /// A length field contradicts the packet that carries it.
    case lengthMismatch(stated: Int, actual: Int)

    /// The field that held a value outside its range; grows with the codecs.
    public enum Field: Equatable, Sendable {
        /// What kind of packet this is, in H4, HCI and (`opcode`) the Security Manager; or how an event says it went.
        case packetType, opcode, eventCode, subevent, status
        /// Of HCI: fields of commands, events and data; `addressType` also of the Security Manager.
        case addressType, role, reportType, boundaryFlag
        /// Of ATT.
        case attOpcode, elementLength, handle, handleRange, uuidFormat
        /// Of L2CAP signalling.
        case identifier, result
        /// Of every layer.
        case count, length, phy, boolean
        /// Of the Security Manager.
        case ioCapability, keypress
    }
}
