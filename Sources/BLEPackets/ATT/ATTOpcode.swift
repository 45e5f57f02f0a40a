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

    /// From the server: the request named in it was refused (Core 5.4, Vol 3, Part F, 3.4.1.1).
    public static let errorResponse = ATTOpcode(rawValue: 0x01)
    /// From the client: the largest PDU that it receives (Part F, 3.4.2.1).
    public static let exchangeMTURequest = ATTOpcode(rawValue: 0x02)
    /// From the server: the largest PDU that it receives (Part F, 3.4.2.2).
    public static let exchangeMTUResponse = ATTOpcode(rawValue: 0x03)
    /// From the client: which attributes are in a range, and of which types (Part F, 3.4.3.1).
    public static let findInformationRequest = ATTOpcode(rawValue: 0x04)
    /// From the server: pairs of handle and type (Part F, 3.4.3.2).
    public static let findInformationResponse = ATTOpcode(rawValue: 0x05)
    /// From the client: which attributes of a type hold this value (Part F, 3.4.3.3).
    public static let findByTypeValueRequest = ATTOpcode(rawValue: 0x06)
    /// From the server: the attributes found and the ends of their groups (Part F, 3.4.3.4).
    public static let findByTypeValueResponse = ATTOpcode(rawValue: 0x07)
    /// From the client: the values of all attributes of a type in a range (Part F, 3.4.4.1).
    public static let readByTypeRequest = ATTOpcode(rawValue: 0x08)
    /// From the server: pairs of handle and value (Part F, 3.4.4.2).
    public static let readByTypeResponse = ATTOpcode(rawValue: 0x09)
    /// From the client: the value of one attribute (Part F, 3.4.4.3).
    public static let readRequest = ATTOpcode(rawValue: 0x0A)
    /// From the server: the beginning of the value, as much as fits (Part F, 3.4.4.4).
    public static let readResponse = ATTOpcode(rawValue: 0x0B)
    /// From the client: the value of one attribute from an offset on (Part F, 3.4.4.5).
    public static let readBlobRequest = ATTOpcode(rawValue: 0x0C)
    /// From the server: a part of the value, as much as fits (Part F, 3.4.4.6).
    public static let readBlobResponse = ATTOpcode(rawValue: 0x0D)
    /// From the client: the values of several attributes whose lengths it knows (Part F, 3.4.4.7).
    public static let readMultipleRequest = ATTOpcode(rawValue: 0x0E)
    /// From the server: the values run together (Part F, 3.4.4.8).
    public static let readMultipleResponse = ATTOpcode(rawValue: 0x0F)
    /// From the client: the groups of a type in a range, such as primary services (Part F, 3.4.4.9).
    public static let readByGroupTypeRequest = ATTOpcode(rawValue: 0x10)
    /// From the server: first and last handle of each group and its value (Part F, 3.4.4.10).
    public static let readByGroupTypeResponse = ATTOpcode(rawValue: 0x11)
    /// From the client: set a value, with a response (Part F, 3.4.5.1).
    public static let writeRequest = ATTOpcode(rawValue: 0x12)
    /// From the server: the value is set (Part F, 3.4.5.2).
    public static let writeResponse = ATTOpcode(rawValue: 0x13)
    /// From the client: put a part of a value in the queue (Part F, 3.4.6.1).
    public static let prepareWriteRequest = ATTOpcode(rawValue: 0x16)
    /// From the server: what it put there, word for word (Part F, 3.4.6.2).
    public static let prepareWriteResponse = ATTOpcode(rawValue: 0x17)
    /// From the client: write the queue, or forget it (Part F, 3.4.6.3).
    public static let executeWriteRequest = ATTOpcode(rawValue: 0x18)
    /// From the server: the queue is empty (Part F, 3.4.6.4).
    public static let executeWriteResponse = ATTOpcode(rawValue: 0x19)
    /// From the server: a value, without a confirmation (Part F, 3.4.7.1).
    public static let handleValueNotification = ATTOpcode(rawValue: 0x1B)
    /// From the server: a value that changed; the client confirms it (Part F, 3.4.7.2).
    public static let handleValueIndication = ATTOpcode(rawValue: 0x1D)
    /// From the client: the indication arrived (Part F, 3.4.7.3).
    public static let handleValueConfirmation = ATTOpcode(rawValue: 0x1E)
    /// From the client: the values of several attributes of any length (Part F, 3.4.4.11).
    public static let readMultipleVariableRequest = ATTOpcode(rawValue: 0x20)
    /// From the server: the values, each after its length (Part F, 3.4.4.12).
    public static let readMultipleVariableResponse = ATTOpcode(rawValue: 0x21)
    /// From the server: several values, without a confirmation (Part F, 3.4.7.4).
    public static let multipleHandleValueNotification = ATTOpcode(rawValue: 0x23)
    /// From the client: set a value, without a response or an error (Part F, 3.4.5.3).
    public static let writeCommand = ATTOpcode(rawValue: 0x52)
    /// From the client: set a value, with a signature for links without encryption, without a response (Part F,
    /// 3.4.5.4).
    public static let signedWriteCommand = ATTOpcode(rawValue: 0xD2)

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
