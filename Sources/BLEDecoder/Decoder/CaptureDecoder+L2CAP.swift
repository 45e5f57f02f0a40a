import BLECapture

extension CaptureDecoder {
    /// The highest connection handle; some controllers send vendor-specific traces under higher handles.
    static var lastConnectionHandle: UInt16 { 0x0EFF }

    mutating func writeACL(_ bytes: RawSpan, _ isShortened: Bool, _ adapter: Int, _ direction: CaptureDirection) {
        guard bytes.byteCount >= 5 else {
            title("ACL data")
            out.beginFields()
            if !isShortened { malformed("it ends within its header", bytes) }
            out.endFields()
            return
        }
        let field = bytes.uint16(1)
        let handle = field & 0x0FFF
        let stated = Int(bytes.uint16(3))
        let trace = ControllerTrace(handleField: field, direction: direction)
        if handle > Self.lastConnectionHandle || trace != nil && table.find(adapter: adapter, handle: handle) == nil {
            return writeTrace(trace, bytes, isShortened)
        }
        let index = table.index(adapter: adapter, handle: handle)
        writeLink(index, handle)
        let data = bytes.part(5, stated)
        guard bytes.byteCount == 5 + stated || isShortened else {
            title("ACL data")
            out.beginFields()
            malformed("the length in its header is not the packet's", bytes, isSecret: true)
            out.endFields()
            return
        }
        assemble(index, direction, data, stated: stated, isContinuation: field >> 12 & 3 == 1)
    }

    /// What controllers send of themselves, which may contain keys.
    private mutating func writeTrace(_ trace: ControllerTrace?, _ bytes: RawSpan, _ isShortened: Bool) {
        let handle = bytes.uint16(1) & 0x0FFF
        facts.record(handle: handle)
        title("Vendor diagnostics")
        out.beginFields()
        out.begin("Handle", "connectionHandle")
        out.isJSON ? out.number(UInt64(handle)) : out.hexadecimal(UInt64(handle), width: 2)
        out.end()
        if isShortened || bytes.byteCount == 5 + Int(bytes.uint16(3)) {
            writeTrace(trace, Int(bytes.uint16(3)))
        } else {
            writeVendor(trace)
            malformed("the length in its header is not the packet's", bytes, isSecret: true)
        }
        out.endFields()
    }

    /// Writes whose it is and how long, and not its octets.
    mutating func writeTrace(_ trace: ControllerTrace?, _ count: Int) {
        writeVendor(trace)
        writeLength(count)
        out.begin("Data", "data")
        out.withheld()
        out.end()
    }

    private mutating func writeVendor(_ trace: ControllerTrace?) {
        guard let trace else { return }
        out.begin("Vendor", "vendor")
        out.word(trace.name)
        out.end()
    }

    /// Writes the connection into the headline.
    private mutating func writeLink(_ index: Int, _ handle: UInt16) {
        facts.connection = table.links[index].number
        facts.record(handle: handle)
        if out.isJSON {
            out.buffer.append(",\"connectionHandle\":")
            out.buffer.append(decimal: UInt64(handle))
        } else {
            out.buffer.append("0x")
            out.buffer.append(hexadecimal: UInt64(handle), digits: 4)
            out.buffer.append(UInt8(ascii: " "))
        }
        writeAddress(of: index)
    }

    /// Writes the address of a connection's device into the headline.
    mutating func writeAddress(of index: Int) {
        guard let address = table.links[index].address else { return }
        facts.record(address: address)
        if out.isJSON {
            out.buffer.append(",\"address\":\"")
            out.buffer.append(address: address)
            out.buffer.append(UInt8(ascii: "\""))
            guard let isRandom = table.links[index].isRandom else { return }
            out.buffer.append(isRandom ? ",\"addressType\":\"random\"" : ",\"addressType\":\"public\"")
        } else {
            out.buffer.append(address: address)
            if let isRandom = table.links[index].isRandom { out.buffer.append(isRandom ? " random" : " public") }
            out.buffer.append(UInt8(ascii: " "))
        }
    }

    /// Reassembles fragments and writes complete frames.
    mutating func assemble(
        _ index: Int, _ direction: CaptureDirection, _ data: RawSpan, stated: Int, isContinuation: Bool
    ) {
        let way = Int(direction.rawValue)
        if !isContinuation {
            if table.links[index].assemblies[way].isPending { table.links[index].assemblies[way].forget() }
            if stated >= 4, data.byteCount >= 4, Int(data.uint16(0)) + 4 == stated {
                writeFrame(index, direction, data.uint16(2), data.part(4, Int(data.uint16(0))), Int(data.uint16(0)))
                return
            }
            table.links[index].assemblies[way].bytes.removeAll(keepingCapacity: true)
        } else if table.links[index].assemblies[way].received == 0, !table.links[index].assemblies[way].isCut {
            title(continuedTitle)
            out.beginFields()
            // Its beginning is missing: it may be the rest of a key.
            malformed("a continuation without a start", data, isSecret: true)
            out.endFields()
            return
        }
        if table.links[index].assemblies[way].isCut || data.byteCount < stated {
            table.links[index].assemblies[way].isCut = true
            table.links[index].assemblies[way].bytes.removeAll(keepingCapacity: true)
            return writeFragment(stated)
        }
        table.links[index].assemblies[way].received += stated
        let received = table.links[index].assemblies[way].received
        var held = table.links[index].assemblies[way].bytes
        table.links[index].assemblies[way].bytes = []
        unsafe data.withUnsafeBytes { unsafe held.append(contentsOf: $0) }
        let length = received >= 4 ? Int(held[0]) | Int(held[1]) << 8 : Int.max - 4
        if received < length + 4 {
            writeFragment(stated)
            table.links[index].assemblies[way].bytes = held
            return
        }
        table.links[index].assemblies[way].received = 0
        if received == length + 4 {
            let channel = UInt16(held[2]) | UInt16(held[3]) << 8
            writeFrame(index, direction, channel, held.span.bytes.part(4, length), length)
        } else {
            title(continuedTitle)
            out.beginFields()
            malformed("the fragments do not make up a frame", held.span.bytes, isSecret: true)
            out.endFields()
        }
        held.removeAll(keepingCapacity: true)
        table.links[index].assemblies[way].bytes = held
    }

