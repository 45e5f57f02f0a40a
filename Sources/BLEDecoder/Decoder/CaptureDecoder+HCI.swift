import BLECapture

extension CaptureDecoder {
    mutating func writeCommand(_ bytes: RawSpan, _ isShortened: Bool, _ adapter: Int) {
        guard bytes.byteCount >= 4 else {
            title("HCI Command")
            out.beginFields()
            if !isShortened { malformed("it ends within its header", bytes) }
            out.endFields()
            return
        }
        let opcode = bytes.uint16(1)
        let place = Int(tables.commands[Int(opcode)])
        title(
            place >= 0 ? tables.layouts[place].name : nil, opcode >> 10 == 0x3F ? "Vendor Command" : "Unknown Command",
            code: UInt64(opcode), width: 2)
        out.beginFields()
        let parameters = bytes.part(4, Int(bytes.octet(3)))
        if bytes.byteCount != 4 + Int(bytes.octet(3)), !isShortened {
            malformed("the length in its header is not the packet's", bytes, isSecret: mayHoldKey(place, bytes))
        } else if place >= 0 {
            let fields = tables.layouts[place].fields
            writeFields(fields, parameters, isShortened, isSecret: tables.containsKeys(place))
            if let first = fields.first, tables.fields[first].kind == .handle, parameters.byteCount >= 2 {
                recordLink(parameters.uint16(0) & 0x0FFF, adapter)
            }
        } else {
            writeRest(parameters, isShortened)
        }
        out.endFields()
    }

    mutating func writeEvent(_ bytes: RawSpan, _ isShortened: Bool, _ adapter: Int) {
        guard bytes.byteCount >= 3 else {
            title("HCI Event")
            out.beginFields()
            if !isShortened { malformed("it ends within its header", bytes) }
            out.endFields()
            return
        }
        let code = bytes.octet(1)
        let parameters = bytes.part(3, Int(bytes.octet(2)))
        let isWhole = bytes.byteCount == 3 + Int(bytes.octet(2)) || isShortened
        let trace =
            code == 0xFF ? ControllerTrace(vendorEvent: parameters, manufacturer: manufacturers[adapter]) : nil
        switch code {
        case 0x0E:
            // Read Local Version Information, done: status, version, revision, LMP version, company.
            if parameters.byteCount >= 10, parameters.uint16(1) == 0x1001, parameters.octet(3) == 0 {
                manufacturers[adapter] = parameters.uint16(8)
            }
            writeCommandComplete(bytes, parameters, isWhole, isShortened)
        case 0x3E: writeMetaEvent(bytes, parameters, isWhole, isShortened, adapter)
        default:
            let place = Int(tables.events[Int(code)])
            title(place >= 0 ? tables.layouts[place].name : nil, "Unknown Event", code: UInt64(code), width: 1)
            if code == 0x0F, isWhole, parameters.byteCount >= 4 { appendCommandName(parameters.uint16(2)) }
            out.beginFields()
            if !isWhole {
                malformed(
                    "the length in its header is not the packet's", bytes,
                    isSecret: trace != nil || mayHoldKey(place, bytes))
            } else if let trace {
                writeTrace(trace, parameters.byteCount)
            } else if place >= 0 {
                writeFields(tables.layouts[place].fields, parameters, isShortened, isSecret: tables.containsKeys(place))
                followEvent(code, parameters, adapter)
            } else {
                writeRest(parameters, isShortened)
            }
            out.endFields()
        }
    }

    /// Appends the command that an event answers to the headline, in text.
    private mutating func appendCommandName(_ opcode: UInt16) {
        let place = Int(tables.commands[Int(opcode)])
        guard !out.isJSON, place >= 0 else { return }
        out.buffer.append(": ")
        unsafe out.buffer.append(tables.layouts[place].name.utf8)
        fieldsOffset = out.buffer.count
    }

    private mutating func writeCommandComplete(
        _ bytes: RawSpan, _ parameters: RawSpan, _ isWhole: Bool, _ isShortened: Bool
    ) {
        let layout = Int(tables.events[0x0E])
        let opcode = parameters.uint16(1)
        let place = parameters.byteCount >= 3 ? Int(tables.commands[Int(opcode)]) : -1
        title(layout >= 0 ? tables.layouts[layout].name : nil, "Command Complete", code: 0x0E, width: 1)
        if place >= 0 { appendCommandName(opcode) }
        out.beginFields()
        defer { out.endFields() }
        guard isWhole else {
            malformed(
                "the length in its header is not the packet's", parameters, isSecret: mayHoldKey(place, bytes))
            return
        }
        guard parameters.byteCount >= 3 else {
            if !isShortened { malformed("it ends within its fields", parameters) }
            return
        }
        if layout >= 0 { writeFields(tables.layouts[layout].fields, parameters.part(0, 3), false, isSecret: false) }
        let answer = parameters.rest(3)
        guard place >= 0, !tables.layouts[place].answer.isEmpty else {
            writeRest(answer, isShortened)
            return
        }
        // A response with an error may end after the status.
        let mayEnd = isShortened || answer.byteCount >= 1 && answer.octet(0) != 0
        writeFields(tables.layouts[place].answer, answer, mayEnd, isSecret: tables.containsKeys(place))
    }

