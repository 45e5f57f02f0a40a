/// A command on the signalling channel of an LE link (Core 5.4, Vol 3, Part A, 4).
///
/// Codes that LE links do not use (0x02 to 0x05 and 0x08 to 0x0B) and undefined codes become `other`, with unchanged
/// octets; a host answers them with Command Reject unless they are responses.
public enum LESignallingCommand: Equatable, Sendable {
    /// Ends a request that the other side did not understand.
    case commandReject(L2CAPCommandReject)
    /// Ends a channel.
    case disconnectionRequest(L2CAPDisconnectionRequest)
    /// A channel is closed.
    case disconnectionResponse(L2CAPDisconnectionResponse)
    /// From a peripheral: requests other connection parameters.
    case connectionParameterUpdateRequest(L2CAPConnectionParameterUpdateRequest)
    /// From a central: the response to this request.
    case connectionParameterUpdateResponse(L2CAPConnectionParameterUpdateResponse)
    /// Asks for one channel.
    case leCreditBasedConnectionRequest(L2CAPLECreditBasedConnectionRequest)
    /// The channel, or the reason for the refusal.
    case leCreditBasedConnectionResponse(L2CAPLECreditBasedConnectionResponse)
    /// Credits for one channel, without a response.
    case flowControlCreditIndication(L2CAPFlowControlCreditIndication)
    /// Asks for up to five channels.
    case creditBasedConnectionRequest(L2CAPCreditBasedConnectionRequest)
    /// Which of them are there.
    case creditBasedConnectionResponse(L2CAPCreditBasedConnectionResponse)
    /// Asks for other sizes of up to five channels.
    case creditBasedReconfigureRequest(L2CAPCreditBasedReconfigureRequest)
    /// Whether the sizes hold.
    case creditBasedReconfigureResponse(L2CAPCreditBasedReconfigureResponse)
    /// A packet that LE links do not use, or that has no meaning.
    case other(code: L2CAPSignallingCode, data: [UInt8])

    /// Decodes the command in a packet, without its identifier.
    /// - Throws: `DecodingError` when the length of the data is wrong, or a field has an undefined value. Answer a
    ///   malformed request with Command Reject and the packet's identifier.
    public init(decoding packet: borrowing L2CAPSignallingPacket) throws(DecodingError) {
        let data = packet.data
        switch packet.code {
        case .commandReject: self = .commandReject(try .init(decodingWhole: data))
        case .disconnectionRequest: self = .disconnectionRequest(try .init(decodingWhole: data))
        case .disconnectionResponse: self = .disconnectionResponse(try .init(decodingWhole: data))
        case .connectionParameterUpdateRequest:
            self = .connectionParameterUpdateRequest(try .init(decodingWhole: data))
        case .connectionParameterUpdateResponse:
            self = .connectionParameterUpdateResponse(try .init(decodingWhole: data))
        case .leCreditBasedConnectionRequest: self = .leCreditBasedConnectionRequest(try .init(decodingWhole: data))
        case .leCreditBasedConnectionResponse: self = .leCreditBasedConnectionResponse(try .init(decodingWhole: data))
        case .flowControlCreditIndication: self = .flowControlCreditIndication(try .init(decodingWhole: data))
        case .creditBasedConnectionRequest: self = .creditBasedConnectionRequest(try .init(decodingWhole: data))
        case .creditBasedConnectionResponse: self = .creditBasedConnectionResponse(try .init(decodingWhole: data))
        case .creditBasedReconfigureRequest: self = .creditBasedReconfigureRequest(try .init(decodingWhole: data))
        case .creditBasedReconfigureResponse: self = .creditBasedReconfigureResponse(try .init(decodingWhole: data))
        default: self = .other(code: packet.code, data: data.copied())
        }
    }

    /// The code in the header.
    public var code: L2CAPSignallingCode {
        switch self {
        case .commandReject: L2CAPCommandReject.code
        case .disconnectionRequest: L2CAPDisconnectionRequest.code
        case .disconnectionResponse: L2CAPDisconnectionResponse.code
        case .connectionParameterUpdateRequest: L2CAPConnectionParameterUpdateRequest.code
        case .connectionParameterUpdateResponse: L2CAPConnectionParameterUpdateResponse.code
        case .leCreditBasedConnectionRequest: L2CAPLECreditBasedConnectionRequest.code
        case .leCreditBasedConnectionResponse: L2CAPLECreditBasedConnectionResponse.code
        case .flowControlCreditIndication: L2CAPFlowControlCreditIndication.code
        case .creditBasedConnectionRequest: L2CAPCreditBasedConnectionRequest.code
        case .creditBasedConnectionResponse: L2CAPCreditBasedConnectionResponse.code
        case .creditBasedReconfigureRequest: L2CAPCreditBasedReconfigureRequest.code
        case .creditBasedReconfigureResponse: L2CAPCreditBasedReconfigureResponse.code
        case .other(let code, _): code
        }
    }

    /// Writes header and data, without the basic frame around them.
    ///
    /// - Parameter identifier: 0x01 to 0xFF; a response repeats that of its request.
    public func encodePacket(identifier: UInt8, into packet: inout PacketWriter) {
        switch self {
        case .commandReject(let command): command.encodePacket(identifier: identifier, into: &packet)
        case .disconnectionRequest(let command): command.encodePacket(identifier: identifier, into: &packet)
        case .disconnectionResponse(let command): command.encodePacket(identifier: identifier, into: &packet)
        case .connectionParameterUpdateRequest(let command):
            command.encodePacket(identifier: identifier, into: &packet)
        case .connectionParameterUpdateResponse(let command):
            command.encodePacket(identifier: identifier, into: &packet)
        case .leCreditBasedConnectionRequest(let command): command.encodePacket(identifier: identifier, into: &packet)
        case .leCreditBasedConnectionResponse(let command): command.encodePacket(identifier: identifier, into: &packet)
        case .flowControlCreditIndication(let command): command.encodePacket(identifier: identifier, into: &packet)
        case .creditBasedConnectionRequest(let command): command.encodePacket(identifier: identifier, into: &packet)
        case .creditBasedConnectionResponse(let command): command.encodePacket(identifier: identifier, into: &packet)
        case .creditBasedReconfigureRequest(let command): command.encodePacket(identifier: identifier, into: &packet)
        case .creditBasedReconfigureResponse(let command): command.encodePacket(identifier: identifier, into: &packet)
        case .other(let code, let data):
            let length = UInt16(truncatingIfNeeded: data.count)
            L2CAPSignallingPacket.Header(code: code, identifier: identifier, dataLength: length).encode(into: &packet)
            packet.write(bytes: data)
        }
    }

    /// Writes the basic frame of the LE signalling channel with header and data in it.
    ///
    /// - Parameter identifier: 0x01 to 0xFF; a response repeats that of its request.
    public func encodeFrame(identifier: UInt8, into packet: inout PacketWriter) {
        L2CAPBasicFrame.encode(on: .leSignalling, into: &packet) { encodePacket(identifier: identifier, into: &$0) }
    }
}
