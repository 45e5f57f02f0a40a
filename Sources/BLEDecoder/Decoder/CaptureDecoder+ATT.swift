import BLECapture

extension CaptureDecoder {
    /// Writes an ATT PDU (Core 5.4, Vol 3, Part F, 3.4), with the names of handles that were discovered before.
    /// - Parameter channel: the dynamic channel that carries it; `nil` for the fixed one.
    mutating func writeATT(
        _ index: Int, _ direction: CaptureDirection, _ pdu: RawSpan, _ stated: Int, channel: Int? = nil
    ) {
        facts.kinds.insert(.att)
        protocolName("ATT")
        let opcode = pdu.octet(0)
        let way = Int(direction.rawValue)
        let place = pdu.byteCount >= 1 ? Int(tables.attOpcodes[Int(opcode)]) : -1
        title(place >= 0 ? tables.layouts[place].name : nil, "Unknown PDU", code: UInt64(opcode), width: 1)
        let isWhole = PacketCheck.isWholeAttribute(first: pdu.integer(0, width: min(pdu.byteCount, 8)), count: stated)
        guard isWhole, pdu.byteCount == stated, place >= 0 else {
            out.beginFields()
            writeBearer(index, channel, way)
            if !isWhole {
                malformed("its length does not fit its opcode", pdu)
            } else if pdu.byteCount > 0 {
                out.begin("Octets", "octets")
                out.bytes(pdu)
                out.end()
            }
            out.endFields()
            return
        }
        switch opcode {
        case 0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x17, 0x19, 0x1E, 0x21:
            writeResponse(opcode, index, channel, way, pdu)
        default: writeRequest(opcode, index, channel, way, pdu)
        }
        out.endFields()
    }

    // MARK: Requests, commands, notifications

    private mutating func writeRequest(
        _ opcode: UInt8, _ index: Int, _ channel: Int?, _ way: Int, _ pdu: RawSpan
    ) {
        // The receiver of requests and commands is the server, and the sender of notifications and indications.
        let isFromServer = opcode == 0x1B || opcode == 0x1D || opcode == 0x23
        let server = isFromServer ? way : 1 - way
        var request = Link.Request(
            opcode: opcode, frame: facts.frame, time: facts.timestampMicroseconds, handle: 0, type: AttributeType(0))
        switch opcode {
        case 0x0A, 0x0C, 0x12, 0x16, 0x1B, 0x1D, 0x52, 0xD2:
            request.handle = pdu.uint16(1)
            headlineHandle(request.handle, index, server)
        case 0x08, 0x10: request.type = AttributeType(pdu.rest(5))
        case 0x06: request.type = AttributeType(pdu.part(5, 2))
        default: break
        }
        if opcode == 0x06 || opcode == 0x08 || opcode == 0x10 { headlineType(request.type) }
        out.beginFields()
        writeBearer(index, channel, way)
        switch opcode {
        case 0x02: writeMTU(pdu)
        case 0x04: writeRange(pdu)
        case 0x06:
            writeRange(pdu)
            writeType(pdu.part(5, 2))
            writeValue(pdu.rest(7), type: request.type, kind: .service)
        case 0x08, 0x10:
            writeRange(pdu)
            writeType(pdu.rest(5))
        case 0x0C:
            out.begin("Offset", "offset")
            out.number(UInt64(pdu.uint16(3)))
            out.end()
        case 0x0E, 0x20:
            out.beginGroups("handles")
            var position = 1
            while position + 2 <= pdu.byteCount {
                out.beginGroup()
                writeHandle(pdu.uint16(position), index, server)
                out.endGroup()
                position += 2
            }
            out.endGroups()
        case 0x12, 0x1B, 0x1D, 0x52: writeValue(pdu.rest(3), of: request.handle, index, server)
        case 0x16:
            out.begin("Offset", "offset")
            out.number(UInt64(pdu.uint16(3)))
            out.end()
            out.begin("Part of value", "value")
            out.bytes(pdu.rest(5))
            out.end()
        case 0x18: writeFields(tables.layouts[Int(tables.attOpcodes[0x18])].fields, pdu.rest(1), false, isSecret: false)
        case 0x23: writeNotifications(pdu, index, server)
        case 0xD2:
            writeValue(pdu.part(3, pdu.byteCount - 15), of: request.handle, index, server)
            out.begin("Signature", "signature")
            out.bytes(pdu.rest(pdu.byteCount - 12))
            out.end()
        default: break
        }
        // Commands, notifications and confirmations are not answered.
        if opcode & 0x40 == 0, opcode != 0x1B, opcode != 0x23 {
            table.links[index].setRequest(request, on: channel, way: way, isIndication: opcode == 0x1D)
        }
    }

