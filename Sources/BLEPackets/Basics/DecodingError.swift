/// Why bytes could not be decoded.
///
/// Decoders never trap and never guess: every violation of the specification is one of these errors.
public enum DecodingError: Error, Equatable, Sendable {
    /// A field needs more bytes than remain.
    case truncated(needed: Int, remaining: Int)
    /// Octets follow the last field.
    case trailingBytes(Int)
    /// A field has an undefined value.
    case invalidValue(UInt64, field: Field)
    /// A length field contradicts the packet that carries it.
    case lengthMismatch(stated: Int, actual: Int)

    /// A field with an invalid value; more cases may be added.
    public enum Field: Equatable, Sendable {
        /// The kind of packet in H4, HCI and (`opcode`) the Security Manager; or the status of an event.
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
