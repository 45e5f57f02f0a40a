public import BLECapture

/// Turns the records of a capture into lines of text or JSON, packet by packet.
///
/// It follows connections, reassembles fragments, matches ATT requests and responses, and remembers discovered
/// attributes, all in bounded memory. Keys and passkeys of pairing are never written, nor are 16 or more unknown
/// octets: vendor-specific ones, unknown packets, and fragments whose beginning is missing.
///
///     var decoder = CaptureDecoder(style: .text(isColoured: false))
///     while let record = try reader.next() {
///         decoder.decode(record)
///         if decoder.output.byteCount > 65_536 { … write decoder.output; decoder.removeOutput() }
///     }
public struct CaptureDecoder: ~Copyable {
    /// How many records were passed to the decoder.
    public private(set) var frameCount = 0
    /// How many of them passed the filter.
    public private(set) var shownCount = 0
    /// How many packets were malformed.
    public internal(set) var malformedCount = 0
    /// Facts about the last packet.
    public internal(set) var facts = PacketFacts()
    /// In text: the offset of the last packet's headline, after the time and the number.
    public private(set) var headlineOffset = 0
    /// In text: the offset in `output` at which the last packet's headline ends, before the line feed; its fields
    /// follow.
    public internal(set) var fieldsOffset = 0

    var out: DecodedOutput
    var table = LinkTable()
    let tables = PacketTables.shared
    var follower: LinkLayerFollower
    private var adapters = AdapterIndexes()
    /// Company identifiers of the adapters' controllers, as far as the capture has them.
    var manufacturers = [UInt16?](repeating: nil, count: AdapterIndexes.maximumCount)
    private var day = Int64.min
    private var second = ClockSecond(of: 0)
    private let hasFilter: Bool
    private let showsTime: Bool

    /// - Parameters:
    ///   - showsTime: whether headlines begin with direction, time and number (text only).
    ///   - keys: of the connections that a sniffer captured.
    public init(
        style: DecodingStyle, filter: DecodingFilter = DecodingFilter(), showsTime: Bool = true,
        keys: LinkLayerKeys? = nil
    ) {
        out = DecodedOutput(style)
        follower = LinkLayerFollower(keys: keys)
        facts.filter = filter
        hasFilter = !filter.isEmpty
        self.showsTime = showsTime
    }

    /// The numbers with units in the last packet, once they are kept.
    var measures: [Measure] { out.measures }

    /// Keeps `measures` from now on (text only).
    mutating func keepMeasures() { out.keepsMeasures = true }

    /// What has been written since the last `removeOutput()`.
    public var output: RawSpan {
        @_lifetime(borrow self)
        get { out.buffer.bytes }
    }

    /// Clears `output` after it was written elsewhere; the state of links is kept.
    public mutating func removeOutput() { out.buffer.truncate(to: 0) }

    /// How many octets of a headline contain the kind of packet.
    static let kindWordByteCount = 8

    /// How many connections were seen.
    public var connectionCount: Int { table.connectionCount }

    /// Writes a record if it passes the filter.
    /// - Returns: whether it was written.
    @discardableResult
    public mutating func decode(_ record: borrowing CaptureRecord) -> Bool {
        frameCount += 1
        let start = out.buffer.count
        let lastDay = day
        facts.reset()
        if out.keepsMeasures { out.measures.removeAll(keepingCapacity: true) }
        facts.frame = frameCount
        facts.timestampMicroseconds = record.timestampMicroseconds
        switch record.content {
        case .note(let note):
            facts.kinds = .other
            begin(record, nil, "other", "note   ", .note)
            if case .monitor(.indexInfo) = note, record.bytes.byteCount >= 8 {
                manufacturers[adapters.index(of: record.adapter)] = record.bytes.uint16(6)
            }
            write(note, record.bytes)
        case .packet(let direction):
            facts.isFromHost = direction == .hostToController
            write(record, direction)
        case .linkLayer(let reading): writeLinkLayer(record, reading)
        }
        out.isJSON ? out.buffer.append("}\n") : ()
        if facts.kinds.contains(.malformed) { malformedCount += 1 }
        if hasFilter, !facts.passes {
            out.buffer.truncate(to: start)
            day = lastDay
            return false
        }
        shownCount += 1
        return true
    }

