/// Reads a capture record by record, from its first octet to the last that can be read.
///
/// The format is recognised by the content. Memory does not grow with the file: a fixed buffer moves through it, and
/// records are lent from there without a copy. Files of gzip, and captures in zip files and in Android's bug reports, are
/// unpacked while they are read, where zlib is installed.
///
///     var reader = try CaptureReader(path: "session.btsnoop")
///     while let record = try reader.next() {
///         print(record.timestampMicroseconds, record.content, record.bytes.byteCount)
///     }
public struct CaptureReader: ~Copyable {
    /// The maximum length of a record with its header; HCI packets are much shorter.
    public static let maximumRecordByteCount = 128 << 10

    /// The format, recognised by the content.
    public let format: CaptureFormat
    /// How many records have been read.
    public private(set) var recordCount: UInt64 = 0
    /// How many records were damaged; each threw an error.
    public private(set) var damagedRecordCount: UInt64 = 0
    /// How many records were skipped: in pcapng files packets of interfaces that carry neither HCI nor the link layer, journal entries, and
    /// custom blocks; transfers of other devices than controllers on a USB.
    public internal(set) var foreignRecordCount: UInt64 = 0
    /// The link types of pcapng interfaces that carry neither, in their order; at most eight.
    public internal(set) var foreignLinkTypes: [CaptureLinkType] = []
    /// The last count of lost packets that the capture program wrote beside a record (btsnoop, obsolete pcapng blocks).
    public internal(set) var droppedPacketCount: UInt32 = 0

    /// Whether the file contains records of the Linux monitor, which may be notes. In a pcapng file, an interface after
    /// the first packet can still set this.
    public internal(set) var holdsMonitorRecords = false

    /// Where in the file the next record starts; in what it contains if the file is packed.
    public var byteOffset: UInt64 { buffer.offset }
    /// How many octets of the file have been read, packed as they are.
    public var fileByteOffset: UInt64 { buffer.fileOffset }
    /// The name of the capture in a zip file.
    public var nameInArchive: String? { buffer.nameInArchive }

    var buffer: InputBuffer
    /// The direction of the last ACL packet, for fragments in files without directions.
    var lastDataDirection = CaptureDirection.controllerToHost
    /// The current section of a pcapng file.
    var section = PcapNGSection(isBigEndian: false)
    /// Whether an interface of the pcapng file carries HCI or the link layer.
    var hasReadInterface = false
    /// Whether transfers on a USB were skipped.
    var hasForeignTransfers = false
    /// The controllers on the USB that was recorded.
    var controllers = USBControllers()
    private let decoder: Decoder
    private var failure: CaptureError?

    /// The form of the records, by the header of the file.
    enum Decoder {
        case btsnoop(BtsnoopDatalink)
        case pcap(PcapHeader)
        case pcapng
        case packetLogger(bigEndian: Bool)
        case hcidump
    }

    /// A record by its place in the buffer.
    struct FoundRecord {
        var content: CaptureRecord.Content
        var timestampMicroseconds: Int64
        var adapter: UInt16
        var originalByteCount: Int
        var place: Range<Int>
    }

    /// Opens a file and reads its header.
    /// - Parameter isCancelled: called several times a second while a pipe is empty; if it returns `true`, reading ends
    ///   with `ECANCELED`. Without it such a wait has no end.
    /// - Throws: `CaptureError` when it cannot be opened, is not a capture, or has no interface that is read.
    public init(path: String, isCancelled: (@Sendable () -> Bool)? = nil) throws(CaptureError) {
        let file: InputFile
        do { file = try InputFile(path: path, isCancelled: isCancelled) } catch {
            throw CaptureError(.cannotOpen(error))
        }
        try self.init(file)
    }

    /// Reads from an open descriptor, which may be a pipe, and closes it in the end.
    /// - Parameter isCancelled: called several times a second while a pipe is empty; if it returns `true`, reading ends
    ///   with `ECANCELED`. Without it such a wait has no end.
    /// - Throws: `CaptureError` when it cannot be read, is not a capture, or has no interface that is read.
    public init(fileDescriptor: Int32, isCancelled: (@Sendable () -> Bool)? = nil) throws(CaptureError) {
        try self.init(InputFile(descriptor: fileDescriptor, isCancelled: isCancelled))
    }

