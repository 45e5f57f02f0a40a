/// Follows what a sniffer captured: advertising, the connections that begin there, and the data on them, in bounded memory.
///
/// It finds out who sends, leaves out what is sent again, and deciphers what it has a key for. L2CAP and what is above it
/// belong to its callers.
public struct LinkLayerFollower: Sendable {
    /// What a packet is.
    public enum Kind: Equatable, Sendable {
        /// A PDU of an advertising channel or of a periodic train.
        case advertising
        /// L2CAP data; `isStart` if a frame begins.
        case data(isStart: Bool)
        /// A PDU of the Link Layer Control Protocol.
        case control
        /// Data without content: there was nothing to send.
        case empty
        /// Data or a control PDU for which there is no key.
        case encrypted
        /// Isochronous data.
        case isochronous
        /// It is shorter than its header says, or too short for one.
        case malformed
    }

    /// A packet, and where its content is.
    public struct Packet: Sendable {
        public var kind: Kind
        /// The first octet of the PDU's header.
        public var header: UInt8 = 0
        /// In `links`; `nil` for advertising, except a PDU that begins a connection.
        public var link: Int?
        /// Who sent data; the central counts as the host. For advertising it has no meaning.
        public var way = CaptureDirection.controllerToHost
        /// Whether it was sent before, and is sent again.
        public var isRepeated = false
        /// Whether its CRC is wrong: nothing of it can be relied on, and it is not followed.
        public var isDamaged = false
        /// Whether its content is in `deciphered`.
        public var isDeciphered = false
        /// The octets of its content, in the record.
        public var content: Range<Int> = 0..<0
        /// Octets of the content that the capture program left out.
        public var missing = 0
        /// Where advertising data is.
        public var advertisingData = AdvertisingData.none
        /// Who advertises, or is scanned or connected to; `nil` where the PDU does not say, nor the one that it goes on with.
        public var advertiser: FollowedLink.Device?
    }

    /// Where the advertising data of a PDU is.
    public enum AdvertisingData: Equatable, Sendable {
        /// It has none.
        case none
        /// All of it is in the record.
        case inRecord(Range<Int>)
        /// A piece of so many octets, and more follow in other PDUs.
        case piece(Int)
        /// The PDU has the last piece; all are in `joined`.
        case joined
    }

    /// The most connections that are followed at once; the one that was silent for longest makes way.
    public static let maximumLinkCount = 256
    /// The most periodic trains that are known.
    static let maximumTrainCount = 64
    /// How many lost packets a key is tried past.
    private static let maximumLostCount: UInt64 = 32
    /// After how many packets in a row that no key opens the keys are given up, until encryption starts again.
    private static let unfitLimit = 24
    static let advertisingAccessAddress: UInt32 = 0x8E89_BED6

    /// The connections that are followed.
    public private(set) var links: [FollowedLink] = []
    /// The content of the last packet that was deciphered.
    public private(set) var deciphered: [UInt8] = []
    /// The advertising data that was put together last.
    public private(set) var joined: [UInt8] = []
    /// How many connections were captured.
    public private(set) var linkCount = 0

    private let keys: LinkLayerKeys?
    private var trains: [(accessAddress: UInt32, crcInit: UInt32)] = []
    private var chains = AdvertisingChains()
    private var clock = 0
    private var lastLink = 0

    /// - Parameter keys: `nil`: what is encrypted stays so.
    public init(keys: LinkLayerKeys? = nil) { self.keys = keys }

    /// The PDU that begins with this octet says who may advertise and connect (Core 5.4, Vol 6, Part B, 2.3).
    enum PDU {
        static let connect: UInt8 = 5
        static let extended: UInt8 = 7
    }

