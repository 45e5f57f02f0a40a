import BLEPackets

/// Answers a peer's requests as a server without a single attribute does.
///
/// It keeps no state: a link that serves nothing still owes each request an answer, or the peer's bearer dies.
struct EmptyAttributeServer {
    /// The answer to a whole request; `nil` where none is due.
    func answer(_ pdu: RawSpan) -> [UInt8]? {
        guard let octet = pdu.byte(at: 0) else { return nil }
        let request = ATTOpcode(rawValue: octet)
        do throws(DecodingError) {
            guard let refusal = try refusal(of: pdu, request) else { return ATTExecuteWriteResponse().encoded() }
            return ATTErrorResponse(request: request, handle: refusal.handle, error: refusal.error).encoded()
        } catch {
            return ATTErrorResponse(request: request, handle: .none, error: .invalidPDU).encoded()
        }
    }

    private typealias Refusal = (handle: AttributeHandle, error: ATTError)

    private func refusal(of pdu: RawSpan, _ request: ATTOpcode) throws(DecodingError) -> Refusal? {
        switch request {
        case .findInformationRequest: return search(try ATTFindInformationRequest(pdu).range)
        case .findByTypeValueRequest: return search(try ATTFindByTypeValueRequest(pdu).range)
        case .readByTypeRequest: return search(try ATTReadByTypeRequest(pdu).range)
        case .readByGroupTypeRequest:
            let decoded = try ATTReadByGroupTypeRequest(pdu)
            let isService = decoded.groupType == .primaryService || decoded.groupType == .secondaryService
            let found = search(decoded.range)
            return isService || found.error == .invalidHandle ? found : (decoded.range.first, .unsupportedGroupType)
        case .readRequest: return (try ATTReadRequest(pdu).handle, .invalidHandle)
        case .readBlobRequest: return (try ATTReadBlobRequest(pdu).handle, .invalidHandle)
        case .readMultipleRequest:
            var handles = try ATTReadMultipleRequest(pdu).handles
            return (handles.next() ?? .none, .invalidHandle)
        case .readMultipleVariableRequest:
            var handles = try ATTReadMultipleVariableRequest(pdu).handles
            return (handles.next() ?? .none, .invalidHandle)
        case .writeRequest: return (try ATTWriteRequest(pdu).handle, .invalidHandle)
        case .prepareWriteRequest: return (try ATTPrepareWriteRequest(pdu).handle, .invalidHandle)
        case .executeWriteRequest:
            _ = try ATTExecuteWriteRequest(pdu)
            return nil  // a queue that is always empty is carried out, and forgotten, without fail
        default: return (.none, .requestNotSupported)
        }
    }

    private func search(_ range: AttributeHandleRange) -> Refusal {
        (range.first, range.isValid ? .attributeNotFound : .invalidHandle)
    }
}
