/// The first octet of an ATT PDU: method, command flag and signature flag (Core 5.4, Vol 3, Part F, 3.3.1).
public struct ATTOpcode: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The lower six bits: what the PDU does.
    @inlinable public var method: UInt8 { rawValue & 0x3F }
    /// Whether the PDU has no response.
    @inlinable public var isCommand: Bool { rawValue & 0x40 != 0 }
    /// Whether a signature of twelve octets ends the PDU.
    @inlinable public var isSigned: Bool { rawValue & 0x80 != 0 }

    /// The kind of the PDU (Core 5.4, Vol 3, Part F, 3.3).
    public enum Kind: Sendable { case request, response, command, notification, indication, confirmation, unknown }

    /// `.unknown` for every undefined code. A server answers these with Request Not Supported, except commands
    /// (`isCommand`).
    @inlinable public var kind: Kind {
        switch rawValue {
        case 0x02, 0x04, 0x06, 0x08, 0x0A, 0x0C, 0x0E, 0x10, 0x12, 0x16, 0x18, 0x20: .request
        case 0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x17, 0x19, 0x21: .response
        case 0x52, 0xD2: .command
        case 0x1B, 0x23: .notification
        case 0x1D: .indication
        case 0x1E: .confirmation
        default: .unknown
        }
    }

    /// The opcode that answers this request; `nil` when this is no request.
    @inlinable public var response: ATTOpcode? { kind == .request ? ATTOpcode(rawValue: rawValue | 1) : nil }
}