    /// Follows a record of a sniffer.
    /// - Parameters:
    ///   - bytes: access address, PDU and CRC.
    ///   - time: of the record, in microseconds.
    ///   - isShortened: whether the capture program left out the end.
    public mutating func receive(
        _ reading: LinkLayerReading, _ bytes: RawSpan, at time: Int64, isShortened: Bool = false
    ) -> Packet {
        guard bytes.byteCount >= 6 else { return Packet(kind: .malformed) }
        let accessAddress = UInt32(truncatingIfNeeded: bytes.number(0, width: 4))
        let header = bytes.octet(4)
        let length = Int(bytes.octet(5))
        let train = trains.first { $0.accessAddress == accessAddress }
        let isAdvertising =
            accessAddress == Self.advertisingAccessAddress || train != nil || reading.notes.contains(.isAuxiliary)
        let isIsochronous = reading.notes.contains(.isIsochronous)
        // A field for the constant tone extension follows the header of such data.
        let start = !isAdvertising && !isIsochronous && header & 0x20 != 0 ? 7 : 6
        let held = min(length, bytes.byteCount - start)
        var packet = Packet(kind: .malformed, header: header)
        guard held == length || isShortened && held >= 0 else { return packet }
        packet.content = start..<start + held
        packet.missing = length - held
        if isIsochronous {
            packet.kind = .isochronous
            return packet
        }
        let end = start + length
        if isAdvertising {
            packet.kind = .advertising
            packet.isDamaged = isDamaged(reading, bytes, end: end, crcInit: train?.crcInit ?? LinkLayerCRC.advertising)
            if !packet.isDamaged, packet.missing == 0 { followAdvertising(reading, bytes, &packet) }
            return packet
        }
        var known = find(accessAddress)
        packet.isDamaged = isDamaged(reading, bytes, end: end, crcInit: known.flatMap { links[$0].request?.crcInit })
        if known == nil, !packet.isDamaged { known = add(accessAddress, nil) }
        packet.link = known
        guard let index = known else {
            packet.kind = kind(of: header, length)
            packet.way = reading.direction ?? .hostToController
            return packet
        }
        packet.way =
            reading.direction ?? LinkLayerControl.direction(
                of: bytes.part(4, end - 4), isEncrypted: links[index].isEncrypted)
            ?? links[index].guessWay(at: time)
        links[index].lastWay = packet.way
        links[index].lastTime = time
        // Preamble, access address, header, CRC: at 1 Mbit/s.
        links[index].lastDuration = Int64(1 + end + 3) * 8
        packet.kind = kind(of: header, length)
        guard !packet.isDamaged else { return packet }
        noteSequence(bytes, index, &packet)
        if packet.kind == .empty || packet.kind == .malformed { return packet }
        if packet.missing > 0 {
            if links[index].isEncrypted || reading.notes.contains(.isEncrypted) { packet.kind = .encrypted }
            return packet
        }
        decipher(reading, bytes, index, &packet)
        if packet.kind == .control, !packet.isRepeated {
            if packet.isDeciphered {
                let plain = deciphered
                followControl(plain.span.bytes, index, packet.way)
            } else {
                followControl(bytes.part(packet.content.lowerBound, packet.content.count), index, packet.way)
            }
        }
        return packet
    }

    private func kind(of header: UInt8, _ length: Int) -> Kind {
        switch header & 3 {
        case 0: .malformed
        case _ where length == 0: .empty
        case 1: .data(isStart: false)
        case 2: .data(isStart: true)
        default: .control
        }
    }

    /// Whether a packet was received wrong. What a sniffer checked counts; tools that write no CRC write zeros.
    private func isDamaged(_ reading: LinkLayerReading, _ bytes: RawSpan, end: Int, crcInit: UInt32?) -> Bool {
        if reading.notes.contains(.hasValidCRC) { return false }
        if reading.notes.contains(.hasInvalidCRC) { return true }
        guard let crcInit, bytes.byteCount >= end + 3 else { return false }
        let crc = UInt32(truncatingIfNeeded: bytes.number(end, width: 3))
        return crc != 0 && crc != LinkLayerCRC.remainder(of: bytes.part(4, end - 4), start: crcInit)
    }

    /// Whether the same content came before with the same sequence number. Where the packets between were lost, the
    /// number alone does not tell.
    private mutating func noteSequence(_ bytes: RawSpan, _ index: Int, _ packet: inout Packet) {
        let way = Int(packet.way.rawValue)
        let sequence = packet.header >> 3 & 1
        // NESN, SN and MD may change when it is sent again.
        let content = bytes.part(packet.content.lowerBound, packet.content.count)
            .contentHash(seed: UInt64(packet.header & 0xE3))
        packet.isRepeated = links[index].sequences[way] == sequence && links[index].contents[way] == content
        links[index].sequences[way] = sequence
        links[index].contents[way] = content
    }

    // MARK: Advertising

