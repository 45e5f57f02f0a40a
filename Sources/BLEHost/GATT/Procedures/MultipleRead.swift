import BLEPackets

/// Reads several values with one request (Core 5.4, Vol 3, Part G, 4.8.4 and 4.8.5).
struct MultipleRead {
    let handles: [AttributeHandle]
    let isVariable: Bool

    func begin(mtu: UInt16) -> GATTStep {
        guard handles.count >= 2, handles.count <= (Int(mtu) - 1) / 2 else { return .failed(.invalidParameters) }
        var packet = PacketWriter(reservingCapacity: 1 + 2 * handles.count)
        if isVariable {
            ATTReadMultipleVariableRequest.encode(handles, into: &packet)
        } else {
            ATTReadMultipleRequest.encode(handles, into: &packet)
        }
        return .send(packet.bytes)
    }

    func receive(_ pdu: RawSpan) throws(DecodingError) -> GATTStep {
        guard isVariable else { return .done(.value(try ATTReadMultipleResponse(pdu).values.copied())) }
        var response = try ATTReadMultipleVariableResponse(pdu)
        var values: [[UInt8]] = []
        while let element = response.next() {
            guard values.count < handles.count else { return .invalid(.tooManyValues) }
            values.append(element.value.copied())
        }
        return .done(.values(values))
    }
}
