import BLEPackets
import BLEStateFiles

/// Writes a capture of HCI traffic.
///
/// Records are written whole, so that the file of a killed process can be read. An error of the file, such as a full
/// disk, is thrown once; records after it are counted and dropped.
///
///     var writer = try CaptureWriter(path: "session.pcap", format: .pcap)
///     try writer.append(
///         packet: packet, direction: .hostToController,
///         timestampMicroseconds: CaptureClock.microsecondsSinceEpoch(), adapter: 0)
///     try writer.close()
public struct CaptureWriter: ~Copyable, Sendable {
    /// When records are written from memory to the file.
    public enum Flushing: Hashable, Sendable {
        /// Each at once: for live traffic.
        case everyRecord
        /// When this many octets have collected: for conversion.
        case bytes(Int)
    }

    /// The maximum length of a packet or note.
    public static let maximumPacketByteCount = CaptureReader.maximumRecordByteCount - 256

    /// The format of the file.
    public let format: CaptureFormat
    /// The unit of time in pcap and pcapng.
    public let resolution: CaptureTimeResolution
    /// The content of the frames of pcap and pcapng.
    public let link: CaptureLink
    /// How many records were written or wait in memory.
    public private(set) var recordCount: UInt64 = 0
    /// How many records the format could not represent.
    public private(set) var unrepresentableCount: UInt64 = 0
    /// How many records were lost because the file could not be written.
    public private(set) var lostRecordCount: UInt64 = 0

    var buffer: RecordBuffer
    /// The interfaces of a pcapng file by adapter.
    var interfaces: [UInt16: UInt32] = [:]
    private var file: OutputFile
    private var writtenByteCount: UInt64 = 0
    private let flushThreshold: Int
    private var pendingRecordCount: UInt64 = 0
    private var hasFailed = false
    private var isClosed = false

    /// Creates the file, or empties it, and writes its header.
    ///
    /// The file may be a pipe or a device, and the path may contain links; but in a folder where others may write, such
    /// as `/tmp`, files of other users are not used.
    /// - Parameters:
    ///   - resolution: the unit of time in pcap and pcapng.
    ///   - link: the content of their frames; `linuxMonitor` also contains notes.
    ///   - permissions: the maximum mode of the file; captures contain keys and names.
    /// - Throws: `CaptureError.Reason.cannotOpen`, `refused` or `cannotWrite`.
    public init(
        path: String, format: CaptureFormat, flushing: Flushing = .everyRecord,
        resolution: CaptureTimeResolution = .microseconds, link: CaptureLink = .h4WithDirection,
        permissions: UInt32 = 0o600
    ) throws(CaptureError) {
        let file: OutputFile
        do throws(StateFileError) {
            let opened = try OutputPlace.open(path, isSecret: false, permissions: permissions).descriptor
            file = OutputFile(emptying: opened, permissions: permissions)
        } catch {
            throw CaptureError(error.code.map { .cannotOpen(SystemError(number: $0)) } ?? .refused(error.outputCause))
        }
        try self.init(file, format: format, flushing: flushing, resolution: resolution, link: link)
    }

    /// Empties a file that was opened only for this capture, and closes it later.
    package init(
        file descriptor: Int32, format: CaptureFormat, flushing: Flushing = .everyRecord,
        resolution: CaptureTimeResolution = .microseconds, link: CaptureLink = .h4WithDirection
    ) throws(CaptureError) {
        try self.init(
            OutputFile(emptying: descriptor, permissions: 0o600), format: format, flushing: flushing,
            resolution: resolution, link: link)
    }

    /// Writes to an open descriptor, which may be a pipe, and closes it in the end.
    public init(
        fileDescriptor: Int32, format: CaptureFormat, flushing: Flushing = .everyRecord,
        resolution: CaptureTimeResolution = .microseconds, link: CaptureLink = .h4WithDirection
    ) throws(CaptureError) {
        try self.init(
            OutputFile(descriptor: fileDescriptor), format: format, flushing: flushing, resolution: resolution,
            link: link)
    }

