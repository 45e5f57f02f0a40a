public import BLECapture

/// Counts the packets of a capture by type, without allocations.
///
/// L2CAP frames are counted when they are complete, ATT and SMP PDUs by their first octet. Connections are followed for
/// their summaries.
public struct CaptureSummary: ~Copyable {
    /// Records of every kind, including notes of the capture program.
    public private(set) var frames = 0
    /// HCI commands, including incomplete ones.
    public private(set) var commands = 0
    /// HCI events, including incomplete ones.
    public private(set) var events = 0
    /// Packets with ACL data: fragments, not frames.
    public private(set) var aclPackets = 0
    /// Packets with synchronous data.
    public private(set) var scoPackets = 0
    /// Packets with isochronous data.
    public private(set) var isoPackets = 0
    /// What a sniffer received, PDUs of every kind.
    public internal(set) var linkLayer = LinkLayerCounts()
    /// Notes, and packets whose type is unknown.
    public private(set) var others = 0
    /// Events with advertising reports: legacy, extended and directed ones.
    public internal(set) var advertisingReportEvents = 0
    /// Malformed packets of HCI, L2CAP, ATT or SMP, or with malformed advertising data.
    public private(set) var malformed = 0

    var opcodes = SparseCounts()
    var channels = SparseCounts()
    var eventCodes = [Int](repeating: 0, count: 256)
    var subevents = [Int](repeating: 0, count: 256)
    var attOpcodes = [Int](repeating: 0, count: 256)
    var enhancedATTOpcodes = [Int](repeating: 0, count: 256)
    var smpOpcodes = [Int](repeating: 0, count: 256)
    var addresses = AdvertiserTable()
    var connections = LinkSummaries()
    private let tables = PacketTables.shared
    private var adapters = AdapterIndexes()
    /// The time of the record that is counted.
    var now: Int64 = 0
    var follower: LinkLayerFollower
    private var fragments = FragmentCounter()
    /// The channels of links that have any, by their signalling; the newest last.
    private var channelTables: [(adapter: Int, handle: UInt16, table: ChannelTable)] = []

    /// - Parameter keys: of the connections that a sniffer captured.
    public init(keys: LinkLayerKeys? = nil) { follower = LinkLayerFollower(keys: keys) }

    /// How many devices advertised, at most `AdvertiserTable.maximumCount`.
    public var distinctAdvertisers: Int { addresses.count }
    /// Whether there were more devices than can be counted: then `distinctAdvertisers` is too small.
    public var hasMoreAdvertisers: Bool { addresses.isFull }
    /// Whether there were more names of advertisers than are kept: later ones are missing.
    public var hasMoreNames: Bool { addresses.hasLostNames }
    /// The most names of advertisers that are kept.
    public static var maximumNameCount: Int { AdvertiserTable.maximumNameCount }

    /// Counts a record.
    public mutating func count(_ record: borrowing CaptureRecord) {
        frames += 1
        let direction: CaptureDirection
        switch record.content {
        case .packet(let way): direction = way
        case .note:
            others += 1
            return
        case .linkLayer(let reading):
            now = record.timestampMicroseconds
            connections.last = -1
            if !countLinkLayer(record, reading) { malformed += 1 }
            return
        }
        let bytes = record.bytes
        now = record.timestampMicroseconds
        connections.last = -1
        let isWhole: Bool
        switch bytes.octet(0) {
        case 0x01:
            commands += 1
            isWhole = countCommand(bytes, isShortened: record.isShortened, adapter: record.adapter)
        case 0x04:
            events += 1
            isWhole = countEvent(bytes, isShortened: record.isShortened, adapter: record.adapter)
        case 0x02:
            aclPackets += 1
            isWhole = countData(
                bytes, direction: direction, isShortened: record.isShortened, adapter: record.adapter)
        case 0x03:
            scoPackets += 1
            isWhole = record.isShortened || bytes.byteCount == 4 + Int(bytes.octet(3))
        case 0x05:
            isoPackets += 1
            isWhole = record.isShortened || bytes.byteCount == 5 + Int(bytes.uint16(3) & 0x3FFF)
        default:
            others += 1
            isWhole = true
        }
        if !isWhole { malformed += 1 }
    }

