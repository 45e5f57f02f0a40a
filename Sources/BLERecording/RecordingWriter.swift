import BLECapture
import BLEHost
import BLEPackets
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes down a run of the engine so that it can be repeated: every packet, and every input with its time.
///
/// The files hold keys and names; only their owner may read them. Files of that name that are there already are kept
/// until there is a first input.
public final class RecordingWriter: HostInputObserver {
    /// What is written.
    public let files: RecordingFiles
    private let places: [ReservedFile]
    private let state: Mutex<State>

    private struct State: ~Copyable {
        /// `nil` until there is something to write.
        var packets: CaptureWriter?
        var inputs: LineFile?
        var hasBegun = false
        var packetCount: UInt64 = 0
        var lastTime = Instant.zero
        var isFinished = false
        var failure: RecordingError?
        var header: RecordingHeader?
        let encoder: JSONEncoder
    }

    /// Makes sure that both files can be written, and leaves what they hold for now.
    /// - Throws: `RecordingError.cannotWrite`; `refused` where a file is another user's, a link, or no file.
    public init(_ files: RecordingFiles) throws(RecordingError) {
        self.files = files
        let packets = try ReservedFile(path: files.packets, isSecret: true)
        do throws(RecordingError) {
            places = [packets, try ReservedFile(path: files.inputs, isSecret: true)]
        } catch {
            packets.release()
            throw error
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        state = Mutex(State(encoder: encoder))
    }

    /// Why the recording is not whole: the first thing that could not be written. `nil` while all is well.
    public var failure: RecordingError? { state.withLock { $0.failure } }

    /// Keeps the configuration for the head of the file. Only the first counts: a recording is of one engine.
    public func began(_ configuration: HostConfiguration) {
        state.withLock { state in
            // One engine, one recording: a second beginning could not be repeated from these files.
            state.header =
                state.header
                ?? RecordingHeader(
                    recording: RecordingHeader.currentVersion, configuration: configuration, hasEnding: true)
        }
    }

    /// Nothing came into the engine: the files are what they were before, and nothing is written any more. Does nothing
    /// when something was written already.
    public func abandon() {
        state.withLock { state in
            guard !state.hasBegun else { return }
            state.hasBegun = true
            for place in places { place.release() }
        }
    }

    /// Writes an input with its time, and a packet into the file of packets as well. The first of all empties both
    /// files; what cannot be written is told by `failure`.
    public func observe(_ input: HostInput, at time: Instant) {
        state.withLock { state in
            begin(&state)
            state.lastTime = time
            write(RecordedInput(input, at: time, packetNumber: state.packetCount), into: &state)
            guard case .packet(let bytes) = input else { return }
            state.packetCount += 1
            append(bytes.span.bytes, .controllerToHost, into: &state)
        }
    }

    /// Writes a packet that the engine sent into the file of packets; what cannot be written is told by `failure`.
    public func observeSent(_ packet: RawSpan, at time: Instant) {
        state.withLock { state in
            begin(&state)
            append(packet, .hostToController, into: &state)
        }
    }

    /// Writes what is left, and the line that says that nothing is missing.
    /// - Throws: the first thing that could not be written.
    public func finish() throws(RecordingError) {
        let failure = state.withLock { state -> RecordingError? in
            begin(&state)
            if !state.isFinished, state.inputs != nil {
                state.isFinished = true
                write(RecordedInput.ending(at: state.lastTime), into: &state)
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
            state.packets = try CaptureWriter(file: places[0].take(), format: .btsnoop)
        } catch {
            state.failure = .packets(path: files.packets, error)
            return
        }
        state.inputs = LineFile(descriptor: places[1].take())
        if let header = state.header { write(header, into: &state) }
    }

    private func write(_ line: some Encodable, into state: inout State) {
        guard state.failure == nil else { return }
        do {
            var bytes = Array(try state.encoder.encode(line))
            bytes.append(UInt8(ascii: "\n"))
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
