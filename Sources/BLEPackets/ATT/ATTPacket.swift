/// Any PDU of the Attribute Protocol, by its opcode (Core 5.4, Vol 3, Part F, 3.4.8).
///
/// For observers of all traffic; code that expects one kind of PDU decodes that kind.
public enum ATTPacket: ~Escapable {
    /// Ends a request that failed.
    case errorResponse(ATTErrorResponse)
    /// Begins the agreement on the size of PDUs.
    case exchangeMTURequest(ATTExchangeMTURequest)
    /// Ends the agreement on the size of PDUs.
    case exchangeMTUResponse(ATTExchangeMTUResponse)
    /// Asks for the handles and types in a range.
    case findInformationRequest(ATTFindInformationRequest)
    /// Some of the handles and types in the requested range.
    case findInformationResponse(ATTFindInformationResponse)
    /// Finds the attributes of a type with a given value.
    case findByTypeValueRequest(ATTFindByTypeValueRequest)
    /// Some of the places that hold the value.
    case findByTypeValueResponse(ATTFindByTypeValueResponse)
    /// Asks for the values of all attributes of a type in a range.
    case readByTypeRequest(ATTReadByTypeRequest)
    /// Some of these values, all of one length.
    case readByTypeResponse(ATTReadByTypeResponse)
    /// Asks for one value.
    case readRequest(ATTReadRequest)
    /// The value, as much as fits.
    case readResponse(ATTReadResponse)
    /// Asks for one value from an offset on.
    case readBlobRequest(ATTReadBlobRequest)
    /// A part of the value, as much as fits.
    case readBlobResponse(ATTReadBlobResponse)
    /// Asks for several values whose lengths the client knows.
    case readMultipleRequest(ATTReadMultipleRequest)
    /// The values without any mark between them.
    case readMultipleResponse(ATTReadMultipleResponse)
    /// Asks for the groups of a type in a range.
    case readByGroupTypeRequest(ATTReadByGroupTypeRequest)
    /// Some of these groups, with values of one length.
    case readByGroupTypeResponse(ATTReadByGroupTypeResponse)
    /// Sets a value and waits for the answer.
    case writeRequest(ATTWriteRequest)
    /// The value is set.
    case writeResponse(ATTWriteResponse)
    /// Sets a value without an answer.
    case writeCommand(ATTWriteCommand)
    /// Sets a value without a response, with a signature of the client.
    case signedWriteCommand(ATTSignedWriteCommand)
    /// Puts a part of a value in the server's queue.
    case prepareWriteRequest(ATTPrepareWriteRequest)
    /// The part that the server has queued.
    case prepareWriteResponse(ATTPrepareWriteResponse)
    /// Carries the queue out, or empties it.
    case executeWriteRequest(ATTExecuteWriteRequest)
    /// The queue is done with.
    case executeWriteResponse(ATTExecuteWriteResponse)
    /// A value that the server sends unasked.
    case handleValueNotification(ATTHandleValueNotification)
    /// A value that the server sends by itself and the client confirms.
    case handleValueIndication(ATTHandleValueIndication)
    /// The client has the indication.
    case handleValueConfirmation(ATTHandleValueConfirmation)
    /// Asks for several values of any length.
    case readMultipleVariableRequest(ATTReadMultipleVariableRequest)
    /// The values, each after its length.
    case readMultipleVariableResponse(ATTReadMultipleVariableResponse)
    /// Several values that the server sends unasked.
    case multipleHandleValueNotification(ATTMultipleHandleValueNotification)
    /// An undefined opcode, and the octets after it.
    case unknown(ATTOpcode, RawSpan)

