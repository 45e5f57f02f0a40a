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
        case packetType, opcode, eventCode, subevent, status
        case addressType, role, reportType, boundaryFlag
        case attOpcode, elementLength, handle, handleRange, uuidFormat
        case signallingCode, identifier, result
        case count, length, phy, boolean
        case ioCapability, keypress
    }
}