    private var continuedTitle: StaticString {
        facts.kinds.contains(.linkLayer) ? "L2CAP data, continued" : "ACL data, continued"
    }

    private mutating func writeFragment(_ length: Int) {
        title(facts.kinds.contains(.linkLayer) ? "L2CAP fragment" : "ACL fragment")
        out.beginFields()
        writeLength(length)
        out.endFields()
    }

    /// - Parameter stated: the length of the payload; the capture may contain less of it.
    private mutating func writeFrame(
        _ index: Int, _ direction: CaptureDirection, _ channel: UInt16, _ payload: RawSpan, _ stated: Int
    ) {
        facts.kinds.insert(.l2cap)
        if out.isJSON {
            out.buffer.append(",\"cid\":")
            out.buffer.append(decimal: UInt64(channel))
        }
        switch channel {
        case 0x0004: writeATT(index, direction, payload, stated)
        case 0x0006, 0x0007: writePairing(payload, stated)
        case 0x0001, 0x0005: writeSignalling(index, direction, payload, stated)
        default:
            let way = Int(direction.rawValue)
            guard channel >= 0x0040, let place = table.links[index].channels.index(of: channel, way: way) else {
                return writeChannelData(channel, nil, payload, stated)
            }
            let known = table.links[index].channels.channels[place]
            if known.isCreditBased {
                writeCreditBasedFrame(index, place, direction, payload, stated)
            } else if known.isAttributeProtocol {
                writeATT(index, direction, payload, stated, channel: place)
            } else {
                writeChannelData(channel, known.psm, payload, stated)
            }
        }
    }

    private mutating func writeChannelData(_ channel: UInt16, _ psm: UInt16?, _ payload: RawSpan, _ stated: Int) {
        channelTitle(channel, psm)
        out.beginFields()
        if let psm {
            out.begin("PSM", "psm")
            out.number(UInt64(psm))
            out.end()
        }
        writeLength(stated)
        out.begin("Data", "data")
        // An unknown fixed channel may carry keys; the connectionless channel does not.
        channel < 0x0040 && channel != 0x0002 ? out.withheld() : out.bytes(payload)
        out.end()
        out.endFields()
    }

    /// Writes a channel's protocol and identifier into the headline.
    mutating func channelTitle(_ channel: UInt16, _ psm: UInt16?) {
        protocolName("L2CAP")
        if let psm, let name = tables.name(of: UInt64(psm), in: PacketTables.Values.psm) {
            title(name, "", code: UInt64(psm), width: 2)
        } else {
            title("Data")
        }
        if !out.isJSON {
            out.buffer.append(" channel 0x")
            out.buffer.append(hexadecimal: UInt64(channel), digits: 4)
            fieldsOffset = out.buffer.count
        }
    }

    mutating func protocolName(_ name: StaticString) {
        if out.isJSON {
            out.buffer.append(",\"protocol\":\"")
            out.buffer.append(name)
            out.buffer.append(UInt8(ascii: "\""))
        } else {
            out.buffer.append(name)
            out.buffer.append(UInt8(ascii: " "))
        }
    }

    // MARK: SMP

    private mutating func writePairing(_ payload: RawSpan, _ stated: Int) {
        facts.kinds.insert(.smp)
        protocolName("SMP")
        let code = payload.octet(0)
        let place = payload.byteCount >= 1 ? Int(tables.smpCodes[Int(code)]) : -1
        title(place >= 0 ? tables.layouts[place].name : nil, "Unknown PDU", code: UInt64(code), width: 1)
        out.beginFields()
        // Each PDU has a fixed length; with another length no octet has its meaning from the table (Core 5.4, Vol 3,
        // Part H, 3.3).
        if place >= 0, stated == 1 + tables.layouts[place].byteCount {
            writeFields(tables.layouts[place].fields, payload.rest(1), payload.byteCount < stated, isSecret: true)
        } else if place >= 0, stated <= tables.layouts[place].byteCount {
            malformed("it ends within its fields", payload, isSecret: true)
        } else if place >= 0 {
            writeLength(stated)
            out.begin("Octets", "octets")
            out.withheld()
            out.end()
        } else if stated == 0 {
            malformed("the frame is empty", payload)
        } else {
            writeLength(stated)
        }
        out.endFields()
    }

    mutating func writeLength(_ length: Int) {
        out.begin("Length", "length")
        out.number(UInt64(length))
        out.end()
    }
}