    private mutating func write(_ record: borrowing CaptureRecord, _ direction: CaptureDirection) {
        let bytes = record.bytes
        let adapter = adapters.index(of: record.adapter)
        let isShortened = record.isShortened
        switch bytes.octet(0) {
        case _ where bytes.byteCount == 0:
            facts.kinds = .other
            begin(record, direction, "other", "other  ", .bad)
            title("Empty packet")
            out.beginFields()
            out.endFields()
        case 0x01:
            facts.kinds = .command
            begin(record, direction, "command", "command", .command)
            writeCommand(bytes, isShortened, adapter)
        case 0x04:
            facts.kinds = .event
            begin(record, direction, "event", "event  ", .event)
            writeEvent(bytes, isShortened, adapter)
        case 0x02:
            facts.kinds = .acl
            begin(record, direction, "acl", "acl    ", .data)
            writeACL(bytes, isShortened, adapter, direction)
        case 0x03:
            facts.kinds = .sco
            begin(record, direction, "sco", "sco    ", .data)
            writeStream(bytes, isShortened, adapter, header: 4, stated: Int(bytes.octet(3)), "SCO data")
        case 0x05:
            facts.kinds = .iso
            begin(record, direction, "iso", "iso    ", .data)
            writeStream(bytes, isShortened, adapter, header: 5, stated: Int(bytes.uint16(3) & 0x3FFF), "ISO data")
        default:
            facts.kinds = .other
            let trace = ControllerTrace(
                packetType: bytes.octet(0), byteCount: isShortened ? record.originalByteCount : bytes.byteCount)
            if let trace {
                begin(record, direction, "other", "other  ", .note)
                title("Vendor diagnostics")
                out.beginFields()
                writeTrace(trace, bytes.byteCount - 1)
                out.endFields()
                return
            }
            begin(record, direction, "other", "other  ", .bad)
            title("Packet of unknown type")
            out.beginFields()
            out.begin("Octets", "octets")
            // This is a stream that has lost its framing.
            isShortened || bytes.mayHoldKey ? out.withheld() : out.bytes(bytes)
            out.end()
            out.endFields()
        }
    }

    // MARK: Headline

    mutating func begin(
        _ record: borrowing CaptureRecord, _ direction: CaptureDirection?, _ type: StaticString, _ word: StaticString,
        _ colour: DecodedOutput.Colour
    ) {
        let time = record.timestampMicroseconds
        if out.isJSON {
            out.buffer.append("{\"event\":\"packet\",\"frame\":")
            out.buffer.append(decimal: UInt64(frameCount))
            out.buffer.append(",\"time\":")
            if time < 0 { out.buffer.append(UInt8(ascii: "-")) }
            out.buffer.append(decimal: time.magnitude / 1_000_000)
            out.buffer.append(UInt8(ascii: "."))
            out.buffer.append(decimal: time.magnitude % 1_000_000, digits: 6)
            if let direction {
                out.buffer.append(",\"direction\":\"")
                out.buffer.append(direction == .hostToController ? "sent\"" : "received\"")
            }
            if record.adapter != CaptureRecord.noAdapter {
                out.buffer.append(",\"adapter\":")
                out.buffer.append(decimal: UInt64(record.adapter))
            }
            out.buffer.append(",\"type\":\"")
            out.buffer.append(type)
            out.buffer.append(UInt8(ascii: "\""))
            return
        }
        if showsTime {
            writeTime(time, direction)
            if record.adapter != 0, record.adapter != CaptureRecord.noAdapter {
                out.buffer.append("hci")
                out.buffer.append(decimal: UInt64(record.adapter))
                out.buffer.append(UInt8(ascii: " "))
            }
        }
        headlineOffset = out.buffer.count
        out.colour(colour)
        out.buffer.append(word)
        out.plain()
        out.buffer.append(UInt8(ascii: " "))
    }

    /// `< 12:34:56.123456 #12 `: `<` for packets from the host, `>` for packets to it; preceded by a line for each new
    /// day.
    private mutating func writeTime(_ time: Int64, _ direction: CaptureDirection?) {
        if !second.contains(time) { second = ClockSecond(of: time) }
        if second.day != day {
            day = second.day
            out.buffer.append("== ")
            second.writeDate(into: &out.buffer)
            out.buffer.append(" UTC\n")
        }
        switch direction {
        case .hostToController: out.buffer.append("< ")
        case .controllerToHost: out.buffer.append("> ")
        case nil: out.buffer.append("= ")
        }
        out.dim()
        out.buffer.append(characters: second.text)
        out.buffer.append(UInt8(ascii: "."))
        out.buffer.append(decimal: UInt64(truncatingIfNeeded: time &- second.start), digits: 6)
        out.buffer.append(" #")
        out.buffer.append(decimal: UInt64(frameCount))
        out.plain()
        out.buffer.append(UInt8(ascii: " "))
    }