    private init(
        _ file: consuming OutputFile, format: CaptureFormat, flushing: Flushing, resolution: CaptureTimeResolution,
        link: CaptureLink
    ) throws(CaptureError) {
        self.file = file
        self.link = link
        self.format = format
        self.resolution = resolution
        switch flushing {
        case .everyRecord: flushThreshold = 0
        case .bytes(let count): flushThreshold = min(max(count, 0), 1 << 20)
        }
        buffer = RecordBuffer(capacity: flushThreshold + 512)
        writeFileHeader()
        try flush()
    }

    deinit {
        // A deinitializer cannot throw: call `close` to get the error.
        if !isClosed, !hasFailed, buffer.count > 0 { try? file.write(buffer.bytes, behind: writtenByteCount) }
    }

    /// Appends an H4 packet: the type octet, then the packet.
    /// - Parameters:
    ///   - timestampMicroseconds: since 1970-01-01 00:00 UTC; pcap, PacketLogger and hcidump can represent the years
    ///     1970 to 2105.
    ///   - adapter: its index; stored by btsnoop of the monitor and by pcapng.
    ///   - originalByteCount: the length of the packet before it was shortened, including its type octet.
    /// - Returns: `false` if the format cannot represent the packet.
    /// - Throws: `cannotWrite`, once; `invalidLength` for a packet of more than `maximumPacketByteCount` octets.
    @discardableResult
    public mutating func append(
        packet: RawSpan, direction: CaptureDirection, timestampMicroseconds: Int64, adapter: UInt16 = 0,
        originalByteCount: Int? = nil
    ) throws(CaptureError) -> Bool {
        try write(
            .packet(direction), packet, timestampMicroseconds: timestampMicroseconds, adapter: adapter,
            originalByteCount: originalByteCount ?? packet.byteCount)
    }

    /// Appends a note, in the formats that can represent it.
    ///
    /// Returns and throws like `append(packet:direction:timestampMicroseconds:adapter:originalByteCount:)`.
    @discardableResult
    public mutating func append(
        note: CaptureNote, payload: RawSpan, timestampMicroseconds: Int64, adapter: UInt16 = 0
    ) throws(CaptureError) -> Bool {
        try write(
            .note(note), payload, timestampMicroseconds: timestampMicroseconds, adapter: adapter,
            originalByteCount: payload.byteCount)
    }

    /// Appends a record of a reader.
    ///
    /// Returns and throws like `append(packet:direction:timestampMicroseconds:adapter:originalByteCount:)`.
    @discardableResult
    public mutating func append(_ record: borrowing CaptureRecord) throws(CaptureError) -> Bool {
        try write(
            record.content, record.bytes, timestampMicroseconds: record.timestampMicroseconds,
            adapter: record.adapter, originalByteCount: record.originalByteCount)
    }

    /// Writes the records that wait in memory.
    public mutating func flush() throws(CaptureError) {
        guard !hasFailed, !isClosed, buffer.count > 0 else { return }
        defer {
            buffer.removeAll()
            pendingRecordCount = 0
        }
        do throws(SystemError) {
            try file.write(buffer.bytes, behind: writtenByteCount)
            writtenByteCount += UInt64(buffer.count)
        } catch {
            hasFailed = true
            recordCount -= pendingRecordCount
            lostRecordCount += pendingRecordCount
            throw CaptureError(.cannotWrite(error), byteOffset: writtenByteCount, recordNumber: recordCount + 1)
        }
    }

    /// Writes the rest and closes the file. Records that are appended afterwards are lost.
    public mutating func close() throws(CaptureError) {
        guard !isClosed else { return }
        defer { isClosed = true }
        try flush()
        do { try file.close() } catch {
            guard !hasFailed else { return }
            hasFailed = true
            throw CaptureError(.cannotWrite(error), byteOffset: writtenByteCount, recordNumber: recordCount)
        }
    }

