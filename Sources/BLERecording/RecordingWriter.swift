import BLECapture
import BLEHost
import BLEMessages
import BLEPackets
import Synchronization

/// Records a run of the engine for replay: every packet, and every input with its time.
///
/// The files contain keys and names; only their owner may read them. Existing files stay as they are until the first input.
public final class RecordingWriter: HostInputObserver {
    /// The files.
    public let files: RecordingFiles
    private let places: [ReservedFile]
    private let state: Mutex<State>

    private struct State: ~Copyable {
        /// `nil` until the first input.
        var packets: CaptureWriter?
        var inputs: LineFile?
        var hasBegun = false
        var packetCount: UInt64 = 0
        var lastTime = Instant.zero
        var isFinished = false
        var failure: RecordingError?
        var header: RecordingHeader?
    }

    /// Makes sure that both files can be written; their content is not changed yet.
    /// - Throws: `RecordingError.cannotWrite`; `refused` if a file belongs to another user, is a link, or is not a
    ///   regular file.
    public init(_ files: RecordingFiles) throws(RecordingError) {
        self.files = files
        let packets = try ReservedFile(path: files.packets, isSecret: true)
        do throws(RecordingError) {
            places = [packets, try ReservedFile(path: files.inputs, isSecret: true)]
        } catch {
            packets.release()
            throw error
        }
        state = Mutex(State())
    }

    /// Why the recording is incomplete: the first error. `nil` while there is none.
    public var failure: RecordingError? { state.withLock { $0.failure } }

    /// Stores the configuration for the first line of the file. Only the first call counts: a recording is of one
    /// engine.
    public func began(_ configuration: HostConfiguration) {
        state.withLock { state in
            // One engine, one recording: a second engine could not be replayed from these files.
            state.header = state.header ?? RecordingHeader(configuration)
        }
    }

    /// Ends a recording without any input: the files still have their old content. Has no effect once something was written.
    public func abandon() {
        state.withLock { state in
            guard !state.hasBegun else { return }
            state.hasBegun = true
            for place in places { place.release() }
        }
    }

    /// Writes an input with its time, and a packet also to the capture. The first input empties both files; `failure`
    /// has the error if writing fails.
    public func observe(_ input: HostInput, at time: Instant) {
        state.withLock { state in
            begin(&state)
            state.lastTime = time
            guard case .packet(let bytes) = input else {
                return write(RecordedLine(.input(input), at: time), into: &state)
            }
            write(RecordedLine(.packet(state.packetCount), at: time), into: &state)
            state.packetCount += 1
            append(bytes.span.bytes, .controllerToHost, into: &state)
        }
    }

    /// Writes a packet of the engine to the capture; `failure` has the error if writing fails.
    public func observeSent(_ packet: RawSpan, at time: Instant) {
        state.withLock { state in
            begin(&state)
            append(packet, .hostToController, into: &state)
        }
    }

    /// Writes what is left, and the last line, which marks the recording as complete.
    /// - Throws: the first error.
    public func finish() throws(RecordingError) {
        let failure = state.withLock { state -> RecordingError? in
            begin(&state)
            if !state.isFinished, state.inputs != nil {
                state.isFinished = true
                write(RecordedLine(.end, at: state.lastTime), into: &state)
            }
            do throws(CaptureError) {
                try state.packets?.flush()
            } catch {
                state.failure = state.failure ?? .packets(path: files.packets, error)
            }
            return state.failure
        }
        if let failure { throw failure }
    }

    /// Empties both files and writes the header.
    private func begin(_ state: inout State) {
        guard !state.hasBegun else { return }
        state.hasBegun = true
        do throws(CaptureError) {
            state.packets = try CaptureWriter(file: places[0].detach(), format: .btsnoop)
        } catch {
            state.failure = .packets(path: files.packets, error)
            return
        }
        state.inputs = LineFile(descriptor: places[1].detach())
        if let header = state.header { write(header, into: &state) }
    }

    private func write(_ line: some Message, into state: inout State) {
        guard state.failure == nil else { return }
        do throws(MessageError) {
            let bytes = try line.json() + [UInt8(ascii: "\n")]
            guard state.inputs?.write(bytes) == false else { return }
            state.failure = .cannotWrite(path: files.inputs, reason: "the disk is full or gone")
        } catch {
            state.failure = .cannotWrite(path: files.inputs, reason: "\(error)")
        }
    }

    private func append(_ packet: RawSpan, _ direction: CaptureDirection, into state: inout State) {
        guard state.failure == nil else { return }
        do throws(CaptureError) {
            try state.packets?.append(
                packet: packet, direction: direction,
                timestampMicroseconds: CaptureClock.microsecondsSinceEpoch())
        } catch {
            state.failure = .packets(path: files.packets, error)
        }
    }
}
