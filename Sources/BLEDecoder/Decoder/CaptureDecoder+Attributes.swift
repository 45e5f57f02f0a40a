/// Parts that ATT PDUs share: handles, types and values.
extension CaptureDecoder {
    mutating func writeMTU(_ pdu: RawSpan) {
        out.begin("MTU", "mtu")
        out.number(UInt64(pdu.uint16(1)))
        out.end()
    }

    mutating func writeRange(_ pdu: RawSpan) {
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

    mutating func writeHandles(_ first: UInt16, _ last: UInt16, _ index: Int, _ server: Int) {
        facts.record(attribute: first)
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

    mutating func writeType(_ bytes: RawSpan) {
        out.begin("Type", "attributeType")
        out.uuid(bytes, isAttribute: true)
        out.end()
    }

    mutating func writeBytes(_ bytes: RawSpan) {
        out.begin("Value", "value")
        out.bytes(bytes)
        out.end()
    }

    mutating func writeHandleNumber(_ handle: UInt16) {
        out.isJSON ? out.number(UInt64(handle)) : out.hexadecimal(UInt64(handle), width: 2)
    }

    mutating func writeHandle(_ handle: UInt16, _ index: Int, _ server: Int) {
        facts.record(attribute: handle)
        out.begin("Handle", "handle")
        writeHandleNumber(handle)
        if !out.isJSON { appendAttributeName(handle, index, server) }
        out.end()
    }

    /// Writes the PDU's handle into the headline, with the attribute's name if it was discovered.
    mutating func headlineHandle(_ handle: UInt16, _ index: Int, _ server: Int) {
        facts.record(attribute: handle)
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

    /// Writes the type that is searched for into the headline of text.
    mutating func headlineType(_ type: AttributeType) {
        guard !out.isJSON else { return }
        out.buffer.append(UInt8(ascii: " "))
        if let name = out.names.name(of: type) {
            unsafe out.buffer.append(name.utf8)
        } else {
            type.write(into: &out.buffer)
        }
        fieldsOffset = out.buffer.count
    }

    mutating func appendAttributeName(_ handle: UInt16, _ index: Int, _ server: Int) {
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

    mutating func writeValue(_ value: RawSpan, of handle: UInt16, _ index: Int, _ server: Int) {
        let entry = table.links[index].databases[server][handle]
        writeValue(value, type: entry?.type, kind: entry?.kind)
    }

    /// Writes a value as octets, with its meaning if its type is known or it is plain text.
    mutating func writeValue(_ value: RawSpan, type: AttributeType?, kind: AttributeDatabase.Kind?) {
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
        case (_, 0x2902) where value.byteCount == 2:
            switch value.uint16(0) {
            case 0: out.buffer.append(" = off")
            case 1: out.buffer.append(" = notifications")
            case 2: out.buffer.append(" = indications")
            default: out.buffer.append(" = notifications and indications")
            }
        default:
            var known: ValueTexts.Known?
            if kind == .value, let short = type?.short { known = out.values.meaning(of: value, type: short) }
            if let known, known.isNumeric || !Self.isText(value) {
                out.buffer.append(" = ")
                out.buffer.append(known.text.span.bytes)
                if out.keepsMeasures { out.measures += known.measures }
            } else if Self.isText(value) {
                out.buffer.append(" = ")
                out.text(value.part(0, 128))
            }
        }
        out.end()
    }

    /// Whether the octets are four or more printable ASCII characters.
    private static func isText(_ value: RawSpan) -> Bool {
        guard value.byteCount >= 4 else { return false }
        for index in 0..<value.byteCount where !(0x20..<0x7F).contains(value.octet(index)) { return false }
        return true
    }
}
