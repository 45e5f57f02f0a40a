import BLECapture

extension CaptureDecoder {
    /// Writes a packet that a sniffer received.
    mutating func writeLinkLayer(_ record: borrowing CaptureRecord, _ reading: LinkLayerReading) {
        let bytes = record.bytes
        let packet = follower.receive(
            reading, bytes, at: record.timestampMicroseconds, isShortened: record.isShortened)
        facts.kinds = .linkLayer
        switch packet.kind {
        case .advertising where !packet.isDamaged: writeAdvertising(record, reading, packet)
        case .isochronous:
            beginAir(record, reading.direction, .data)
            title("Isochronous data")
            out.beginFields()
            writeRadio(reading)
            writeLength(packet.content.count)
            out.endFields()
        case .malformed:
            beginAir(record, reading.direction, .bad)
            title("Packet of the link layer")
            out.beginFields()
            writeRadio(reading)
            malformed("it is shorter than its header says", bytes, isSecret: true)
            out.endFields()
        default: writeData(record, reading, packet)
        }
    }

    private mutating func beginAir(
        _ record: borrowing CaptureRecord, _ direction: CaptureDirection?, _ colour: DecodedOutput.Colour
    ) {
        facts.isFromHost = direction.map { $0 == .hostToController }
        begin(record, direction, "ll", "ll     ", colour)
    }

    /// The channel, the signal and the PHY, as far as the sniffer says.
    private mutating func writeRadio(_ reading: LinkLayerReading) {
        if let channel = reading.channel {
            out.begin("Channel", "channel")
            out.number(UInt64(channel))
            out.end()
        }
        if let strength = reading.strength {
            out.begin("RSSI", "rssi")
            out.signed(Int64(strength))
            if !out.isJSON { out.buffer.append(" dBm") }
            out.end()
        }
        let phy: StaticString
        switch reading.phy {
        case 2: phy = "2M"
        case 3: phy = "Coded"
        default: return
        }
        out.begin("PHY", "phy")
        out.word(phy)
        out.end()
    }

    // MARK: Advertising

    private mutating func writeAdvertising(
        _ record: borrowing CaptureRecord, _ reading: LinkLayerReading, _ packet: LinkLayerFollower.Packet
    ) {
        let bytes = record.bytes
        let pdu = LinkLayerPDU(packet, reading, bytes)
        let payload = bytes.part(packet.content.lowerBound, packet.content.count)
        if pdu.isReport { facts.kinds.insert(.advertising) }
        beginAir(record, pdu.addresses == .senderAndAdvertiser ? .hostToController : .controllerToHost, .event)
        title(pdu.name, code: packet.header & 0x0F)
        if let advertiser = packet.advertiser {
            facts.record(address: advertiser.address)
            if !out.isJSON {
                out.buffer.append(UInt8(ascii: " "))
                out.buffer.append(address: advertiser.address)
                fieldsOffset = out.buffer.count
            }
        }
        if let index = packet.link, !packet.isRepeated { open(index) }
        out.beginFields()
        writeRadio(reading)
        var isWhole = true
        switch pdu.addresses {
        case .advertiser where payload.byteCount >= 6: writeAddress(payload, 0, packet.header & 0x40 != 0, .advertiser)
        case .advertiserAndTarget where payload.byteCount == 12:
            writeAddress(payload, 0, packet.header & 0x40 != 0, .advertiser)
            writeAddress(payload, 6, packet.header & 0x80 != 0, .target)
        case .senderAndAdvertiser where payload.byteCount >= 12:
            writeAddress(payload, 6, packet.header & 0x80 != 0, .advertiser)
            writeAddress(payload, 0, packet.header & 0x40 != 0, .sender)
            if let index = packet.link { writeRequest(follower.links[index]) }
            isWhole = payload.byteCount == 12 || packet.link != nil
        case .none where packet.header & 0x0F == 7 || packet.header & 0x0F == 8:
            if let header = ExtendedAdvertisingHeader(payload) {
                writeExtended(header, payload, packet.header)
            } else {
                isWhole = false
            }
        case .none: writeLength(payload.byteCount)
        default: isWhole = false
        }
        switch packet.advertisingData {
        case .inRecord(let place):
            isWhole = out.writeAdvertisingData(bytes.part(place.lowerBound, place.count)) && isWhole
        case .joined:
            let joined = follower.joined
            isWhole = out.writeAdvertisingData(joined.span.bytes) && isWhole
        case .piece(let count):
            out.begin("Piece of data", "pieceOctets")
            out.number(UInt64(count))
            out.end()
        case .none: break
        }
        if packet.missing > 0 {
            writeMissing(packet)
        } else if !isWhole {
            malformed("its content is not that of its type", payload)
        }
        out.endFields()
    }

