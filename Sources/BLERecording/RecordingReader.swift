import BLECapture
import BLEHost
import BLEJSON
import BLEMessages
import BLEPackets

/// Reads a recording in order: the inputs one by one, and the packets that the engine sent.
public struct RecordingReader: ~Copyable {
    /// The files.
    public let files: RecordingFiles
    /// The configuration of the recorded engine.
    public let configuration: HostConfiguration
    private let hasEnding: Bool
    private var isEnded = false

    private var lines: LineReader
    private var packets: CaptureReader
    private let packetsPath: String
    /// Packets that were skipped on the way to one of the other direction.
    private var received = Queue<[UInt8]>()
    private var sent = Queue<[UInt8]>()
    private var receivedCount: UInt64 = 0
    private var lastTime = Instant.zero

    /// Opens both files and reads the configuration.
    /// - Throws: `RecordingError`.
    public init(_ files: RecordingFiles) throws(RecordingError) {
        var lines = try LineReader(path: files.inputs)
        let header = try Self.readHeader(from: &lines, path: files.inputs)
        let path = files.existingPackets
        do throws(CaptureError) {
            packets = try CaptureReader(path: path)
        } catch {
            throw .packets(path: path, error)
        }
        packetsPath = path
        self.files = files
        self.lines = lines
        configuration = header.configuration
        hasEnding = header.hasEnding
    }

    private static func readHeader(
        from lines: inout LineReader, path: String
    ) throws(RecordingError) -> RecordingHeader {
        guard let line = try lines.next() else {
            throw .malformedLine(path: path, line: 1, reason: "the configuration is missing")
        }
        let header: RecordingHeader = try Self.message(in: line, number: 1, path: path)
        guard header.version == RecordingHeader.currentVersion else { throw .unknownVersion(Int(header.version)) }
        return header
    }

    private static func message<M: Message>(
        in line: [UInt8], number: Int, path: String
    ) throws(RecordingError) -> M {
        let object: JSONValue
        do throws(JSONProblem) { object = try JSONReader.value(in: line) } catch {
            throw .malformedLine(path: path, line: number, reason: error.message)
        }
        do throws(MessageJSONProblem) { return try M(json: object) } catch {
            // Of the lines themselves, those with an input have a choice.
            let isUnknown = error.path.isEmpty && error.cause == .noKnownChoice
            let reason = isUnknown ? "no input that this program knows" : error.description
            throw .malformedLine(path: path, line: number, reason: reason)
        }
    }

    /// The next input and its time; `nil` at the end.
    /// - Throws: `RecordingError.malformedLine`, `missingPacket` or `packets`.
    public mutating func nextInput() throws(RecordingError) -> (input: HostInput, time: Instant)? {
        guard let line = try lines.next() else { return nil }
        let recorded: RecordedLine = try Self.message(in: line, number: lines.lineNumber, path: files.inputs)
        guard recorded.time >= lastTime else {
            throw .malformedLine(
                path: files.inputs, line: lines.lineNumber,
                reason: "its time is earlier than that of the previous line")
        }
        lastTime = recorded.time
        let number: UInt64
        switch recorded.content {
        case .end:
            isEnded = true
            return nil
        case .input(let input): return (input, recorded.time)
        case .packet(let packet): number = packet
        }
        guard number == receivedCount else {
            throw .malformedLine(
                path: files.inputs, line: lines.lineNumber,
                reason: "found packet \(number), expected packet \(receivedCount)")
        }
        while true {
            if let packet = received.popFirst() {
                receivedCount += 1
                return (.packet(packet), recorded.time)
            }
            guard try readPacket() else { throw .missingPacket(path: packetsPath, number: number) }
        }
    }

    /// The next packet that the recorded engine sent; `nil` when there is none left.
    /// - Throws: `RecordingError.packets`.
    public mutating func nextSentPacket() throws(RecordingError) -> [UInt8]? {
        while true {
            if let packet = sent.popFirst() { return packet }
            guard try readPacket() else { return nil }
        }
    }

    /// How many packets from the controller were skipped without an input; after the end, how many packets have no
    /// input.
    public var unreachedPacketCount: UInt64 { UInt64(received.count) }

    /// Whether the recording program was killed: the last line is missing. Recordings that were converted from an early
    /// format have no such line and never count as cut.
    public var isCut: Bool { hasEnding && !isEnded }

    /// - Returns: whether there was a packet.
    private mutating func readPacket() throws(RecordingError) -> Bool {
        var received: [UInt8]?
        var sent: [UInt8]?
        do throws(CaptureError) {
            while received == nil, sent == nil, let record = try packets.next() {
                switch record.direction {
                case .controllerToHost: received = record.bytes.copied()
                case .hostToController: sent = record.bytes.copied()
                case nil: break
                }
            }
        } catch {
            throw .packets(path: packetsPath, error)
        }
        if let received { self.received.append(received) }
        if let sent { self.sent.append(sent) }
        return received != nil || sent != nil
    }
}