    /// - Throws: `DecodingError` when there is no opcode, or when the PDU is not of the form that its opcode demands.
    @inlinable @_lifetime(copy pdu)
    public init(_ pdu: RawSpan) throws(DecodingError) {
        guard let octet = pdu.byte(at: 0) else { throw .truncated(needed: 1, remaining: 0) }
        switch ATTOpcode(rawValue: octet) {
        case .errorResponse: self = .errorResponse(try ATTErrorResponse(pdu))
        case .exchangeMTURequest: self = .exchangeMTURequest(try ATTExchangeMTURequest(pdu))
        case .exchangeMTUResponse: self = .exchangeMTUResponse(try ATTExchangeMTUResponse(pdu))
        case .findInformationRequest: self = .findInformationRequest(try ATTFindInformationRequest(pdu))
        case .findInformationResponse: self = .findInformationResponse(try ATTFindInformationResponse(pdu))
        case .findByTypeValueRequest: self = .findByTypeValueRequest(try ATTFindByTypeValueRequest(pdu))
        case .findByTypeValueResponse: self = .findByTypeValueResponse(try ATTFindByTypeValueResponse(pdu))
        case .readByTypeRequest: self = .readByTypeRequest(try ATTReadByTypeRequest(pdu))
        case .readByTypeResponse: self = .readByTypeResponse(try ATTReadByTypeResponse(pdu))
        case .readRequest: self = .readRequest(try ATTReadRequest(pdu))
        case .readResponse: self = .readResponse(try ATTReadResponse(pdu))
        case .readBlobRequest: self = .readBlobRequest(try ATTReadBlobRequest(pdu))
        case .readBlobResponse: self = .readBlobResponse(try ATTReadBlobResponse(pdu))
        case .readMultipleRequest: self = .readMultipleRequest(try ATTReadMultipleRequest(pdu))
        case .readMultipleResponse: self = .readMultipleResponse(try ATTReadMultipleResponse(pdu))
        case .readByGroupTypeRequest: self = .readByGroupTypeRequest(try ATTReadByGroupTypeRequest(pdu))
        case .readByGroupTypeResponse: self = .readByGroupTypeResponse(try ATTReadByGroupTypeResponse(pdu))
        case .writeRequest: self = .writeRequest(try ATTWriteRequest(pdu))
        case .writeResponse: self = .writeResponse(try ATTWriteResponse(pdu))
        case .writeCommand: self = .writeCommand(try ATTWriteCommand(pdu))
        case .signedWriteCommand: self = .signedWriteCommand(try ATTSignedWriteCommand(pdu))
        case .prepareWriteRequest: self = .prepareWriteRequest(try ATTPrepareWriteRequest(pdu))
        case .prepareWriteResponse: self = .prepareWriteResponse(try ATTPrepareWriteResponse(pdu))
        case .executeWriteRequest: self = .executeWriteRequest(try ATTExecuteWriteRequest(pdu))
        case .executeWriteResponse: self = .executeWriteResponse(try ATTExecuteWriteResponse(pdu))
        case .handleValueNotification: self = .handleValueNotification(try ATTHandleValueNotification(pdu))
        case .handleValueIndication: self = .handleValueIndication(try ATTHandleValueIndication(pdu))
        case .handleValueConfirmation: self = .handleValueConfirmation(try ATTHandleValueConfirmation(pdu))
        case .readMultipleVariableRequest: self = .readMultipleVariableRequest(try ATTReadMultipleVariableRequest(pdu))
        case .readMultipleVariableResponse:
            self = .readMultipleVariableResponse(try ATTReadMultipleVariableResponse(pdu))
        case .multipleHandleValueNotification:
            self = .multipleHandleValueNotification(try ATTMultipleHandleValueNotification(pdu))
        default: self = .unknown(ATTOpcode(rawValue: octet), pdu.extracting(droppingFirst: 1))
        }
    }

    /// Writes the whole PDU, opcode first.
    public func encode(into packet: inout PacketWriter) {
        switch self {
        case .errorResponse(let pdu): pdu.encode(into: &packet)
        case .exchangeMTURequest(let pdu): pdu.encode(into: &packet)
        case .exchangeMTUResponse(let pdu): pdu.encode(into: &packet)
        case .findInformationRequest(let pdu): pdu.encode(into: &packet)
        case .findInformationResponse(let pdu): pdu.encode(into: &packet)
        case .findByTypeValueRequest(let pdu): pdu.encode(into: &packet)
        case .findByTypeValueResponse(let pdu): pdu.encode(into: &packet)
        case .readByTypeRequest(let pdu): pdu.encode(into: &packet)
        case .readByTypeResponse(let pdu): pdu.encode(into: &packet)
        case .readRequest(let pdu): pdu.encode(into: &packet)
        case .readResponse(let pdu): pdu.encode(into: &packet)
        case .readBlobRequest(let pdu): pdu.encode(into: &packet)
        case .readBlobResponse(let pdu): pdu.encode(into: &packet)
        case .readMultipleRequest(let pdu): pdu.encode(into: &packet)
        case .readMultipleResponse(let pdu): pdu.encode(into: &packet)
        case .readByGroupTypeRequest(let pdu): pdu.encode(into: &packet)
        case .readByGroupTypeResponse(let pdu): pdu.encode(into: &packet)
        case .writeRequest(let pdu): pdu.encode(into: &packet)
        case .writeResponse(let pdu): pdu.encode(into: &packet)
        case .writeCommand(let pdu): pdu.encode(into: &packet)
        case .signedWriteCommand(let pdu): pdu.encode(into: &packet)
        case .prepareWriteRequest(let pdu): pdu.encode(into: &packet)
        case .prepareWriteResponse(let pdu): pdu.encode(into: &packet)
        case .executeWriteRequest(let pdu): pdu.encode(into: &packet)
        case .executeWriteResponse(let pdu): pdu.encode(into: &packet)
        case .handleValueNotification(let pdu): pdu.encode(into: &packet)
        case .handleValueIndication(let pdu): pdu.encode(into: &packet)
        case .handleValueConfirmation(let pdu): pdu.encode(into: &packet)
        case .readMultipleVariableRequest(let pdu): pdu.encode(into: &packet)
        case .readMultipleVariableResponse(let pdu): pdu.encode(into: &packet)
        case .multipleHandleValueNotification(let pdu): pdu.encode(into: &packet)
        case .unknown(let opcode, let rest):
            packet.write(opcode.rawValue)
            packet.write(bytes: rest)
        }
    }
}