    /// Reads a capture that is in memory.
    public init(bytes: [UInt8]) throws(CaptureError) {
        try self.init(InputFile(memory: bytes))
    }

    init(_ file: consuming InputFile) throws(CaptureError) {
        // What throws is elsewhere: the compiler refuses errors from a value that cannot be copied and is complete.
        let opened = try Self.open(file)
        format = opened.format
        decoder = opened.decoder
        holdsMonitorRecords = opened.holdsMonitorRecords
        hasReadInterface = opened.hasReadInterface
        foreignLinkTypes = opened.foreignLinkTypes
        foreignRecordCount = opened.foreignRecordCount
        damagedRecordCount = opened.damagedRecordCount
        section = opened.section
        failure = opened.failure
        buffer = opened.buffer
    }

    private init(_ buffer: consuming InputBuffer, _ format: CaptureFormat, _ decoder: Decoder) {
        self.buffer = buffer
        self.format = format
        self.decoder = decoder
    }

    private static func open(_ file: consuming InputFile) throws(CaptureError) -> CaptureReader {
        var buffer = InputBuffer(file)
        let (format, decoder) = try recognise(&buffer)
        var reader = CaptureReader(buffer, format, decoder)
        try reader.readAhead()
        return reader
    }

    /// Learns what is known before the first record.
    private mutating func readAhead() throws(CaptureError) {
        switch decoder {
        case .btsnoop(.monitor): holdsMonitorRecords = true
        case .pcap(let header): holdsMonitorRecords = header.link == .linuxMonitor
        case .pcapng:
            do { try findReadInterface() } catch {
                if case .unsupportedLinkType = error.reason { throw error }
                // The first call of `next` throws it.
                failure = error
                damagedRecordCount += 1
            }
        case .packetLogger, .hcidump, .btsnoop: break
        }
    }

    /// Which records have been skipped because they carry neither HCI nor the link layer, in words; `nil` if there were
    /// none.
    public var omission: String? {
        guard foreignRecordCount > 0 else { return nil }
        let count = foreignRecordCount == 1 ? "1 record was left out" : "\(foreignRecordCount) records were left out"
        var kinds = foreignLinkTypes.map(\.explanation)
        if hasForeignTransfers {
            kinds.append("transfers of USB devices that got no HCI command, or of a controller before its first one")
        }
        return count + ": "
            + (kinds.isEmpty ? "not packets, but entries of other kinds" : kinds.joined(separator: "; "))
    }

    /// The next record; `nil` after the last.
    ///
    /// A damaged record throws. After an error whose `isFinal` is `false`, the next call continues after that record;
    /// after any other error, each call throws it again.
    @_lifetime(&self)
    public mutating func next() throws(CaptureError) -> CaptureRecord? {
        guard let found = try advance() else { return nil }
        return CaptureRecord(
            content: found.content, timestampMicroseconds: found.timestampMicroseconds, adapter: found.adapter,
            originalByteCount: found.originalByteCount, bytes: buffer.bytes(in: found.place))
    }

    @inline(__always)
    private mutating func advance() throws(CaptureError) -> FoundRecord? {
        if let failure { throw failure }
        do throws(CaptureError) {
            let found =
                switch decoder {
                case .btsnoop(let datalink): try nextBtsnoop(datalink)
                case .pcap(let header): try nextPcap(header)
                case .pcapng: try nextPcapNG()
                case .packetLogger(let bigEndian): try nextPacketLogger(bigEndian: bigEndian)
                case .hcidump: try nextHCIDump()
                }
            if found != nil { recordCount &+= 1 }
            return found
        } catch {
            if error.isFinal { failure = error }
            damagedRecordCount += 1
            throw error
        }
    }
}

// Only the reader refers to its buffer and descriptor: it may move between threads, and only one can use it at a time.
extension CaptureReader: @unchecked Sendable {}