    /// Counts records that the reader skipped because they contain no HCI packet.
    public mutating func countForeign(_ count: Int) {
        frames += count
        others += count
    }

    private mutating func countCommand(_ bytes: RawSpan, isShortened: Bool, adapter: UInt16) -> Bool {
        guard bytes.byteCount >= 3 else { return isShortened }
        let opcode = bytes.uint16(1)
        opcodes.add(opcode)
        guard !isShortened else { return true }
        if LinkSummaries.concerns(command: opcode) {
            connections.command(opcode, bytes.rest(4), adapter: adapters.index(of: adapter))
        }
        return bytes.byteCount == 4 + Int(bytes.octet(3)) && PacketCheck.isWholeCommand(opcode, bytes.rest(4), tables)
    }

    private mutating func countEvent(_ bytes: RawSpan, isShortened: Bool, adapter: UInt16) -> Bool {
        guard bytes.byteCount >= 2 else { return isShortened }
        let code = bytes.octet(1)
        eventCodes[Int(code)] += 1
        // The octets that exist count, even if the event is shorter than its length field.
        let isLong = isShortened || bytes.byteCount == 3 + Int(bytes.octet(2))
        if code == 0x3E, bytes.byteCount >= 4 { subevents[Int(bytes.octet(3))] += 1 }
        guard isLong else { return false }
        if LinkSummaries.concerns(event: code) {
            connections.event(code, bytes.rest(3), adapter: adapters.index(of: adapter), of: adapter, at: now)
        }
        switch code {
        case 0x3E:
            guard bytes.byteCount >= 4 else { return isShortened }
            let subevent = bytes.octet(3)
            guard subevent == 0x02 || subevent == 0x0B || subevent == 0x0D else {
                connections.metaEvent(
                    subevent, bytes.rest(4), adapter: adapters.index(of: adapter), of: adapter, at: now)
                return isShortened || PacketCheck.isWholeEvent(code, bytes.rest(3), tables)
            }
            advertisingReportEvents += 1
            let isWhole = AdvertisingReportFields.forEach(subevent: subevent, in: bytes.rest(4)) { report in
                addresses.note(report, subevent: subevent)
                // If more fragments of the data follow, a structure may be cut off.
                if subevent == 0x0D, report.fields.uint16(0) >> 5 & 3 == 1 { return true }
                return AdvertisingDataCheck.isWellFormed(report.data)
            }
            return isWhole || isShortened
        case 0x05:
            // Disconnection: incomplete frames of the link are dropped.
            if bytes.octet(3) == 0 {
                let (index, handle) = (adapters.index(of: adapter), bytes.uint16(4) & 0x0FFF)
                fragments.forget(adapter: index, handle: handle)
                channelTables.removeAll { $0.adapter == index && $0.handle == handle }
            }
            return isShortened || PacketCheck.isWholeEvent(code, bytes.rest(3), tables)
        default: return isShortened || PacketCheck.isWholeEvent(code, bytes.rest(3), tables)
        }
    }

    private mutating func countData(
        _ bytes: RawSpan, direction: CaptureDirection, isShortened: Bool, adapter: UInt16
    ) -> Bool {
        guard bytes.byteCount >= 5 else { return isShortened }
        let stated = Int(bytes.uint16(3))
        let data = bytes.part(5, stated)
        guard bytes.byteCount == 5 + stated || isShortened else { return false }
        let index = adapters.index(of: adapter)
        let handle = bytes.uint16(1) & 0x0FFF
        if ControllerTrace(handleField: bytes.uint16(1), direction: direction) != nil,
            !connections.isOpen(adapter: index, handle: handle)
        {
            return true
        }
        let outcome = fragments.receive(
            adapter: index, handleField: bytes.uint16(1), direction: direction, data: data, stated: stated)
        if handle <= CaptureDecoder.lastConnectionHandle {
            let frame = if case .frame(let whole) = outcome { whole.payloadByteCount } else { 0 }
            connections.data(
                adapter: index, of: adapter, handle: handle, frame: frame, way: Int(direction.rawValue), at: now)
        }
        // Some controllers send vendor-specific traces under handles that no connection has.
        if case .malformed = outcome { return handle > CaptureDecoder.lastConnectionHandle }
        return count(outcome, data, index, handle, direction)
    }