    private mutating func writeMetaEvent(
        _ bytes: RawSpan, _ parameters: RawSpan, _ isWhole: Bool, _ isShortened: Bool, _ adapter: Int
    ) {
        let subevent = parameters.octet(0)
        let place = parameters.byteCount >= 1 ? Int(tables.subevents[Int(subevent)]) : -1
        title(place >= 0 ? tables.layouts[place].name : nil, "LE Meta Event", code: UInt64(subevent), width: 1)
        if out.isJSON {
            out.buffer.append(",\"eventCode\":\"0x3e\"")
        }
        if subevent == 0x02 || subevent == 0x0B || subevent == 0x0D { facts.kinds.insert(.advertising) }
        out.beginFields()
        defer { out.endFields() }
        guard isWhole, parameters.byteCount >= 1 else {
            if !isShortened {
                malformed(
                    "the length in its header is not the packet's", parameters,
                    isSecret: mayHoldKey(place, bytes))
            }
            return
        }
        guard place >= 0 else {
            writeRest(parameters.rest(1), isShortened)
            return
        }
        writeFields(tables.layouts[place].fields, parameters.rest(1), isShortened, isSecret: tables.containsKeys(place))
        followMetaEvent(subevent, parameters.rest(1), adapter)
    }

    // MARK: Fields

    /// Writes fields by the table, and marks a packet that ends too early.
    mutating func writeFields(_ range: Range<Int>, _ bytes: RawSpan, _ mayEnd: Bool, isSecret: Bool) {
        if range.count == 1, tables.fields[range.lowerBound].kind == .rest, mayEnd || bytes.mayHoldKey {
            // Only the name of the packet is known.
            return writeRest(bytes, true)
        }
        var reader = FieldReader(bytes)
        reader.write(range, tables, into: &out, facts: &facts)
        if reader.isBroken, !mayEnd {
            malformed("it ends within its fields", bytes, isSecret: isSecret)
        } else if facts.hasBrokenData, !mayEnd, facts.kinds.contains(.advertising) {
            facts.kinds.insert(.malformed)
            out.begin("Malformed", "malformed")
            out.word("its advertising data is malformed")
            out.end()
        } else if !reader.isBroken, reader.position < bytes.byteCount {
            out.begin("After the fields", "rest")
            let rest = bytes.rest(reader.position)
            isSecret || mayEnd || rest.mayHoldKey ? out.withheld() : out.bytes(rest)
            out.end()
        }
    }

    /// Writes unknown parameters.
    /// - Parameter isShortened: whether the capture left some octets out, so that the rest may be part of a key.
    mutating func writeRest(_ bytes: RawSpan, _ isShortened: Bool) {
        guard bytes.byteCount > 0 else { return }
        out.begin("Parameters", "parameters")
        isShortened || bytes.mayHoldKey ? out.withheld() : out.bytes(bytes)
        out.end()
    }

    /// Whether the octets of a malformed packet may contain a key: because its form has one, or because its form is
    /// unknown.
    private func mayHoldKey(_ place: Int, _ bytes: RawSpan) -> Bool {
        place < 0 || bytes.mayHoldKey || tables.containsKeys(place)
    }

    // MARK: Connections

    private mutating func followEvent(_ code: UInt8, _ parameters: RawSpan, _ adapter: Int) {
        switch code {
        case 0x03 where parameters.octet(0) == 0, 0x2C where parameters.octet(0) == 0:
            guard parameters.byteCount >= 9 else { return }
            let index = table.open(
                adapter: adapter, handle: parameters.uint16(1) & 0x0FFF, address: parameters.integer(3, width: 6),
                isLE: false)
            facts.connection = table.links[index].number
        case 0x05 where parameters.octet(0) == 0:
            let handle = parameters.uint16(1) & 0x0FFF
            recordLink(handle, adapter)
            table.close(adapter: adapter, handle: handle)
        case 0x08, 0x0C, 0x30, 0x59: recordLink(parameters.uint16(1) & 0x0FFF, adapter)
        default: break
        }
    }

    private mutating func followMetaEvent(_ subevent: UInt8, _ fields: RawSpan, _ adapter: Int) {
        switch subevent {
        case 0x01 where fields.octet(0) == 0, 0x0A where fields.octet(0) == 0, 0x29 where fields.octet(0) == 0:
            guard fields.byteCount >= 11 else { return }
            let index = table.open(
                adapter: adapter, handle: fields.uint16(1) & 0x0FFF, address: fields.integer(5, width: 6),
                isRandom: fields.octet(4) & 1 == 1)
            facts.connection = table.links[index].number
        case 0x03, 0x04, 0x0C, 0x23: recordLink(fields.uint16(1) & 0x0FFF, adapter)
        case 0x05, 0x06, 0x07, 0x14: recordLink(fields.uint16(0) & 0x0FFF, adapter)
        default: break
        }
    }

    /// Notes the packet's connection, if it is known.
    private mutating func recordLink(_ handle: UInt16, _ adapter: Int) {
        guard let index = table.find(adapter: adapter, handle: handle) else { return }
        facts.connection = table.links[index].number
        if let address = table.links[index].address { facts.record(address: address) }
    }
}