    private enum Role {
        case advertiser, target, sender
    }

    private mutating func writeAddress(_ payload: RawSpan, _ place: Int, _ isRandom: Bool, _ role: Role) {
        let address = payload.integer(place, width: 6)
        facts.record(address: address)
        switch role {
        case .advertiser: out.begin("Address", "address")
        case .target: out.begin("Target", "target")
        case .sender: out.begin("From", "from")
        }
        out.address(address)
        out.end()
        switch role {
        case .advertiser: out.begin("Address Type", "addressType")
        case .target: out.begin("Type of target", "targetType")
        case .sender: out.begin("Type of sender", "fromType")
        }
        out.word(isRandom ? "random" : "public")
        out.end()
    }

    private mutating func writeRequest(_ link: FollowedLink) {
        guard let request = link.request else { return }
        out.begin("Access Address", "accessAddress")
        out.hexadecimal(UInt64(link.accessAddress), width: 4)
        out.end()
        out.begin("CRC Init", "crcInit")
        out.hexadecimal(UInt64(request.crcInit), width: 3)
        out.end()
        out.begin("Interval", "interval")
        out.milliseconds(microseconds: UInt64(request.interval) * 1250)
        out.end()
        out.begin("Latency", "latency")
        out.number(UInt64(request.latency))
        out.end()
        out.begin("Timeout", "timeout")
        out.milliseconds(microseconds: UInt64(request.timeout) * 10_000)
        out.end()
        out.begin("Channel Map", "channelMap")
        out.hexadecimal(request.channels & 0x1F_FFFF_FFFF, width: 5)
        out.end()
    }

    private mutating func writeExtended(_ header: ExtendedAdvertisingHeader, _ payload: RawSpan, _ flags: UInt8) {
        if let place = header.advertiser { writeAddress(payload, place, flags & 0x40 != 0, .advertiser) }
        if let place = header.target { writeAddress(payload, place, flags & 0x80 != 0, .target) }
        if let place = header.dataIdentifier {
            out.begin("Advertising Set", "sid")
            out.number(UInt64(payload.uint16(place) >> 12))
            out.end()
            out.begin("Data Identifier", "did")
            out.number(UInt64(payload.uint16(place) & 0x0FFF))
            out.end()
        }
        if let place = header.pointer {
            out.begin("Next on channel", "auxChannel")
            out.number(UInt64(payload.octet(place) & 0x3F))
            out.end()
            out.begin("Next after", "auxOffset")
            let unit: UInt64 = payload.octet(place) & 0x80 != 0 ? 300 : 30
            out.milliseconds(microseconds: UInt64(payload.uint16(place + 1) & 0x1FFF) * unit)
            out.end()
        }
        if let place = header.synchronization {
            out.begin("Periodic interval", "periodicInterval")
            out.milliseconds(microseconds: UInt64(payload.uint16(place + 2)) * 1250)
            out.end()
            out.begin("Access Address", "accessAddress")
            out.hexadecimal(payload.integer(place + 9, width: 4), width: 4)
            out.end()
        }
        if let place = header.power {
            out.begin("TX Power", "txPower")
            out.signed(Int64(Int8(bitPattern: payload.octet(place))))
            if !out.isJSON { out.buffer.append(" dBm") }
            out.end()
        }
    }

    // MARK: Data

    private mutating func open(_ index: Int) {
        let link = follower.links[index]
        guard let request = link.request else { return }
        let place = table.open(
            adapter: AdapterIndexes.air, handle: link.handle, address: request.peripheral.address,
            isRandom: request.peripheral.isRandom)
        facts.connection = table.links[place].number
        facts.record(address: request.central.address)
        facts.record(address: request.peripheral.address)
    }