    mutating func title(_ text: StaticString) {
        if out.isJSON {
            out.buffer.append(",\"name\":\"")
            out.buffer.append(text)
            out.buffer.append(UInt8(ascii: "\""))
        } else {
            out.bold()
            out.buffer.append(text)
            out.plain()
        }
        fieldsOffset = out.buffer.count
    }

    /// Writes a name with its number.
    mutating func title(_ text: StaticString, code: UInt8) {
        title(text)
        out.buffer.append(out.isJSON ? ",\"code\":\"0x" : " (0x")
        out.buffer.append(hexadecimal: UInt64(code), digits: 2)
        out.buffer.append(out.isJSON ? UInt8(ascii: "\"") : UInt8(ascii: ")"))
        fieldsOffset = out.buffer.count
    }

    /// Writes a name of the tables with its number.
    mutating func title(_ name: Name?, _ unknown: StaticString, code: UInt64, width: Int) {
        if out.isJSON {
            out.buffer.append(",\"name\":\"")
            if let name { unsafe out.buffer.append(name.utf8) } else { out.buffer.append(unknown) }
            out.buffer.append("\",\"code\":\"0x")
            out.buffer.append(hexadecimal: code, digits: width * 2)
            out.buffer.append(UInt8(ascii: "\""))
        } else {
            out.bold()
            if let name { unsafe out.buffer.append(name.utf8) } else { out.buffer.append(unknown) }
            out.plain()
            out.buffer.append(" (0x")
            out.buffer.append(hexadecimal: code, digits: width * 2)
            out.buffer.append(UInt8(ascii: ")"))
        }
        fieldsOffset = out.buffer.count
    }

    /// Marks a packet as malformed, and shows its octets unless they may contain a key.
    mutating func malformed(_ reason: StaticString, _ bytes: RawSpan, isSecret: Bool = false) {
        facts.kinds.insert(.malformed)
        out.colour(.bad)
        out.begin("Malformed", "malformed")
        out.word(reason)
        out.plain()
        out.end()
        out.begin("Octets", "octets")
        isSecret ? out.withheld() : out.bytes(bytes)
        out.end()
    }

    // MARK: Notes and streams

    private mutating func write(_ note: CaptureNote, _ bytes: RawSpan) {
        var isText = false
        switch note {
        case .monitor(let opcode):
            switch opcode {
            case .newIndex: title("New Index")
            case .deleteIndex: title("Delete Index")
            case .openIndex: title("Open Index")
            case .closeIndex: title("Close Index")
            case .indexInfo: title("Index Information")
            case .vendorDiagnostic: title("Vendor Diagnostic")
            case .systemNote:
                title("System Note")
                isText = true
            case .userLogging:
                title("User Logging")
                isText = true
            case .controlOpen: title("Control Open")
            case .controlClose: title("Control Close")
            case .controlCommand: title("Control Command")
            case .controlEvent: title("Control Event")
            default: title("Monitor Note")
            }
        case .packetLogger(let type):
            let name = PacketLoggerNote(type)
            title(name.title)
            isText = name.isText
        }
        out.beginFields()
        if isText {
            var count = bytes.byteCount
            while count > 0, bytes.octet(count - 1) <= 0x20 { count -= 1 }
            var start = 0
            if case .monitor(.userLogging) = note {
                // Priority, the length of the program's name, the name and a zero, then the text.
                start = min(2 + Int(bytes.octet(1)), count)
            }
            out.begin("Text", "text")
            out.text(NoteText.withoutKeys(bytes.part(start, count - start)).span.bytes)
            out.end()
        } else {
            // Messages of the management socket contain keys: only their length is shown.
            out.begin("Length", "length")
            out.number(UInt64(bytes.byteCount))
            out.end()
        }
        out.endFields()
    }

    private mutating func writeStream(
        _ bytes: RawSpan, _ isShortened: Bool, _ adapter: Int, header: Int, stated: Int, _ name: StaticString
    ) {
        title(name)
        let handle = bytes.uint16(1) & 0x0FFF
        out.beginFields()
        if bytes.byteCount >= header, isShortened || bytes.byteCount == header + stated {
            facts.record(handle: handle)
            out.begin("Connection Handle", "connectionHandle")
            out.isJSON ? out.number(UInt64(handle)) : out.hexadecimal(UInt64(handle), width: 2)
            out.end()
            out.begin("Length", "length")
            out.number(UInt64(stated))
            out.end()
        } else if !isShortened {
            malformed("the length in its header is not the packet's", bytes)
        }
        out.endFields()
    }
}
