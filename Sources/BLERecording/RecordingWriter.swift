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
/// The files hold keys and names; only their owner may read them.
public final class RecordingWriter: HostInputObserver {
    public let files: RecordingFiles
    private let state: Mutex<State>

    private struct State: ~Copyable {
        var packets: CaptureWriter
        var inputs: LineFile
        var packetCount: UInt64 = 0
        var failure: RecordingError?
        var hasHeader = false
        let encoder: JSONEncoder
    }

    /// Creates both files, or empties them.
    /// - Throws: `RecordingError.cannotWrite` or `packets`.
    public init(_ files: RecordingFiles) throws(RecordingError) {
        self.files = files
        let packets: CaptureWriter
        do throws(CaptureError) {
            packets = try CaptureWriter(path: files.packets, format: .btsnoop)
        } catch {
            throw .packets(path: files.packets, error)
        }
        let inputs = try LineFile(path: files.inputs)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        state = Mutex(State(packets: packets, inputs: inputs, encoder: encoder))
    }

    /// Why the recording is not whole: the first thing that could not be written. `nil` while all is well.
    public var failure: RecordingError? { state.withLock { $0.failure } }

    public func began(_ configuration: HostConfiguration) {
        state.withLock { state in
            // One engine, one recording: a second beginning could not be repeated from these files.
            guard !state.hasHeader else { return }
            state.hasHeader = true
            write(
                RecordingHeader(recording: RecordingHeader.currentVersion, configuration: configuration), into: &state)
        }
    }

    public func observe(_ input: HostInput, at time: Instant) {
        state.withLock { state in
            write(RecordedInput(input, at: time, packetNumber: state.packetCount), into: &state)
            guard case .packet(let bytes) = input else { return }
            state.packetCount += 1
            append(bytes.span.bytes, .controllerToHost, into: &state)
        }
    }

    public func observeSent(_ packet: RawSpan, at time: Instant) {
        state.withLock { state in append(packet, .hostToController, into: &state) }
    }

    /// Writes what is left.
    /// - Throws: the first thing that could not be written.
    public func finish() throws(RecordingError) {
        let failure = state.withLock { state -> RecordingError? in
            do throws(CaptureError) {
                try state.packets.flush()
            } catch {
                state.failure = state.failure ?? .packets(path: files.packets, error)
            }
            return state.failure
        }
        if let failure { throw failure }
    }

    private func write(_ line: some Encodable, into state: inout State) {
        guard state.failure == nil else { return }
        do {
            var bytes = Array(try state.encoder.encode(line))
            bytes.append(UInt8(ascii: "\n"))
            guard !state.inputs.write(bytes) else { return }
            state.failure = .cannotWrite(path: files.inputs, reason: "the disk is full or gone")
        } catch {
            state.failure = .cannotWrite(path: files.inputs, reason: "\(error)")
        }
    }

    private func append(_ packet: RawSpan, _ direction: CaptureDirection, into state: inout State) {
        guard state.failure == nil else { return }
        do throws(CaptureError) {
            try state.packets.append(
                packet: packet, direction: direction,
                timestampMicroseconds: CaptureClock.microsecondsSinceEpoch())
        } catch {
            state.failure = .packets(path: files.packets, error)
        }
    }
}
