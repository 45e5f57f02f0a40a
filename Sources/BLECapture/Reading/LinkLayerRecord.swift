/// A record of a sniffer: its header, and where the packet of the link layer is.
struct LinkLayerRecord {
    var reading = LinkLayerReading()
    /// Octets before the access address.
    var headerByteCount = 0
    /// Whether an octet with the coding indicator follows the access address (Core 5.4, Vol 6, Part B, 2.2.3).
    var hasCodingIndicator = false

    /// - Returns: `nil` if the record ends within its header, or its header is not one of the link type.
    init?(_ link: LinkType, in buffer: borrowing InputBuffer, at position: Int, count: Int) {
        switch link {
        case .linkLayer: self.init()
        case .linkLayerWithRadio: self.init(radioHeader: buffer, at: position)
        case .nordicSniffer: self.init(nordic: buffer, at: position, count: count)
        case .perPacketInformation: self.init(perPacketInformation: buffer, at: position)
        default: return nil
        }
        guard headerByteCount <= count else { return nil }
    }

    private init() {}

    /// RF channel, signal, noise, offences of the access address, the access address that was looked for (32 bits), flags
    /// (16 bits): the header of link type 256.
    private init(radioHeader buffer: borrowing InputBuffer, at position: Int) {
        headerByteCount = 10
        let flags: UInt16 = buffer.load(at: position + 8, bigEndian: false)
        let strength: UInt8 = buffer.load(at: position + 1, bigEndian: false)
        var notes: LinkLayerReading.Notes = []
        if flags & 0x0400 != 0 { notes.insert(flags & 0x0800 != 0 ? .hasValidCRC : .hasInvalidCRC) }
        if flags & 0x0008 != 0 { notes.insert(.isDeciphered) }
        switch flags >> 7 & 7 {
        case 1:
            notes.insert(.isAuxiliary)
            // The bits of the MIC say here which auxiliary PDU it is.
            switch flags >> 12 & 3 {
            case 1: notes.insert(.isChained)
            case 2: notes.insert(.isPeriodic)
            case 3: notes.insert(.isScanResponse)
            default: break
            }
        case 2: notes.insert(.fromCentral)
        case 3: notes.insert(.fromPeripheral)
        case 4, 5: notes.insert(.isIsochronous)
        default: break
        }
        if flags >> 7 & 7 != 1, flags & 0x3000 == 0x1000 { notes.insert(.isEncrypted) }
        let phy = UInt8(truncatingIfNeeded: flags >> 14)
        hasCodingIndicator = phy == 2
        reading = LinkLayerReading(
            channel: Self.index(ofRFChannel: buffer.load(at: position, bigEndian: false)),
            strength: flags & 0x0002 != 0 ? Int8(bitPattern: strength) : nil, phy: phy < 3 ? phy + 1 : 0, notes: notes)
    }

    /// A board number, then one of two headers: six octets of the serial line, ten of the packet. The oldest firmware has 17
    /// octets, which begin with 0xBEEF.
    private init(nordic buffer: borrowing InputBuffer, at position: Int, count: Int) {
        func octet(_ place: Int) -> UInt8 { buffer.load(at: position + place, bigEndian: false) }
        let isOldest = octet(0) == 0xBE && octet(1) == 0xEF
        headerByteCount = 17
        let flags = octet(8)
        var notes: LinkLayerReading.Notes = [flags & 1 != 0 ? .hasValidCRC : .hasInvalidCRC]
        // From version 3 of the protocol on, the kind of a packet says which of its flags mean what.
        let isAdvertising = !isOldest && octet(3) >= 3 && octet(6) == 0x02
        if isAdvertising {
            switch flags >> 1 & 3 {
            case 1: notes.insert([.isAuxiliary, .isChained])
            case 2: notes.insert([.isAuxiliary, .isPeriodic])
            case 3: notes.insert([.isAuxiliary, .isScanResponse])
            default: break
            }
        } else {
            notes.insert(flags & 2 != 0 ? .fromCentral : .fromPeripheral)
            if flags & 4 != 0 { notes.insert(flags & 8 != 0 ? .isDeciphered : .isEncrypted) }
        }
        let phy = isOldest ? 0 : flags >> 4 & 7
        hasCodingIndicator = phy == 2
        reading = LinkLayerReading(
            channel: octet(9), strength: Int8(clamping: -Int(octet(10))), phy: phy < 3 ? phy + 1 : 0,
            notes: notes)
    }