    private mutating func writeData(
        _ record: borrowing CaptureRecord, _ reading: LinkLayerReading, _ packet: LinkLayerFollower.Packet
    ) {
        let way = packet.way
        if case .data = packet.kind { facts.kinds.insert(.acl) }
        beginAir(record, way, packet.isDamaged ? .bad : .data)
        var index: Int?
        if let place = packet.link {
            let link = follower.links[place]
            index = table.index(adapter: AdapterIndexes.air, handle: link.handle)
            if let central = link.request?.central.address { facts.record(address: central) }
        }
        writeAccessAddress(record.bytes.integer(0, width: 4), index)
        guard !packet.isDamaged, let index else {
            return writePlain("Damaged packet", reading, packet, isDamaged: true)
        }
        switch packet.kind {
        case .empty: writePlain("Empty PDU", reading, packet)
        case .encrypted: writePlain("Encrypted PDU", reading, packet)
        case .control:
            if packet.isDeciphered {
                let plain = follower.deciphered
                writeControl(plain.span.bytes, reading, packet)
            } else {
                writeControl(record.bytes.part(packet.content.lowerBound, packet.content.count), reading, packet)
            }
        case .data where packet.isRepeated: writePlain("L2CAP data, sent again", reading, packet)
        case .data(let isStart):
            if packet.isDeciphered {
                let plain = follower.deciphered
                assemble(index, way, plain.span.bytes, stated: plain.count, isContinuation: !isStart)
            } else {
                assemble(
                    index, way, record.bytes.part(packet.content.lowerBound, packet.content.count),
                    stated: packet.content.count + packet.missing, isContinuation: !isStart)
            }
        default: writePlain("PDU of unknown kind", reading, packet)
        }
    }

    /// The connection, in the headline.
    private mutating func writeAccessAddress(_ accessAddress: UInt64, _ index: Int?) {
        if out.isJSON {
            out.buffer.append(",\"accessAddress\":\"0x")
            out.buffer.append(hexadecimal: accessAddress, digits: 8)
            out.buffer.append(UInt8(ascii: "\""))
        } else {
            out.buffer.append("0x")
            out.buffer.append(hexadecimal: accessAddress, digits: 8)
            out.buffer.append(UInt8(ascii: " "))
        }
        guard let index else { return }
        facts.connection = table.links[index].number
        writeAddress(of: index)
    }

    private mutating func writePlain(
        _ name: StaticString, _ reading: LinkLayerReading, _ packet: LinkLayerFollower.Packet, isDamaged: Bool = false
    ) {
        title(name)
        out.beginFields()
        if packet.kind != .empty || isDamaged {
            writeRadio(reading)
            writeLength(packet.content.count + packet.missing)
        }
        if isDamaged {
            out.begin("CRC", "crc")
            out.word("wrong")
            out.end()
        }
        out.endFields()
    }

    private mutating func writeControl(
        _ pdu: RawSpan, _ reading: LinkLayerReading, _ packet: LinkLayerFollower.Packet
    ) {
        let opcode = pdu.octet(0)
        title(LinkLayerControlTable.name(of: opcode) ?? "Unknown control PDU", code: opcode)
        out.beginFields()
        if packet.isRepeated {
            out.begin("Sent again", "isRepeated")
            out.isJSON ? out.buffer.append("true") : out.buffer.append("yes")
            out.end()
        }
        let fields = LinkLayerControlTable.fields(of: opcode)
        var position = 1
        for field in fields ?? [] where position + field.width <= pdu.byteCount {
            write(field, pdu, at: position)
            position += field.width
        }
        if packet.missing > 0 {
            writeMissing(packet)
        } else if let fields, 1 + fields.reduce(0, { $0 + $1.width }) > pdu.byteCount {
            malformed("it ends within its fields", pdu)
        } else if fields == nil {
            writeLength(pdu.byteCount)
        }
        out.endFields()
    }

    private mutating func write(_ field: LinkLayerControlTable.Field, _ pdu: RawSpan, at position: Int) {
        let value = field.width <= 8 ? pdu.integer(position, width: field.width) : 0
        out.begin(field.name, field.key)
        switch field.kind {
        case .number: out.number(value)
        case .hexadecimal: out.hexadecimal(value, width: field.width)
        case .octets: out.bytes(pdu.part(position, field.width))
        case .time(let unit): out.milliseconds(microseconds: value * unit)
        case .signed: out.signed(Int64(Int8(truncatingIfNeeded: value)))
        case .error:
            let name = tables.name(of: value, in: PacketTables.Values.status)
            if out.isJSON {
                out.number(value)
            } else {
                if let name { unsafe out.buffer.append(name.utf8) }
                out.buffer.append(name == nil ? "0x" : " (0x")
                out.buffer.append(hexadecimal: value, digits: 2)
                if name != nil { out.buffer.append(UInt8(ascii: ")")) }
            }
        }
        out.end()
    }

    private mutating func writeMissing(_ packet: LinkLayerFollower.Packet) {
        out.begin("Not captured", "missing")
        out.number(UInt64(packet.missing))
        out.end()
    }
}

extension AdapterIndexes {
    /// The index of what sniffers hear, beside those of adapters.
    static let air = maximumCount
}