    private mutating func write(
        _ content: CaptureRecord.Content, _ bytes: RawSpan, timestampMicroseconds: Int64, adapter: UInt16,
        originalByteCount: Int
    ) throws(CaptureError) -> Bool {
        guard !hasFailed, !isClosed else {
            lostRecordCount += 1
            return false
        }
        guard bytes.byteCount <= Self.maximumPacketByteCount else {
            throw CaptureError(
                .invalidLength(UInt64(bytes.byteCount)), byteOffset: writtenByteCount, recordNumber: recordCount + 1,
                isFinal: false)
        }
        let original = UInt32(clamping: max(originalByteCount, bytes.byteCount))
        guard encode(content, bytes, timestampMicroseconds, adapter, original) else {
            unrepresentableCount += 1
            return false
        }
        recordCount += 1
        pendingRecordCount += 1
        if buffer.count > flushThreshold { try flush() }
        return true
    }
}

extension CaptureWriter {
    private mutating func writeFileHeader() {
        switch format {
        case .btsnoopUnencapsulated: writeBtsnoopHeader(.unencapsulated)
        case .btsnoop: writeBtsnoopHeader(.h4)
        case .btsnoopMonitor: writeBtsnoopHeader(.monitor)
        case .pcap: writePcapHeader()
        case .pcapng: writeSectionHeader()
        case .packetLogger, .hcidump: break
        }
    }

    /// Puts a record into the buffer; `false` if the format cannot represent it.
    private mutating func encode(
        _ content: CaptureRecord.Content, _ bytes: RawSpan, _ microseconds: Int64, _ adapter: UInt16,
        _ original: UInt32
    ) -> Bool {
        switch (format, content) {
        case (.btsnoop, .packet(let direction)):
            writeBtsnoop(bytes, flags: Btsnoop.flags(of: bytes, direction), microseconds, original)
        case (.pcap, _):
            guard let frame = LinkFrame(content, bytes, adapter: adapter, link: link) else { return false }
            writePcap(frame, bytes, microseconds, original)
        case (.pcapng, _):
            guard let frame = LinkFrame(content, bytes, adapter: adapter, link: link) else { return false }
            writeEnhancedPacket(frame, bytes, microseconds, interface: interface(of: adapter), original)
        case (.btsnoopMonitor, .packet(let direction)):
            guard let opcode = MonitorOpcode(h4: bytes, direction: direction) else { return false }
            writeMonitor(bytes.extracting(droppingFirst: 1), opcode, microseconds, adapter, original &- 1)
        case (.btsnoopMonitor, .note(.monitor(let opcode))):
            writeMonitor(bytes, opcode, microseconds, adapter, original)
        case (.btsnoopUnencapsulated, .packet(let direction)):
            switch MonitorOpcode(h4: bytes, direction: direction) {
            case .commandPacket, .eventPacket, .sentACLData, .receivedACLData: break
            default: return false
            }
            writeBtsnoop(
                bytes.extracting(droppingFirst: 1), flags: Btsnoop.flags(of: bytes, direction), microseconds,
                original &- 1)
        case (.packetLogger, .packet(let direction)):
            guard let type = PacketLogger.type(of: bytes, direction) else { return false }
            writePacketLogger(bytes.extracting(droppingFirst: 1), type: type, microseconds)
        case (.packetLogger, .note(.packetLogger(let type))): writePacketLogger(bytes, type: type, microseconds)
        case (.hcidump, .packet(let direction)): return writeHCIDump(bytes, direction, microseconds)
        case (_, .note), (_, .linkLayer): return false
        }
        return true
    }
}

extension MonitorOpcode {
    /// The opcode of a record with this packet; `nil` if its type is missing or unknown.
    init?(h4 packet: RawSpan, direction: CaptureDirection) {
        guard let octet = packet.byte(at: 0), let type = H4PacketType(rawValue: octet) else { return nil }
        self.init(type: type, direction: direction)
    }
}
