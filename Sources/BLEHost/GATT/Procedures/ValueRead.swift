import BLEPackets

/// Reads one complete value (Core 5.4, Vol 3, Part G, 4.8.1 and 4.8.3; SPEC 2.3).
///
/// An answer that fills the PDU may have been cut: Read Blob requests continue until a shorter answer comes, or until
/// the server reports that there is no more.
struct ValueRead {
    private let handle: AttributeHandle
    private let offset: Int
    private var value: [UInt8] = []
    /// Whether the request in progress is a Read Blob Request.
    private var isBlob: Bool
    /// The ATT_MTU when the request was sent: it may increase before the answer comes.
    private var requestMTU = 23
    private var hasBegunAgain = false

    init(_ handle: AttributeHandle, offset: UInt16) {
        self.handle = handle
        self.offset = Int(offset)
        isBlob = offset > 0
    }

    mutating func begin(mtu: UInt16) -> GATTStep {
        requestMTU = Int(mtu)
        return isBlob ? .send(blobRequest) : .send(ATTReadRequest(handle: handle).encoded())
    }

    private var blobRequest: [UInt8] {
        ATTReadBlobRequest(handle: handle, offset: UInt16(clamping: offset + value.count)).encoded()
    }

    mutating func receive(_ pdu: RawSpan, mtu: UInt16) throws(DecodingError) -> GATTStep {
        // Octets beyond the ATT_MTU are ignored: the offset of the next request assumes that the server cut the value
        // there.
        let part: RawSpan
        if isBlob {
            part = try ATTReadBlobResponse(pdu).value.extracting(first: Int(mtu) - 1)
        } else {
            part = try ATTReadResponse(pdu).value.extracting(first: Int(mtu) - 1)
        }
        unsafe part.withUnsafeBytes { unsafe value.append(contentsOf: $0) }
        guard part.byteCount >= requestMTU - 1, offset + value.count < maximumAttributeLength else {
            // No value is longer: a server that sends more has ignored the offset.
            value.removeLast(min(value.count, max(0, offset + value.count - maximumAttributeLength)))
            return .done(.value(value))
        }
        isBlob = true
        requestMTU = Int(mtu)
        return .send(blobRequest)
    }

    mutating func refused(_ error: ATTError, _ handle: AttributeHandle, mtu: UInt16) -> GATTStep {
        if error == .attributeNotLong, offset == 0, value.count < Int(mtu) - 1, isBlob, !hasBegunAgain {
            // The ATT_MTU increased after the first part, and the complete value now fits into one answer.
            hasBegunAgain = true
            isBlob = false
            requestMTU = Int(mtu)
            value = []
            return .send(ATTReadRequest(handle: self.handle).encoded())
        }
        // A server that does not know Read Blob has no values longer than its first answer (Core 5.4, Vol 3, Part G,
        // 4.8.3).
        let isEnd = error == .invalidOffset || error == .attributeNotLong || isBlob && error == .requestNotSupported
        if isEnd, !value.isEmpty { return .done(.value(value)) }
        return .failed(.att(error, handle: handle))
    }
}