    private mutating func writeNotifications(_ pdu: RawSpan, _ index: Int, _ server: Int) {
        out.beginGroups("values")
        var position = 1
        while position + 4 <= pdu.byteCount {
            let count = Int(pdu.uint16(position + 2))
            out.beginGroup()
            writeHandle(pdu.uint16(position), index, server)
            writeValue(pdu.part(position + 4, count), of: pdu.uint16(position), index, server)
            out.endGroup()
            position += 4 + count
        }
        out.endGroups()
    }

    // MARK: Responses

    private mutating func writeResponse(
        _ opcode: UInt8, _ index: Int, _ channel: Int?, _ way: Int, _ pdu: RawSpan
    ) {
        // A confirmation answers an indication; each response has the opcode of its request plus one.
        let isIndication = opcode == 0x1E
        let asked = table.links[index].request(on: channel, way: 1 - way, isIndication: isIndication)
        let isAnswer = asked.map { opcode == 0x01 ? $0.opcode == pdu.octet(1) : $0.opcode == opcode &- 1 } ?? false
        let request = isAnswer ? asked : nil
        if isAnswer {
            table.links[index].setRequest(nil, on: channel, way: 1 - way, isIndication: isIndication)
        }
        let server = isIndication ? 1 - way : way
        if opcode == 0x01 {
            headlineError(pdu)
            if pdu.uint16(2) != 0 { headlineHandle(pdu.uint16(2), index, server) }
        } else if let request, request.handle != 0 {
            headlineHandle(request.handle, index, server)
        } else if let request, request.opcode == 0x06 || request.opcode == 0x08 || request.opcode == 0x10 {
            headlineType(request.type)
        }
        out.beginFields()
        writeBearer(index, channel, way)
        if let request { writePairing(with: request) }
        switch opcode {
        case 0x01: writeError(pdu)
        case 0x03: writeMTU(pdu)
        case 0x05: writeFoundInformation(pdu, index, server)
        case 0x07: writeFoundServices(pdu, index, server)
        case 0x09: writeReadByType(pdu, request, index, server)
        case 0x0B:
            if let request {
                writeValue(pdu.rest(1), of: request.handle, index, server)
            } else {
                writeBytes(pdu.rest(1))
            }
        case 0x11: writeGroups(pdu, index, server)
        case 0x17:
            if request == nil { writeHandle(pdu.uint16(1), index, server) }
            out.begin("Offset", "offset")
            out.number(UInt64(pdu.uint16(3)))
            out.end()
            out.begin("Part of value", "value")
            out.bytes(pdu.rest(5))
            out.end()
        case 0x0D, 0x0F, 0x21: writeBytes(pdu.rest(1))
        default: break
        }
    }

    private mutating func writePairing(with request: Link.Request) {
        let microseconds = facts.timestampMicroseconds &- request.time
        if out.isJSON {
            out.begin("", "request")
            out.number(UInt64(request.frame))
            out.begin("", "latencyMicroseconds")
            out.signed(microseconds)
            return
        }
        out.begin("Answers", "request")
        out.buffer.append(UInt8(ascii: "#"))
        out.number(UInt64(request.frame))
        if microseconds >= 0 {
            out.buffer.append(" after ")
            out.milliseconds(microseconds: UInt64(microseconds))
        }
        out.end()
    }

    private mutating func headlineError(_ pdu: RawSpan) {
        guard !out.isJSON else { return }
        let code = UInt64(pdu.octet(4))
        out.buffer.append(" ")
        out.colour(.bad)
        if let name = tables.name(of: code, in: PacketTables.Values.atterror) {
            unsafe out.buffer.append(name.utf8)
        } else {
            out.buffer.append("error 0x")
            out.buffer.append(hexadecimal: code, digits: 2)
        }
        out.plain()
        fieldsOffset = out.buffer.count
    }

    private mutating func writeError(_ pdu: RawSpan) {
        let place = Int(tables.attOpcodes[Int(pdu.octet(1))])
        if out.isJSON {
            out.begin("", "requestOpcode")
            out.hexadecimal(UInt64(pdu.octet(1)), width: 1)
            out.begin("", "error")
            out.hexadecimal(UInt64(pdu.octet(4)), width: 1)
            if let name = tables.name(of: UInt64(pdu.octet(4)), in: PacketTables.Values.atterror) {
                out.begin("", "errorName")
                out.quoted(name)
            }
            return
        }
        out.begin("Request", "requestOpcode")
        if place >= 0 {
            unsafe out.buffer.append(tables.layouts[place].name.utf8)
            out.buffer.append(UInt8(ascii: " "))
        }
        out.buffer.append("(0x")
        out.buffer.append(hexadecimal: UInt64(pdu.octet(1)), digits: 2)
        out.buffer.append(UInt8(ascii: ")"))
        out.end()
        out.begin("Error", "error")
        if let name = tables.name(of: UInt64(pdu.octet(4)), in: PacketTables.Values.atterror) {
            unsafe out.buffer.append(name.utf8)
            out.buffer.append(UInt8(ascii: " "))
        }
        out.buffer.append("(0x")
        out.buffer.append(hexadecimal: UInt64(pdu.octet(4)), digits: 2)
        out.buffer.append(UInt8(ascii: ")"))
        out.end()
    }