    private mutating func followAdvertising(
        _ reading: LinkLayerReading, _ bytes: RawSpan, _ packet: inout Packet
    ) {
        let payload = bytes.part(packet.content.lowerBound, packet.content.count)
        switch packet.header & 0x0F {
        case let type where type != 3 && type < PDU.extended && type != PDU.connect && payload.byteCount >= 6:
            packet.advertiser = .init(address: payload.number(0, width: 6), isRandom: packet.header & 0x40 != 0)
        case let type where (type == 3 || type == PDU.connect) && payload.byteCount >= 12:
            packet.advertiser = .init(address: payload.number(6, width: 6), isRandom: packet.header & 0x80 != 0)
        default: break
        }
        switch packet.header & 0x0F {
        case PDU.connect where payload.byteCount == 34:
            let request = FollowedLink.Request(
                central: .init(address: payload.number(0, width: 6), isRandom: packet.header & 0x40 != 0),
                peripheral: .init(address: payload.number(6, width: 6), isRandom: packet.header & 0x80 != 0),
                crcInit: UInt32(truncatingIfNeeded: payload.number(16, width: 3)),
                interval: UInt16(truncatingIfNeeded: payload.number(22, width: 2)),
                latency: UInt16(truncatingIfNeeded: payload.number(24, width: 2)),
                timeout: UInt16(truncatingIfNeeded: payload.number(26, width: 2)),
                channels: payload.number(28, width: 5))
            let accessAddress = UInt32(truncatingIfNeeded: payload.number(12, width: 4))
            // Several sniffers on the advertising channels may have captured the same one.
            if let index = find(accessAddress), links[index].request == request, links[index].lastTime == .min {
                packet.isRepeated = true
                packet.link = index
                return
            }
            links.removeAll { $0.accessAddress == accessAddress }
            packet.link = add(accessAddress, request)
        case 0, 2, 4, 6:
            let first = packet.content.lowerBound + 6
            if first <= packet.content.upperBound {
                packet.advertisingData = .inRecord(first..<packet.content.upperBound)
            }
        case PDU.extended:
            guard let header = ExtendedAdvertisingHeader(payload) else {
                packet.kind = .malformed
                return
            }
            packet.advertiser = header.advertiser.map {
                .init(address: payload.number($0, width: 6), isRandom: packet.header & 0x40 != 0)
            }
            packet.advertisingData = chains.join(
                header, payload, at: packet.content.lowerBound, accessAddress: bytes.number(0, width: 4),
                isPrimary: reading.channel.map { $0 >= 37 } ?? false, advertiser: &packet.advertiser, into: &joined)
            guard let train = header.train else { return }
            trains.removeAll { $0.accessAddress == train.accessAddress }
            if trains.count >= Self.maximumTrainCount { trains.removeFirst() }
            trains.append(train)
        default: break
        }
    }

    // MARK: Connections

    private mutating func find(_ accessAddress: UInt32) -> Int? {
        if lastLink < links.count, links[lastLink].accessAddress == accessAddress { return lastLink }
        guard let index = links.firstIndex(where: { $0.accessAddress == accessAddress }) else { return nil }
        clock += 1
        links[index].lastUse = clock
        lastLink = index
        return index
    }

    private mutating func add(_ accessAddress: UInt32, _ request: FollowedLink.Request?) -> Int {
        if links.count >= Self.maximumLinkCount,
            let oldest = links.indices.min(by: { links[$0].lastUse < links[$1].lastUse })
        {
            links.remove(at: oldest)
        }
        clock += 1
        linkCount += 1
        var link = FollowedLink(accessAddress: accessAddress, number: linkCount, request: request)
        link.lastUse = clock
        links.append(link)
        lastLink = links.count - 1
        return lastLink
    }

    private mutating func followControl(_ pdu: RawSpan, _ index: Int, _ way: CaptureDirection) {
        let isCentral = way == .hostToController
        switch (pdu.octet(0), pdu.byteCount) {
        case (LinkLayerControl.terminate, 2): links[index].isOver = true
        case (LinkLayerControl.encryptionRequest, 23) where isCentral:
            // Rand and EDIV, which only tell the peripheral which key is meant, then SKD and IV.
            links[index].diversifiers[0] = pdu.part(11, 8).copied()
            links[index].vectors[0] = pdu.part(19, 4).copied()
            links[index].diversifiers[1] = []
            links[index].encryption = .off
        case (LinkLayerControl.encryptionResponse, 13) where !isCentral && !links[index].diversifiers[0].isEmpty:
            links[index].diversifiers[1] = pdu.part(1, 8).copied()
            links[index].vectors[1] = pdu.part(9, 4).copied()
            prepareKeys(index)
            links[index].encryption = .announced
        case (LinkLayerControl.startEncryptionRequest, 1) where !isCentral: startEncryption(index)
        // The last one before data goes in the clear again.
        case (LinkLayerControl.pauseEncryptionResponse, 1) where isCentral: links[index].encryption = .off
        default: break
        }
    }

    private mutating func startEncryption(_ index: Int) {
        links[index].encryption = .on
        links[index].counters = [0, 0]
    }

