import BLECapture

extension CaptureSummary {
    /// - Returns: `false` if the packet is malformed.
    mutating func countLinkLayer(_ record: borrowing CaptureRecord, _ reading: LinkLayerReading) -> Bool {
        let bytes = record.bytes
        let packet = follower.receive(
            reading, bytes, at: record.timestampMicroseconds, isShortened: record.isShortened)
        linkLayer.packets += 1
        if packet.kind == .malformed { return false }
        if packet.isDamaged {
            linkLayer.damaged += 1
            return true
        }
        switch packet.kind {
        case .advertising: return countAdvertising(bytes, reading, packet)
        case .isochronous:
            linkLayer.isochronous += 1
            return true
        default: break
        }
        linkLayer.data += 1
        guard let place = packet.link else { return true }
        let link = follower.links[place]
        if packet.isRepeated { linkLayer.repeated += 1 }
        if packet.isDeciphered || reading.notes.contains(.isDeciphered) { linkLayer.deciphered += 1 }
        let content = bytes.part(packet.content.lowerBound, packet.content.count)
        switch packet.kind {
        case .empty: linkLayer.empty += 1
        case .encrypted: linkLayer.encrypted += 1
        case .control where !packet.isRepeated:
            if packet.isDeciphered {
                let plain = follower.deciphered
                return countControl(plain.span.bytes, link, isWhole: true)
            }
            return countControl(content, link, isWhole: packet.missing == 0)
        case .data(let isStart) where !packet.isRepeated:
            if packet.isDeciphered {
                let plain = follower.deciphered
                return countAirData(
                    plain.span.bytes, stated: plain.count, isContinuation: !isStart, link, packet.way)
            }
            return countAirData(
                content, stated: content.byteCount + packet.missing, isContinuation: !isStart, link, packet.way)
        default: break
        }
        return true
    }

    private mutating func countControl(_ pdu: RawSpan, _ link: FollowedLink, isWhole: Bool) -> Bool {
        let opcode = pdu.octet(0)
        linkLayer.control += 1
        linkLayer.controlOpcodes[Int(opcode)] += 1
        guard isWhole else { return true }
        connections.control(pdu, link, at: now)
        guard let fields = LinkLayerControlTable.fields(of: opcode) else { return true }
        return pdu.byteCount >= 1 + fields.reduce(0) { $0 + $1.width }
    }

    private mutating func countAdvertising(
        _ bytes: RawSpan, _ reading: LinkLayerReading, _ packet: LinkLayerFollower.Packet
    ) -> Bool {
        let pdu = LinkLayerPDU(packet, reading, bytes)
        linkLayer.advertising += 1
        linkLayer.pdus[Int(pdu.rawValue)] += 1
        if let place = packet.link, !packet.isRepeated {
            forgetAir(follower.links[place])
            connections.connect(follower.links[place], at: now)
        }
        guard packet.missing == 0 else { return true }
        let payload = bytes.part(packet.content.lowerBound, packet.content.count)
        var isConnectable = pdu == .advInd || pdu == .advDirectInd
        switch pdu.addresses {
        case .advertiser, .advertiserAndTarget:
            guard payload.byteCount >= 6 else { return false }
            if pdu == .advDirectInd, payload.byteCount != 12 { return false }
        case .senderAndAdvertiser:
            return payload.byteCount == 12 || packet.link != nil
        case .none where packet.header & 0x0F == 7:
            guard let header = ExtendedAdvertisingHeader(payload) else { return false }
            isConnectable = header.mode == 1
        case .none: return true
        }
        advertisingReportEvents += 1
        switch packet.advertisingData {
        case .joined:
            let joined = follower.joined
            note(joined.span.bytes, isConnectable, reading, packet)
            return AdvertisingDataCheck.isWellFormed(joined.span.bytes)
        case .inRecord(let place):
            let data = bytes.part(place.lowerBound, place.count)
            note(data, isConnectable, reading, packet)
            return AdvertisingDataCheck.isWellFormed(data)
        case .piece, .none:
            note(bytes.part(0, 0), isConnectable, reading, packet)
            return true
        }
    }

    private mutating func note(
        _ data: RawSpan, _ isConnectable: Bool, _ reading: LinkLayerReading,
        _ packet: LinkLayerFollower.Packet
    ) {
        guard let advertiser = packet.advertiser else { return }
        addresses.note(
            advertiser.address, isRandom: advertiser.isRandom, isConnectable: isConnectable, strength: reading.strength,
            data: data)
    }
}
