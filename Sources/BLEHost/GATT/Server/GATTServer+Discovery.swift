import BLEPackets

/// Find Information, Find By Type Value and Read By Group Type (Core 5.4, Vol 3, Part F, 3.4.3 and 3.4.4.9).
extension GATTServer {
    /// Handles and types are public: permissions do not hide them.
    mutating func findInformation(_ range: AttributeHandleRange, _ client: ServerClients.Handle) {
        guard range.isValid else { return refuse(.findInformationRequest, range.first, .invalidHandle, client) }
        let attributes = database.table[range]
        guard let width = attributes.first?.type.width else {
            return refuse(.findInformationRequest, range.first, .attributeNotFound, client)
        }
        let format: ATTFindInformationResponse.Format = width == .bits16 ? .bits16 : .bits128
        let mtu = clients[client].mtu
        var response = PacketWriter(reservingCapacity: mtu)
        ATTFindInformationResponse.encodeHeader(format, into: &response)
        for attribute in attributes {
            guard attribute.type.width == width, response.count + format.elementLength <= mtu else { break }
            ATTFindInformationResponse.encode(.init(handle: attribute.handle, type: attribute.type), into: &response)
        }
        respond(response.bytes, client)
    }

    /// Values that the client may not read, and values that only the app knows, are not compared.
    mutating func findByTypeValue(_ request: borrowing ATTFindByTypeValueRequest, _ client: ServerClients.Handle) {
        let range = request.range
        guard range.isValid else { return refuse(.findByTypeValueRequest, range.first, .invalidHandle, client) }
        let mtu = clients[client].mtu
        var response = PacketWriter(reservingCapacity: mtu)
        ATTFindByTypeValueResponse.encodeHeader(into: &response)
        let type = BluetoothUUID(request.type)
        for handle in database.table.handles(of: type, in: range) {
            guard response.count + 4 <= mtu else { break }
            guard let position = database.table.position(of: handle), refusal(readingAt: position, client) == nil,
                case .octets(let octets) = storedValue(at: position, client)
            else { continue }
            var isMatch = octets.span.bytes.containsSame(as: request.value)
            if !isMatch, type == .primaryService { isMatch = octets.span.bytes.isSameUUID(as: request.value) }
            guard isMatch else { continue }
            ATTFindByTypeValueResponse.encode(
                AttributeHandleRange(handle, database.table[position].groupEnd), into: &response)
        }
        guard response.count > 1 else {
            return refuse(.findByTypeValueRequest, range.first, .attributeNotFound, client)
        }
        respond(response.bytes, client)
    }

    /// Only services are valid groups for this request (Core 5.4, Vol 3, Part G, 2.5.3).
    mutating func readByGroupType(_ request: ATTReadByGroupTypeRequest, _ client: ServerClients.Handle) {
        let range = request.range
        guard range.isValid else { return refuse(.readByGroupTypeRequest, range.first, .invalidHandle, client) }
        guard request.groupType == .primaryService || request.groupType == .secondaryService else {
            return refuse(.readByGroupTypeRequest, range.first, .unsupportedGroupType, client)
        }
        let mtu = clients[client].mtu
        var response = PacketWriter(reservingCapacity: mtu)
        var length: Int?
        for handle in database.table.handles(of: request.groupType, in: range) {
            guard let position = database.table.position(of: handle) else { break }
            if let error = refusal(readingAt: position, client) {
                if length == nil { return refuse(.readByGroupTypeRequest, handle, error, client) }
                break
            }
            guard case .octets(let octets) = storedValue(at: position, client) else { break }
            let count = min(octets.count, mtu - 6, 251)
            if let length {
                guard octets.count == length, response.count + 4 + length <= mtu else { break }
            } else {
                length = octets.count
                ATTReadByGroupTypeResponse.encodeHeader(valueLength: count, into: &response)
            }
            ATTReadByGroupTypeResponse.encode(
                .init(
                    range: AttributeHandleRange(handle, database.table[position].groupEnd),
                    value: octets.span.bytes.extracting(first: count)), into: &response)
            if count < octets.count { break }
        }
        guard length != nil else {
            return refuse(.readByGroupTypeRequest, range.first, .attributeNotFound, client)
        }
        respond(response.bytes, client)
    }
}

extension RawSpan {
    func containsSame(as other: RawSpan) -> Bool {
        guard byteCount == other.byteCount else { return false }
        for offset in 0..<byteCount where byte(at: offset) != other.byte(at: offset) { return false }
        return true
    }

    /// Whether both are the same UUID, one with 16 bits and the other with 128 (Core 5.4, Vol 3, Part B, 2.5.1).
    fileprivate func isSameUUID(as other: RawSpan) -> Bool {
        let lengths = (byteCount, other.byteCount)
        guard lengths == (2, 16) || lengths == (16, 2) else { return false }
        return BluetoothUUID(attributeValue: copied()) == BluetoothUUID(attributeValue: other.copied())
    }
}