    /// Adds data of a connection that a sniffer captured.
    mutating func countAirData(
        _ data: RawSpan, stated: Int, isContinuation: Bool, _ link: FollowedLink, _ direction: CaptureDirection
    ) -> Bool {
        let outcome = fragments.receive(
            adapter: AdapterIndexes.air, handleField: link.handle | (isContinuation ? 0x1000 : 0), direction: direction,
            data: data, stated: stated)
        let frame = if case .frame(let whole) = outcome { whole.payloadByteCount } else { 0 }
        connections.data(link, frame: frame, way: Int(direction.rawValue), at: now)
        return count(outcome, data, AdapterIndexes.air, link.handle, direction)
    }

    /// A connection on the air begins or ends: incomplete frames of its number are dropped.
    mutating func forgetAir(_ link: FollowedLink) {
        fragments.forget(adapter: AdapterIndexes.air, handle: link.handle)
        channelTables.removeAll { $0.adapter == AdapterIndexes.air && $0.handle == link.handle }
    }

    /// Counts what a packet with data completes.
    private mutating func count(
        _ outcome: FragmentCounter.Outcome, _ data: RawSpan, _ index: Int, _ handle: UInt16,
        _ direction: CaptureDirection
    ) -> Bool {
        switch outcome {
        case .pending: return true
        case .malformed: return false
        case .frame(let frame):
            channels.add(frame.channel)
            // Signalling, connectionless data and pairing of BR/EDR.
            if frame.channel <= 0x0007, frame.channel != 0x0004 { connections.addChannel(frame.channel) }
            guard frame.capturedByteCount > 0 || frame.channel >= 0x0040 else {
                return frame.payloadByteCount > 0 || !Self.carriesCommands(frame.channel)
            }
            switch frame.channel {
            case 0x0004:
                attOpcodes[Int(frame.first & 0xFF)] += 1
                connections.attribute(
                    frame.first, frame.payloadByteCount, bearer: 4, way: Int(direction.rawValue), at: now)
                guard frame.capturedByteCount > 1 || frame.payloadByteCount == 1 else { return true }
                return PacketCheck.isWholeAttribute(first: frame.first, count: frame.payloadByteCount)
            case 0x0006, 0x0007:
                if frame.channel == 0x0006 { smpOpcodes[Int(frame.first & 0xFF)] += 1 }
                return PacketCheck.isWholePairing(first: frame.first, count: frame.payloadByteCount, tables)
            case 0x0001, 0x0005:
                let way = Int(direction.rawValue)
                if frame.isGathered {
                    let gathered = fragments.gathered
                    follow(gathered.span.bytes, index, handle, way)
                } else {
                    follow(data.part(4, frame.payloadByteCount), index, handle, way)
                }
                return frame.capturedByteCount < min(frame.payloadByteCount, 4)
                    || PacketCheck.isWholeSignalling(first: frame.first, count: frame.payloadByteCount, tables)
            default:
                guard frame.channel >= 0x0040, !channelTables.isEmpty else { return true }
                return count(frame, index, handle, Int(direction.rawValue))
            }
        }
    }

    /// Whether an empty frame is malformed on this channel.
    private static func carriesCommands(_ channel: UInt16) -> Bool { channel == 1 || 4...7 ~= channel }

    // MARK: Dynamic channels

