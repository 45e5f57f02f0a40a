public import BLECapture
import BLEPackets

/// Counts what a capture holds, packet by packet, without allocation.
///
/// Frames of L2CAP are counted when they are whole; ATT and SMP by the first octet of theirs.
public struct CaptureSummary: ~Copyable {
    /// Records of every kind, notes of the capture program among them.
    public private(set) var frames = 0
    public private(set) var commands = 0
    public private(set) var events = 0
    public private(set) var aclPackets = 0
    public private(set) var scoPackets = 0
    public private(set) var isoPackets = 0
    /// Notes, and packets whose type is unknown.
    public private(set) var others = 0
    /// Events that tell of advertising: legacy, extended and directed reports.
    public private(set) var advertisingReportEvents = 0
    /// Packets that break the rules of HCI, L2CAP, ATT, SMP or advertising data.
    public private(set) var malformed = 0

    var opcodes = SparseCounts()
    var channels = SparseCounts()
    var eventCodes = [Int](repeating: 0, count: 256)
    var subevents = [Int](repeating: 0, count: 256)
    var attOpcodes = [Int](repeating: 0, count: 256)
    var smpOpcodes = [Int](repeating: 0, count: 256)
    var addresses = AddressSet()
    private let tables = PacketTables.shared
    private var adapters = AdapterIndexes()
    private var fragments = FragmentCounter()

    public init() {}

    /// How many devices advertised; at most `AddressSet.maximumCount` are told apart.
    public var distinctAdvertisers: Int { addresses.count }
    public var hasMoreAdvertisers: Bool { addresses.isFull }

    /// Counts a record.
    public mutating func count(_ record: borrowing CaptureRecord) {
        frames += 1
        guard case .packet(let direction) = record.content else {
            others += 1
            return
        }
        let bytes = record.bytes
        let isWhole: Bool
        switch bytes.octet(0) {
        case 0x01:
            commands += 1
            isWhole = countCommand(bytes, isShortened: record.isShortened)
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

    /// Counts records that the reader passed over because their interface carries something else than HCI.
    public mutating func countForeign(_ count: Int) {
        frames += count
        others += count
    }

    private mutating func countCommand(_ bytes: RawSpan, isShortened: Bool) -> Bool {
        guard bytes.byteCount >= 3 else { return isShortened }
        let opcode = bytes.uint16(1)
        opcodes.add(opcode)
        guard !isShortened else { return true }
        return bytes.byteCount == 4 + Int(bytes.octet(3)) && PacketCheck.isWholeCommand(opcode, bytes.rest(4), tables)
    }

    private mutating func countEvent(_ bytes: RawSpan, isShortened: Bool, adapter: UInt16) -> Bool {
        guard bytes.byteCount >= 2 else { return isShortened }
        let code = bytes.octet(1)
        eventCodes[Int(code)] += 1
        guard isShortened || bytes.byteCount == 3 + Int(bytes.octet(2)) else { return false }
        switch code {
        case 0x3E:
            guard bytes.byteCount >= 4 else { return isShortened }
            let subevent = bytes.octet(3)
            subevents[Int(subevent)] += 1
            guard subevent == 0x02 || subevent == 0x0B || subevent == 0x0D else {
                return isShortened || PacketCheck.isWholeEvent(code, bytes.rest(3), tables)
            }
            advertisingReportEvents += 1
            let isWhole = AdvertisingReportFields.forEach(subevent: subevent, in: bytes.rest(4)) { report in
                addresses.insert(report.address)
                // More fragments of the data may follow: then a structure may be cut.
                if subevent == 0x0D, report.fields.uint16(0) >> 5 & 3 == 1 { return true }
                return AdvertisingDataCheck.isWellFormed(report.data)
            }
            return isWhole || isShortened
        case 0x05:
            // Disconnection: what was begun on the link never ends.
            if bytes.octet(3) == 0 { fragments.forget(adapter: adapters.index(of: adapter), handle: bytes.uint16(4)) }
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
        guard bytes.uint16(1) & 0x0FFF <= CaptureDecoder.lastConnectionHandle else { return true }
        let outcome = fragments.receive(
            adapter: adapters.index(of: adapter), handleField: bytes.uint16(1), direction: direction, data: data,
            stated: stated)
        switch outcome {
        case .pending: return true
        case .malformed: return false
        case .frame(let frame):
            channels.add(frame.channel)
            guard frame.capturedByteCount > 0 else { return frame.payloadByteCount > 0 || frame.channel > 6 }
            switch frame.channel {
            case 0x0004:
                attOpcodes[Int(frame.first & 0xFF)] += 1
                guard frame.capturedByteCount > 1 || frame.payloadByteCount == 1 else { return true }
                return PacketCheck.isWholeAttribute(first: frame.first, count: frame.payloadByteCount)
            case 0x0006, 0x0007:
                smpOpcodes[Int(frame.first & 0xFF)] += 1
                return PacketCheck.isWholePairing(first: frame.first, count: frame.payloadByteCount, tables)
            case 0x0001, 0x0005:
                return frame.capturedByteCount < min(frame.payloadByteCount, 4)
                    || PacketCheck.isWholeSignalling(first: frame.first, count: frame.payloadByteCount, tables)
            default: return true
            }
        }
    }
}