extension CaptureReader {
    /// An error of the record that starts at the front of the buffer.
    func failure(_ reason: CaptureError.Reason, isFinal: Bool = true) -> CaptureError {
        failure(reason, byteOffset: buffer.offset, isFinal: isFinal)
    }

    func failure(_ reason: CaptureError.Reason, byteOffset: UInt64, isFinal: Bool = true) -> CaptureError {
        CaptureError(
            reason, byteOffset: byteOffset, recordNumber: recordCount + damagedRecordCount + foreignRecordCount + 1,
            isFinal: isFinal)
    }

    /// Makes the next `count` octets available; `false` at the end of the file.
    /// - Throws: `truncated` when the file ends within them.
    @inline(__always)
    mutating func fill(_ count: Int) throws(CaptureError) -> Bool {
        let isFilled: Bool
        do { isFilled = try buffer.fill(count) } catch { throw failure(.cannotRead(error)) }
        if isFilled { return true }
        guard buffer.bufferedCount > 0 else { return false }
        throw failure(.truncated(needed: UInt64(count), available: UInt64(buffer.bufferedCount)))
    }

    /// Makes a whole record available, after its header.
    @inline(__always)
    mutating func fillRecord(_ count: Int) throws(CaptureError) {
        guard count <= Self.maximumRecordByteCount else { throw failure(.invalidLength(UInt64(count))) }
        _ = try fill(count)
    }

    /// Skips a record in the buffer and returns its packet, with the H4 type octet at `position`.
    @inline(__always)
    mutating func readRecord(
        _ content: CaptureRecord.Content, at position: Int, count: Int, originalByteCount: Int,
        timestampMicroseconds: Int64, adapter: UInt16 = 0, recordByteCount: Int
    ) -> FoundRecord {
        let place = buffer.place(at: position, count: count)
        buffer.consume(recordByteCount)
        return FoundRecord(
            content: content, timestampMicroseconds: timestampMicroseconds, adapter: adapter,
            originalByteCount: max(originalByteCount, count), place: place)
    }

    /// The direction of an H4 packet, which is certain for commands and events; otherwise as the file states it.
    @inline(__always)
    func direction(ofType octet: UInt8, stated: CaptureDirection) -> CaptureDirection {
        switch octet {
        case 0x01: .hostToController
        case 0x04: .controllerToHost
        default: stated
        }
    }

    /// The direction of an H4 packet in a file that states none.
    ///
    /// Hosts start LE data with boundary flag 0, controllers with 2; 1 goes on with what was begun (Core 5.4, Vol 4,
    /// Part E, 5.4.2). Other types of data count as received.
    mutating func guessDirection(at position: Int, count: Int) -> CaptureDirection {
        let octet: UInt8 = count > 0 ? buffer.load(at: position, bigEndian: false) : 0
        guard octet == 0x02, count >= 3 else { return direction(ofType: octet, stated: .controllerToHost) }
        let handle: UInt16 = buffer.load(at: position + 1, bigEndian: false)
        switch handle >> 12 & 3 {
        case 0: lastDataDirection = .hostToController
        case 1: break
        default: lastDataDirection = .controllerToHost
        }
        return lastDataDirection
    }

    /// A packet or note of the Linux monitor whose payload follows `position`; the type octet is written there.
    @inline(__always)
    mutating func readMonitor(
        opcode: UInt16, adapter: UInt16, at position: Int, count: Int, originalByteCount: Int,
        timestampMicroseconds: Int64, recordByteCount: Int
    ) -> FoundRecord {
        let opcode = MonitorOpcode(rawValue: opcode)
        guard let (type, direction) = opcode.packet else {
            return readRecord(
                .note(.monitor(opcode)), at: position + 1, count: count, originalByteCount: originalByteCount,
                timestampMicroseconds: timestampMicroseconds, adapter: adapter, recordByteCount: recordByteCount)
        }
        buffer.overwrite(type.rawValue, at: position)
        return readRecord(
            .packet(direction), at: position, count: count + 1, originalByteCount: originalByteCount &+ 1,
            timestampMicroseconds: timestampMicroseconds, adapter: adapter, recordByteCount: recordByteCount)
    }
}
