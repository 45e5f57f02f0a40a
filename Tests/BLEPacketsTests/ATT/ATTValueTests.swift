import Testing

@testable import BLEPackets

@Suite("ATT values")
struct ATTValueTests {
    @Test("a notification lends its value without copying it")
    func notification() throws {
        let pdu: [UInt8] = [0x1B, 0x12, 0x00, 0x00, 0x48]
        let notification = try ATTHandleValueNotification(pdu.span.bytes)
        #expect(notification.handle == 0x0012)
        #expect(notification.value.copied() == [0x00, 0x48])
    }

    @Test("services are taken from a group response one by one")
    func groups() throws {
        let pdu: [UInt8] = [0x11, 0x06, 0x10, 0xF0, 0x18, 0xF0, 0x00, 0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0x0A, 0x18]
        var list = try ATTReadByGroupTypeResponse(pdu.span.bytes)
        #expect(list.count == 2)
        let ranges = [AttributeHandleRange(0xF010, 0xF018), AttributeHandleRange(0xFFFF, 0xFFFF)]
        var seen: [AttributeHandleRange] = []
        var values: [[UInt8]] = []
        while let element = list.next() {
            seen.append(element.range)
            values.append(element.value.copied())
        }
        #expect(seen == ranges)
        #expect(values == [[0x00, 0x18], [0x0A, 0x18]])
    }

    @Test("lists are written element by element")
    func builders() throws {
        var packet = PacketWriter()
        ATTFindInformationResponse.encodeHeader(.bits16, into: &packet)
        ATTFindInformationResponse.encode(.init(handle: 4, type: BluetoothUUID(UInt16(0x2901))), into: &packet)
        #expect(packet.bytes == [0x05, 0x01, 0x04, 0x00, 0x01, 0x29])

        let value: [UInt8] = [0xAA, 0xBB]
        packet.removeAll()
        ATTReadByTypeResponse.encodeHeader(valueLength: 2, into: &packet)
        ATTReadByTypeResponse.encode(.init(handle: 0x0102, value: value.span.bytes), into: &packet)
        #expect(packet.bytes == [0x09, 0x04, 0x02, 0x01, 0xAA, 0xBB])

        packet.removeAll()
        ATTReadByGroupTypeResponse.encodeHeader(valueLength: 2, into: &packet)
        let range = AttributeHandleRange(1, 4)
        ATTReadByGroupTypeResponse.encode(.init(range: range, value: value.span.bytes), into: &packet)
        #expect(packet.bytes == [0x11, 0x06, 0x01, 0x00, 0x04, 0x00, 0xAA, 0xBB])

        packet.removeAll()
        ATTFindByTypeValueResponse.encodeHeader(into: &packet)
        ATTFindByTypeValueResponse.encode(range, into: &packet)
        #expect(packet.bytes == [0x07, 0x01, 0x00, 0x04, 0x00])

        packet.removeAll()
        ATTReadMultipleVariableResponse.encodeHeader(into: &packet)
        ATTReadMultipleVariableResponse.encodeElement(value.span.bytes, into: &packet)
        #expect(packet.bytes == [0x21, 0x02, 0x00, 0xAA, 0xBB])

        packet.removeAll()
        ATTMultipleHandleValueNotification.encodeHeader(into: &packet)
        ATTMultipleHandleValueNotification.encode(.init(handle: 3, value: value.span.bytes), into: &packet)
        #expect(packet.bytes == [0x23, 0x03, 0x00, 0x02, 0x00, 0xAA, 0xBB])

        packet.removeAll()
        ATTReadMultipleRequest.encode([3, 7], into: &packet)
        #expect(packet.bytes == [0x0E, 0x03, 0x00, 0x07, 0x00])
        packet.removeAll()
        ATTReadMultipleVariableRequest.encode([3, 7], into: &packet)
        #expect(packet.bytes == [0x20, 0x03, 0x00, 0x07, 0x00])
    }

    @Test("the last value of Read Multiple Variable may be truncated and still states its length")
    func cutValue() throws {
        let pdu: [UInt8] = [0x21, 0x01, 0x00, 0xAA, 0x09, 0x00, 0xBB, 0xCC]
        var list = try ATTReadMultipleVariableResponse(pdu.span.bytes)
        var lengths: [Int] = []
        var counts: [Int] = []
        while let element = list.next() {
            lengths.append(element.length)
            counts.append(element.value.byteCount)
        }
        #expect(lengths == [1, 9])
        #expect(counts == [1, 2])
    }

    @Test("a type of 32 bits is sent as 128: ATT has no such width")
    func wideType() {
        let request = ATTReadByTypeRequest(range: .all, type: BluetoothUUID(UInt32(0x1234_5678)))
        #expect(request.encoded().count == 21)
        let group = ATTReadByGroupTypeRequest(range: .all, groupType: BluetoothUUID(UInt32(0x1234_5678)))
        #expect(group.encoded().count == 21)
    }

    @Test("an opcode tells what it is and what answers it")
    func opcodes() {
        #expect(ATTOpcode.readRequest.kind == .request)
        #expect(ATTOpcode.readRequest.response == .readResponse)
        #expect(ATTOpcode.readMultipleVariableRequest.response == .readMultipleVariableResponse)
        #expect(ATTOpcode.handleValueIndication.response == nil)
        #expect(ATTOpcode.signedWriteCommand.isCommand)
        #expect(ATTOpcode.signedWriteCommand.isSigned)
        #expect(ATTOpcode.signedWriteCommand.method == ATTOpcode.writeRequest.method)
        #expect(!ATTOpcode.writeRequest.isCommand)
        for octet in UInt8.min...UInt8.max {
            let opcode = ATTOpcode(rawValue: octet)
            #expect(opcode.kind != .request || opcode.response?.kind == .response)
        }
    }

    @Test("an error prints its name, an application's its code (SPEC 2.1)")
    func errors() {
        #expect(ATTError.readNotPermitted.description == "Read Not Permitted")
        #expect(ATTError.valueNotAllowed.rawValue == 0x13)
        #expect(ATTError(rawValue: 0x80).description == "application error 0x80")
        #expect(ATTError(rawValue: 0x80).isApplicationError)
        #expect(ATTError.outOfRange.isCommonProfileError)
        #expect(ATTError(rawValue: 0x42).description == "error 0x42")
    }

    @Test("a range of handles knows whether it is valid")
    func ranges() {
        #expect(AttributeHandleRange.all.isValid)
        #expect(!AttributeHandleRange(0, 5).isValid)
        #expect(!AttributeHandleRange(6, 5).isValid)
        #expect(AttributeHandle.last.next == nil)
        #expect(AttributeHandle(rawValue: 0xFFFE).next == .last)
    }
}
