import BLECapture

/// The signalling channels (Core 5.4, Vol 3, Part A, 4), and the frames of the channels that they open.
extension CaptureDecoder {
    mutating func writeSignalling(
        _ index: Int, _ direction: CaptureDirection, _ payload: RawSpan, _ stated: Int
    ) {
        facts.kinds.insert(.signalling)
        protocolName("L2CAP")
        let first = Int(tables.signallingCodes[Int(payload.octet(0))])
        title(
            payload.byteCount >= 4 && first >= 0 ? tables.layouts[first].name : nil, "Signalling",
            code: UInt64(payload.octet(0)), width: 1)
        out.beginFields()
        defer { out.endFields() }
        // Several commands may share a frame on BR/EDR.
        out.beginGroups("commands")
        var position = 0
        while payload.byteCount - position >= 4 {
            let code = payload.octet(position)
            let count = Int(payload.uint16(position + 2))
            let parameters = payload.part(position + 4, count)
            let place = Int(tables.signallingCodes[Int(code)])
            out.beginGroup(isPlain: true)
            if position > 0 || out.isJSON {
                out.begin("Command", "name")
                if place < 0 {
                    out.word("Unknown Command")
                } else if out.isJSON {
                    out.quoted(tables.layouts[place].name)
                } else {
                    unsafe out.buffer.append(tables.layouts[place].name.utf8)
                }
                out.end()
            }
            out.begin("Identifier", "identifier")
            out.number(UInt64(payload.octet(position + 1)))
            out.end()
            if place >= 0 {
                writeFields(tables.layouts[place].fields, parameters, payload.byteCount < stated, isSecret: false)
                if code == 0x0B { writeInformation(parameters) }
                let hasChanged = table.links[index].channels.follow(
                    code, identifier: payload.octet(position + 1), parameters, way: Int(direction.rawValue))
                if hasChanged { table.links[index].channelsChanged() }
            } else {
                writeRest(parameters, payload.byteCount < stated)
            }
            out.endGroup(isPlain: true)
            if parameters.byteCount < count { break }
            position += 4 + count
        }
        out.endGroups()
        if payload.byteCount != position || position == 0, payload.byteCount == stated {
            malformed("it ends within a command", payload)
        }
    }

    /// Writes the bits of an Information Response, whose meaning depends on its type.
    private mutating func writeInformation(_ parameters: RawSpan) {
        guard parameters.uint16(2) == 0 else { return }
        let table: Int
        switch parameters.uint16(0) {
        case 2 where parameters.byteCount >= 8: table = PacketTables.Values.l2features
        case 3 where parameters.byteCount >= 12: table = PacketTables.Values.l2channels
        default: return
        }
        out.begin("Names", "names")
        out.bits(parameters.part(4, 8), in: table, tables)
        out.end()
    }

    // MARK: Credit-based channels

    /// Writes a frame of a credit-based channel; with the last frame of an SDU, the whole SDU.
    mutating func writeCreditBasedFrame(
        _ index: Int, _ place: Int, _ direction: CaptureDirection, _ payload: RawSpan, _ stated: Int
    ) {
        let way = Int(direction.rawValue)
        let piece = table.links[index].channels.receive(
            place, way: way, statedLength: payload.byteCount >= 2 ? Int(payload.uint16(0)) : nil, count: stated)
        let channel = table.links[index].channels.channels[place]
        switch piece {
        case .unit: writeUnit(index, place, direction, payload.rest(2), stated - 2)
        case .beginning(let length):
            table.links[index].gather(
                payload.rest(2), on: place, way: way, isFirst: true, isWhole: payload.byteCount == stated)
            writePiece(channel, way, "Start of a unit", length, payload)
        case .middle:
            table.links[index].gather(
                payload, on: place, way: way, isFirst: false, isWhole: payload.byteCount == stated)
            writePiece(channel, way, "Part of a unit", nil, payload)
        case .end:
            table.links[index].gather(
                payload, on: place, way: way, isFirst: false, isWhole: payload.byteCount == stated)
            let unit = table.links[index].removeUnit(on: place, way: way)
            // Fewer octets may have been kept, because there was no room or the capture cut it off.
            let length = channel.unitCounts[way]
            writeUnit(index, place, direction, unit.span.bytes, length)
        case .malformed:
            _ = table.links[index].removeUnit(on: place, way: way)
            channelTitle(channel.identifiers[way], channel.psm)
            out.beginFields()
            writeCredits(channel, way)
            malformed("the frames do not make up a unit", payload)
            out.endFields()
        }
    }

    private mutating func writeUnit(
        _ index: Int, _ place: Int, _ direction: CaptureDirection, _ unit: RawSpan, _ length: Int
    ) {
        let channel = table.links[index].channels.channels[place]
        if channel.isAttributeProtocol { return writeATT(index, direction, unit, length, channel: place) }
        let way = Int(direction.rawValue)
        channelTitle(channel.identifiers[way], channel.psm)
        out.beginFields()
        writeCredits(channel, way)
        out.begin("SDU length", "sduLength")
        out.number(UInt64(max(0, length)))
        out.end()
        out.begin("Data", "data")
        out.bytes(unit)
        out.end()
        out.endFields()
    }

    private mutating func writePiece(
        _ channel: ChannelTable.Channel, _ way: Int, _ name: StaticString, _ length: Int?, _ payload: RawSpan
    ) {
        channelTitle(channel.identifiers[way], channel.psm)
        out.beginFields()
        writeCredits(channel, way)
        out.begin("Piece", "piece")
        out.word(name)
        out.end()
        out.begin("SDU length", "sduLength")
        out.number(UInt64(max(0, length ?? channel.unitLengths[way])))
        out.end()
        out.begin("SDU octets so far", "sduReceived")
        out.number(UInt64(max(0, channel.unitCounts[way])))
        out.end()
        out.endFields()
    }

    /// Writes the channel of a PDU that is not on the fixed channel, and its credits, if any.
    mutating func writeBearer(_ index: Int, _ place: Int?, _ way: Int) {
        guard let place else { return }
        let channel = table.links[index].channels.channels[place]
        if !out.isJSON {
            out.begin("Bearer", "bearer")
            out.buffer.append("channel ")
            out.hexadecimal(UInt64(channel.identifiers[way]), width: 2)
            out.end()
        }
        if channel.isCreditBased { writeCredits(channel, way) }
    }

    /// Writes the channel's service, and how many frames may follow before new credits.
    private mutating func writeCredits(_ channel: ChannelTable.Channel, _ way: Int) {
        out.begin("SPSM", "psm")
        if out.isJSON { out.number(UInt64(channel.psm)) } else { out.hexadecimal(UInt64(channel.psm), width: 2) }
        out.end()
        out.begin("Credits left", "creditsLeft")
        out.signed(Int64(channel.credits[way]))
        out.end()
    }
}