    // MARK: Encryption

    /// The keys of a session (Core 5.4, Vol 6, Part B, 5.1.3.1).
    private mutating func prepareKeys(_ index: Int) {
        guard let keys else { return }
        let diversifier = links[index].diversifiers[0] + links[index].diversifiers[1]
        links[index].sessionKeys = keys.keys.compactMap { keys.encrypt($0, diversifier.reversed()) }
        links[index].unfitCount = 0
        links[index].counters = [0, 0]
    }

    private mutating func decipher(
        _ reading: LinkLayerReading, _ bytes: RawSpan, _ index: Int, _ packet: inout Packet
    ) {
        let payload = bytes.part(packet.content.lowerBound, packet.content.count)
        if reading.notes.contains(.isDeciphered) { return removeCode(payload, &packet) }
        let isControl = packet.kind == .control
        switch links[index].encryption {
        case .off:
            if reading.notes.contains(.isEncrypted) { packet.kind = .encrypted }
            return
        case .announced:
            // LL_START_ENC_REQ may be missing; its answer is encrypted, and nothing else of its length comes here.
            guard isControl && payload.byteCount == 5 else { return }
            startEncryption(index)
        case .on:
            let opcode = payload.octet(0)
            // Nothing that is encrypted is so short; a new start is in the clear.
            if isControl, payload.byteCount == 1, opcode == LinkLayerControl.pauseEncryptionResponse { return }
            if isControl, payload.byteCount == 23, opcode == LinkLayerControl.encryptionRequest,
                packet.way == .hostToController
            {
                return
            }
            // LL_START_ENC_REQ, sent again.
            if isControl, payload.byteCount == 1, opcode == LinkLayerControl.startEncryptionRequest { return }
            // A tool has deciphered the capture, and left no note of it.
            if isClear(payload, packet) {
                links[index].encryption = .off
                return
            }
        }
        guard open(payload, index, packet) else {
            packet.kind = .encrypted
            return
        }
        packet.isDeciphered = true
    }

    /// Whether it is what encrypted octets cannot be, or only once in a long while: LL_START_ENC_RSP without a code, or a
    /// whole frame on a fixed channel.
    private func isClear(_ payload: RawSpan, _ packet: Packet) -> Bool {
        switch packet.kind {
        case .control: payload.byteCount == 1 && payload.octet(0) == LinkLayerControl.startEncryptionResponse
        case .data(isStart: true):
            Int(payload.number(0, width: 2)) + 4 == payload.byteCount && (4...6).contains(payload.number(2, width: 2))
        default: false
        }
    }

    /// Some sniffers leave the code behind what they have deciphered.
    private mutating func removeCode(_ payload: RawSpan, _ packet: inout Packet) {
        guard case .data(isStart: true) = packet.kind, payload.byteCount >= 8 else { return }
        if Int(payload.number(0, width: 2)) + 4 == payload.byteCount - 4 {
            packet.content = packet.content.lowerBound..<packet.content.upperBound - 4
        }
    }

    /// Deciphers with AES-CCM (Core 5.4, Vol 6, Part E, 1 and 2.1). Packets may have been lost: their count is found by
    /// the code.
    private mutating func open(_ payload: RawSpan, _ index: Int, _ packet: Packet) -> Bool {
        guard let keys, payload.byteCount >= 5, !links[index].sessionKeys.isEmpty else { return false }
        let way = Int(packet.way.rawValue)
        let text = payload.part(0, payload.byteCount - 4).copied()
        let code = payload.part(payload.byteCount - 4, 4).copied()
        let vector = links[index].vectors[0] + links[index].vectors[1]
        let first = links[index].counters[way]
        // What is sent again has the count that it had before.
        let start = packet.isRepeated && first > 0 ? first - 1 : first
        for count in start...start + Self.maximumLostCount {
            var nonce = (0..<5).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
            nonce[4] = nonce[4] & 0x7F | (packet.way == .hostToController ? 0x80 : 0)
            for (place, key) in links[index].sessionKeys.enumerated() {
                guard let plain = keys.open(text, key, nonce + vector, [packet.header & 0xE3], code) else { continue }
                if place > 0 || links[index].sessionKeys.count > 1 { links[index].sessionKeys = [key] }
                links[index].counters[way] = max(first, count + 1)
                links[index].unfitCount = 0
                deciphered = plain
                return true
            }
        }
        links[index].unfitCount += 1
        // Each try costs; keys that have not fitted for so long do not fit any more.
        if links[index].unfitCount == Self.unfitLimit { links[index].sessionKeys = [] }
        return false
    }
}