    /// Handles the commands of a signalling frame.
    private mutating func follow(_ payload: RawSpan, _ adapter: Int, _ handle: UInt16, _ way: Int) {
        var position = 0
        while payload.byteCount - position >= 4 {
            let count = Int(payload.uint16(position + 2))
            let code = payload.octet(position)
            var place = channelTables.lastIndex { $0.handle == handle && $0.adapter == adapter }
            if place == nil, code == 0x02 || code == 0x0C || code == 0x14 || code == 0x17 {
                if channelTables.count >= LinkTable.maximumLinkCount { channelTables.removeFirst() }
                channelTables.append((adapter, handle, ChannelTable()))
                place = channelTables.count - 1
            }
            if let place {
                channelTables[place].table.follow(
                    code, identifier: payload.octet(position + 1), payload.part(position + 4, count), way: way)
            }
            position += 4 + count
        }
    }

    /// Counts the ATT PDU in a frame of a dynamic channel: over BR/EDR a PDU, on an enhanced bearer an SDU or a
    /// segment.
    /// - Returns: `false` if it is malformed.
    private mutating func count(
        _ frame: FragmentCounter.Frame, _ adapter: Int, _ handle: UInt16, _ way: Int
    ) -> Bool {
        guard let place = channelTables.lastIndex(where: { $0.handle == handle && $0.adapter == adapter }),
            let index = channelTables[place].table.index(of: frame.channel, way: way)
        else { return true }
        let channel = channelTables[place].table.channels[index]
        guard channel.isCreditBased else {
            guard channel.isAttributeProtocol else { return true }
            guard frame.capturedByteCount > 0 else { return frame.payloadByteCount > 0 }
            attOpcodes[Int(frame.first & 0xFF)] += 1
            connections.attribute(
                frame.first, frame.payloadByteCount, bearer: channel.identifiers[0], way: way, at: now)
            guard frame.capturedByteCount > 1 || frame.payloadByteCount == 1 else { return true }
            return PacketCheck.isWholeAttribute(first: frame.first, count: frame.payloadByteCount)
        }
        let length = frame.capturedByteCount >= 2 ? Int(frame.first & 0xFFFF) : nil
        let piece = channelTables[place].table.receive(
            index, way: way, statedLength: length, count: frame.payloadByteCount)
        if case .malformed = piece { return frame.capturedByteCount < min(2, frame.payloadByteCount) }
        guard channel.isAttributeProtocol else { return true }
        let held = min(frame.capturedByteCount, 8)
        switch piece {
        case .unit:
            connections.attribute(
                frame.first >> 16, frame.payloadByteCount - 2, bearer: channel.identifiers[0], way: way, at: now)
            return count(unit: frame.first >> 16, held: held - 2, length: frame.payloadByteCount - 2)
        case .beginning:
            channelTables[place].table.channels[index].starts[way] = frame.first >> 16
            channelTables[place].table.channels[index].startCounts[way] = held - 2
        case .middle, .end:
            let count = channel.startCounts[way]
            if count < 2 {
                channelTables[place].table.channels[index].starts[way] |= frame.first << UInt64(count * 8)
                channelTables[place].table.channels[index].startCounts[way] = min(8, count + held)
            }
            guard case .end = piece else { return true }
            let whole = channelTables[place].table.channels[index]
            connections.attribute(
                whole.starts[way], channel.unitLengths[way], bearer: channel.identifiers[0], way: way, at: now)
            return self.count(
                unit: whole.starts[way], held: whole.startCounts[way], length: channel.unitLengths[way])
        case .malformed: break
        }
        return true
    }

    private mutating func count(unit first: UInt64, held: Int, length: Int) -> Bool {
        guard held > 0 else { return length > 0 }
        enhancedATTOpcodes[Int(first & 0xFF)] += 1
        guard held > 1 || length == 1 else { return true }
        return PacketCheck.isWholeAttribute(first: first, count: length)
    }
}
