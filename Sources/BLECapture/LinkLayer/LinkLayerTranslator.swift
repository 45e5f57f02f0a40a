/// Makes of what a sniffer captured what would have crossed HCI of the central: advertising reports, connections that begin and
/// end, and their data. What tools know only from HCI can then be used: formats, and a capture as a device.
///
/// Damaged packets, those that are sent again, control PDUs other than the end, and what is encrypted without a key have no
/// such packets.
public struct LinkLayerTranslator: Sendable {
    /// An H4 packet and the direction in which it would have crossed HCI.
    public struct Packet: Equatable, Sendable {
        public var bytes: [UInt8]
        public var direction: CaptureDirection
    }

    /// The most octets of data in an extended advertising report (Core 5.4, Vol 4, Part E, 7.7.65.13).
    private static let reportDataByteCount = 229

    private var follower: LinkLayerFollower

    /// - Parameter keys: `nil`: what is encrypted is left out.
    public init(keys: LinkLayerKeys? = nil) { follower = LinkLayerFollower(keys: keys) }

    /// The packets of a record; none for other records than those of sniffers.
    public mutating func packets(of record: borrowing CaptureRecord) -> [Packet] {
        guard case .linkLayer(let reading) = record.content else { return [] }
        let bytes = record.bytes
        let packet = follower.receive(
            reading, bytes, at: record.timestampMicroseconds, isShortened: record.isShortened)
        guard !packet.isDamaged, !packet.isRepeated, packet.missing == 0 else { return [] }
        let content = bytes.part(packet.content.lowerBound, packet.content.count)
        switch packet.kind {
        case .advertising:
            if let place = packet.link { return connection(follower.links[place]) }
            return reports(packet, reading, bytes, content)
        case .data(let isStart):
            guard let place = packet.link else { return [] }
            let data = packet.isDeciphered ? follower.deciphered : content.copied()
            // Hosts begin a frame with 0, controllers with 2; 1 goes on with it.
            let isSent = packet.way == .hostToController
            let flags: UInt16 = isStart ? (isSent ? 0 : 2) : 1
            let head = Self.octets(follower.links[place].handle | flags << 12) + Self.octets(UInt16(data.count))
            return [Packet(bytes: [0x02] + head + data, direction: packet.way)]
        case .control:
            guard let place = packet.link else { return [] }
            let pdu = packet.isDeciphered ? follower.deciphered : content.copied()
            guard pdu.count == 2, pdu[0] == LinkLayerControl.terminate else { return [] }
            return [Self.event(0x05, [0] + Self.octets(follower.links[place].handle) + [pdu[1]])]
        case .empty, .encrypted, .isochronous, .malformed: return []
        }
    }

    private func connection(_ link: FollowedLink) -> [Packet] {
        guard let request = link.request else { return [] }
        var fields: [UInt8] = [0x01, 0] + Self.octets(link.handle) + [0, request.peripheral.isRandom ? 1 : 0]
        fields += Self.octets(request.peripheral.address)
        for value in [request.interval, request.latency, request.timeout] { fields += Self.octets(value) }
        return [Self.event(0x3E, fields + [0])]
    }

    private func reports(
        _ packet: LinkLayerFollower.Packet, _ reading: LinkLayerReading, _ bytes: RawSpan, _ content: RawSpan
    ) -> [Packet] {
        guard let advertiser = packet.advertiser else { return [] }
        let isRandom: UInt8 = advertiser.isRandom ? 1 : 0
        let address = Self.octets(advertiser.address)
        let strength = UInt8(bitPattern: reading.strength ?? 127)
        let type = packet.header & 0x0F
        // Of legacy PDUs: what reports call them.
        let eventTypes: [UInt8: UInt8] = [0: 0, 1: 1, 6: 2, 2: 3, 4: 4]
        if let eventType = eventTypes[type] {
            let data = type == 1 ? [] : content.part(6, min(content.byteCount - 6, 31)).copied()
            let fields: [UInt8] = [0x02, 1, eventType, isRandom] + address
            return [Self.event(0x3E, fields + [UInt8(data.count)] + data + [strength])]
        }
        guard type == LinkLayerFollower.PDU.extended, let header = ExtendedAdvertisingHeader(content)
        else { return [] }
        let data: [UInt8]
        switch packet.advertisingData {
        case .inRecord(let place): data = bytes.part(place.lowerBound, place.count).copied()
        case .joined: data = follower.joined
        case .none, .piece: return []
        }
        let set = header.dataIdentifier.map { UInt8(truncatingIfNeeded: content.number($0 + 1, width: 1) >> 4) } ?? 0xFF
        let power = header.power.map { content.octet($0) } ?? 127
        var packets: [Packet] = []
        var rest = data[...]
        repeat {
            let piece = rest.prefix(Self.reportDataByteCount)
            rest = rest.dropFirst(piece.count)
            let eventType = UInt16(header.mode) | (rest.isEmpty ? 0 : 0x20)
            var fields: [UInt8] = [0x0D, 1] + Self.octets(eventType) + [isRandom] + address
            fields += [1, max(1, reading.phy), set, power, strength, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(piece.count)]
            packets.append(Self.event(0x3E, fields + piece))
        } while !rest.isEmpty
        return packets
    }

    private static func event(_ code: UInt8, _ parameters: [UInt8]) -> Packet {
        Packet(
            bytes: [0x04, code, UInt8(truncatingIfNeeded: parameters.count)] + parameters, direction: .controllerToHost)
    }

    private static func octets(_ value: UInt16) -> [UInt8] { [UInt8(value & 0xFF), UInt8(value >> 8)] }

    /// 48 bits.
    private static func octets(_ value: UInt64) -> [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