    private mutating func writeFoundInformation(_ pdu: RawSpan, _ index: Int, _ server: Int) {
        let width = pdu.octet(1) == 1 ? 2 : 16
        guard pdu.octet(1) == 1 || pdu.octet(1) == 2 else { return writeBytes(pdu.rest(1)) }
        out.beginGroups("attributes")
        var position = 2
        while position + 2 + width <= pdu.byteCount {
            let handle = pdu.uint16(position)
            let type = AttributeType(pdu.part(position + 2, width))
            table.links[index].databases[server].learn(handle, .descriptor, type, &out.names)
            out.beginGroup()
            writeHandle(handle, index, server)
            writeType(pdu.part(position + 2, width))
            out.endGroup()
            position += 2 + width
        }
        out.endGroups()
    }

    private mutating func writeFoundServices(_ pdu: RawSpan, _ index: Int, _ server: Int) {
        out.beginGroups("ranges")
        var position = 1
        while position + 4 <= pdu.byteCount {
            out.beginGroup()
            writeHandles(pdu.uint16(position), pdu.uint16(position + 2), index, server)
            out.endGroup()
            position += 4
        }
        out.endGroups()
    }

    private mutating func writeReadByType(_ pdu: RawSpan, _ request: Link.Request?, _ index: Int, _ server: Int) {
        let length = Int(pdu.octet(1))
        out.beginGroups("attributes")
        var position = 2
        while position + length <= pdu.byteCount {
            let handle = pdu.uint16(position)
            let value = pdu.part(position + 2, length - 2)
            let type = request?.type
            let isCharacteristic = type == .characteristic && (value.byteCount == 5 || value.byteCount == 19)
            if isCharacteristic {
                let declared = AttributeType(value.rest(3))
                table.links[index].databases[server].learn(handle, .characteristic, declared, &out.names)
                table.links[index].databases[server].learn(value.uint16(1), .value, declared, &out.names)
            } else if let type, type != .include, type != .characteristic {
                table.links[index].databases[server].learn(handle, .value, type, &out.names)
            }
            out.beginGroup()
            writeHandle(handle, index, server)
            if isCharacteristic {
                writeDeclaration(value)
            } else {
                writeValue(value, of: handle, index, server)
            }
            out.endGroup()
            position += length
        }
        out.endGroups()
    }

    private mutating func writeGroups(_ pdu: RawSpan, _ index: Int, _ server: Int) {
        let length = Int(pdu.octet(1))
        out.beginGroups("groups")
        var position = 2
        while position + length <= pdu.byteCount {
            let value = pdu.part(position + 4, length - 4)
            let isUUID = value.byteCount == 2 || value.byteCount == 16
            if isUUID {
                table.links[index].databases[server].learn(
                    pdu.uint16(position), .service, AttributeType(value), &out.names)
            }
            out.beginGroup()
            writeHandles(pdu.uint16(position), pdu.uint16(position + 2), index, server)
            if isUUID {
                out.begin("Service", "uuid")
                out.uuid(value)
                out.end()
            } else {
                writeBytes(value)
            }
            out.endGroup()
            position += length
        }
        out.endGroups()
    }

    private mutating func writeDeclaration(_ value: RawSpan) {
        let properties = value.octet(0)
        out.begin("Characteristic", "uuid")
        out.uuid(value.rest(3), isAttribute: true)
        out.end()
        out.begin("Value handle", "valueHandle")
        writeHandleNumber(value.uint16(1))
        out.end()
        facts.record(attribute: value.uint16(1))
        out.begin("Properties", "properties")
        if out.isJSON {
            out.number(UInt64(properties))
        } else {
            let names: [8 of StaticString] = [
                "broadcast", "read", "write without response", "write", "notify", "indicate", "signed write",
                "extended",
            ]
            var isFirst = true
            for bit in 0..<8 where properties >> UInt8(bit) & 1 == 1 {
                if !isFirst { out.buffer.append(", ") }
                out.buffer.append(names[bit])
                isFirst = false
            }
            if isFirst { out.buffer.append("none") }
        }
        out.end()
    }
}
