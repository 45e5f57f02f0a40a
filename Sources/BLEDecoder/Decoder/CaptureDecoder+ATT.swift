import BLECapture

extension CaptureDecoder {
    /// Writes a PDU of ATT (Core 5.4, Vol 3, Part F, 3.4), with the names that discovery gave to handles.
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
        // The server of requests and commands is on the other side; of notifications and indications on this one.
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
        // A confirmation answers an indication, each response the request before it in number.
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
            table.links[index].databases[server].learn(handle, .descriptor, type)
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
                table.links[index].databases[server].learn(handle, .characteristic, declared)
                table.links[index].databases[server].learn(value.uint16(1), .value, declared)
            } else if let type, type != .include, type != .characteristic {
                table.links[index].databases[server].learn(handle, .value, type)
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
                table.links[index].databases[server].learn(pdu.uint16(position), .service, AttributeType(value))
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
        facts.note(attribute: value.uint16(1))
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

    // MARK: Handles and values

    private mutating func writeMTU(_ pdu: RawSpan) {
        out.begin("MTU", "mtu")
        out.number(UInt64(pdu.uint16(1)))
        out.end()
    }

    private mutating func writeRange(_ pdu: RawSpan) {
        out.begin("Handles", "firstHandle")
        writeHandleNumber(pdu.uint16(1))
        if out.isJSON {
            out.begin("", "lastHandle")
        } else {
            out.buffer.append(" to ")
        }
        writeHandleNumber(pdu.uint16(3))
        out.end()
    }

    private mutating func writeHandles(_ first: UInt16, _ last: UInt16, _ index: Int, _ server: Int) {
        facts.note(attribute: first)
        out.begin("Handles", "handle")
        writeHandleNumber(first)
        if out.isJSON {
            out.begin("", "endHandle")
        } else {
            out.buffer.append(" to ")
        }
        writeHandleNumber(last)
        out.end()
    }

    private mutating func writeType(_ bytes: RawSpan) {
        out.begin("Type", "attributeType")
        out.uuid(bytes, isAttribute: true)
        out.end()
    }

    private mutating func writeBytes(_ bytes: RawSpan) {
        out.begin("Value", "value")
        out.bytes(bytes)
        out.end()
    }

    private mutating func writeHandleNumber(_ handle: UInt16) {
        out.isJSON ? out.number(UInt64(handle)) : out.hexadecimal(UInt64(handle), width: 2)
    }

    private mutating func writeHandle(_ handle: UInt16, _ index: Int, _ server: Int) {
        facts.note(attribute: handle)
        out.begin("Handle", "handle")
        writeHandleNumber(handle)
        if !out.isJSON { appendAttributeName(handle, index, server) }
        out.end()
    }

    /// In the headline: the handle that the PDU is about, and what discovery said of it.
    private mutating func headlineHandle(_ handle: UInt16, _ index: Int, _ server: Int) {
        facts.note(attribute: handle)
        if out.isJSON {
            out.buffer.append(",\"handle\":")
            out.buffer.append(decimal: UInt64(handle))
            guard let entry = table.links[index].databases[server][handle] else { return }
            out.buffer.append(",\"uuid\":\"")
            entry.type.write(into: &out.buffer)
            out.buffer.append(UInt8(ascii: "\""))
            guard let name = entry.name else { return }
            out.buffer.append(",\"attribute\":\"")
            out.escaped(name)
            out.buffer.append(UInt8(ascii: "\""))
        } else {
            out.buffer.append(" 0x")
            out.buffer.append(hexadecimal: UInt64(handle), digits: 4)
            appendAttributeName(handle, index, server)
            fieldsOffset = out.buffer.count
        }
    }

    /// In the headline of text: the type of the attributes that are searched for.
    private mutating func headlineType(_ type: AttributeType) {
        guard !out.isJSON else { return }
        out.buffer.append(UInt8(ascii: " "))
        if let name = type.name {
            unsafe out.buffer.append(name.utf8)
        } else {
            type.write(into: &out.buffer)
        }
        fieldsOffset = out.buffer.count
    }

    private mutating func appendAttributeName(_ handle: UInt16, _ index: Int, _ server: Int) {
        guard let entry = table.links[index].databases[server][handle] else { return }
        switch entry.kind {
        case .service: out.buffer.append(" Service ")
        case .characteristic: out.buffer.append(" Characteristic ")
        case .value, .descriptor: out.buffer.append(" ")
        }
        if let name = entry.name {
            unsafe out.buffer.append(name.utf8)
        } else {
            entry.type.write(into: &out.buffer)
        }
    }

    private mutating func writeValue(_ value: RawSpan, of handle: UInt16, _ index: Int, _ server: Int) {
        let entry = table.links[index].databases[server][handle]
        writeValue(value, type: entry?.type, kind: entry?.kind)
    }

    /// Writes a value as octets, and in words where its type is known or it is plain text.
    private mutating func writeValue(_ value: RawSpan, type: AttributeType?, kind: AttributeDatabase.Kind?) {
        out.begin("Value", "value")
        // Encrypted Data Key Material: the key of encrypted advertising data (Core 5.4, Vol 3, Part C, 12.6).
        if type?.short == 0x2B88, kind == .value {
            out.withheld()
            out.end()
            return
        }
        out.bytes(value)
        guard !out.isJSON else {
            if Self.isText(value) {
                out.begin("", "text")
                out.text(value)
            }
            return
        }
        switch (kind, type?.short) {
        case (.service, _) where value.byteCount == 2 || value.byteCount == 16:
            out.buffer.append(" = ")
            out.uuid(value)
        case (.value, 0x2A01) where value.byteCount == 2:
            out.buffer.append(" = ")
            out.writeAppearance(value.uint16(0))
        case (.value, 0x2A19) where value.byteCount == 1:
            out.buffer.append(" = ")
            out.number(UInt64(value.octet(0)))
            out.buffer.append(" %")
        case (_, 0x2902) where value.byteCount == 2:
            switch value.uint16(0) {
            case 0: out.buffer.append(" = off")
            case 1: out.buffer.append(" = notifications")
            case 2: out.buffer.append(" = indications")
            default: out.buffer.append(" = notifications and indications")
            }
        default:
            if Self.isText(value) {
                out.buffer.append(" = ")
                out.text(value.part(0, 128))
            }
        }
        out.end()
    }

    /// Whether octets are four or more printable characters of ASCII.
    private static func isText(_ value: RawSpan) -> Bool {
        guard value.byteCount >= 4 else { return false }
        for index in 0..<value.byteCount where !(0x20..<0x7F).contains(value.octet(index)) { return false }
        return true
    }
}