    /// PPI: version, flags, length (16 bits) and link type (32) of what follows, then fields. Ubertooth writes so.
    private init(perPacketInformation buffer: borrowing InputBuffer, at position: Int) {
        let length: UInt16 = buffer.load(at: position + 2, bigEndian: false)
        headerByteCount = max(8, Int(length))
        var field = position + 8
        let end = position + headerByteCount
        while field + 4 <= end {
            let type: UInt16 = buffer.load(at: field, bigEndian: false)
            let count: UInt16 = buffer.load(at: field + 2, bigEndian: false)
            // Version, channel as its frequency in MHz, times, and the least and greatest signal.
            if type == Self.ubertoothField, count >= 15 {
                let frequency: UInt16 = buffer.load(at: field + 5, bigEndian: false)
                let strength: UInt8 = buffer.load(at: field + 15, bigEndian: false)
                reading = LinkLayerReading(
                    channel: frequency >= 2402 ? Self.index(ofRFChannel: UInt8(clamping: (frequency - 2402) / 2)) : nil,
                    strength: Int8(bitPattern: strength), phy: 1)
            }
            field += 4 + Int(count)
        }
    }

    private static let ubertoothField: UInt16 = 30006

    /// What PPI says to follow: packets of the link layer under their own number, or a private one that Ubertooth had
    /// before.
    static func isLinkLayer(behindInformation buffer: borrowing InputBuffer, at position: Int) -> Bool {
        let link: UInt32 = buffer.load(at: position + 4, bigEndian: false)
        return link == LinkType.linkLayer.rawValue || link == 147
    }

    /// The channel index of an RF channel (Core 5.4, Vol 6, Part B, 1.4.1).
    private static func index(ofRFChannel channel: UInt8) -> UInt8? {
        switch channel {
        case 0: 37
        case 1...11: channel - 1
        case 12: 38
        case 13...38: channel - 2
        case 39: 39
        default: nil
        }
    }
}

extension CaptureReader {
    /// A packet of a sniffer; `nil` if PPI carries another kind.
    mutating func readLinkLayer(
        _ link: LinkType, at position: Int, count: Int, originalByteCount: Int, timestampMicroseconds: Int64,
        adapter: UInt16, recordByteCount: Int
    ) throws(CaptureError) -> FoundRecord? {
        if link == .perPacketInformation, !LinkLayerRecord.isLinkLayer(behindInformation: buffer, at: position) {
            buffer.consume(recordByteCount)
            foreignRecordCount += 1
            return nil
        }
        guard let record = LinkLayerRecord(link, in: buffer, at: position, count: count) else {
            let error = failure(.invalidLength(UInt64(count)), isFinal: false)
            buffer.consume(recordByteCount)
            throw error
        }
        var start = position + record.headerByteCount
        var left = originalByteCount - record.headerByteCount
        if record.hasCodingIndicator, count - record.headerByteCount > 4 {
            // The access address moves over the indicator.
            for place in (0..<4).reversed() {
                buffer.overwrite(buffer.load(at: start + place, bigEndian: false), at: start + place + 1)
            }
            start += 1
            left -= 1
        }
        return readRecord(
            .linkLayer(record.reading), at: start, count: position + count - start, originalByteCount: left,
            timestampMicroseconds: timestampMicroseconds, adapter: adapter, recordByteCount: recordByteCount)
    }
}
