import BLE
import BLECapture
import BLERecording
import Synchronization

/// Writes every packet into a capture file (`-w`). An existing file is kept until the first packet.
final class CaptureTap: PacketObserver {
    let path: String
    private let format: CaptureFormat
    private let place: ReservedFile
    private let state = Mutex(State())

    private struct State: ~Copyable {
        /// `nil` until the first packet.
        var writer: CaptureWriter?
        var hasBegun = false
        var failure: CaptureError?
    }

    /// - Parameter hasSeveralAdapters: whether a btsnoop file is one of the kernel's monitor, which says which adapter
    ///   a packet belongs to.
    /// - Throws: `Failure` when the file cannot be written.
    init(path: String, hasSeveralAdapters: Bool = false) throws {
        self.path = path
        guard let format = CaptureFormat(ending: path) else {
            throw Failure(
                "the ending of ‘\(path)’ is not that of a capture format; use .btsnoop, .pcap, .pcapng or .pklg",
                status: .usage)
        }
        self.format = hasSeveralAdapters && format == .btsnoop ? .btsnoopMonitor : format
        do throws(RecordingError) { place = try ReservedFile(path: path, isSecret: false) } catch {
            throw Failure(error)
        }
        // A pipe has no content that could be lost, and its reader may wait for the header.
        if !place.isRegular {
            state.withLock { begin(&$0) }
            try finish()
        }
    }

    /// Nothing was captured: the file is what it was before.
    func abandon() {
        state.withLock { state in
            guard !state.hasBegun else { return }
            state.hasBegun = true
            place.release()
        }
    }

    private func begin(_ state: inout State) {
        guard !state.hasBegun else { return }
        state.hasBegun = true
        do throws(CaptureError) { state.writer = try CaptureWriter(file: place.detach(), format: format) } catch {
            state.failure = error
        }
    }

    func observe(_ packet: RawSpan, direction: PacketDirection, unixMicroseconds: UInt64) {
        observe(packet, direction: direction, unixMicroseconds: unixMicroseconds, adapter: 0)
    }

    func observe(_ packet: RawSpan, direction: PacketDirection, unixMicroseconds: UInt64, adapter: UInt16) {
        state.withLock { state in
            begin(&state)
            do throws(CaptureError) {
                try state.writer?.append(
                    packet: packet, direction: direction == .hostToController ? .hostToController : .controllerToHost,
                    timestampMicroseconds: Int64(clamping: unixMicroseconds), adapter: adapter)
            } catch {
                state.failure = state.failure ?? error
            }
        }
    }

    /// Writes a packet of a record; notes are left out.
    func observe(_ record: borrowing CaptureRecord) {
        guard let direction = record.direction else { return }
        observe(
            record.bytes, direction: direction == .hostToController ? .hostToController : .controllerToHost,
            unixMicroseconds: UInt64(clamping: record.timestampMicroseconds), adapter: record.adapter)
    }

    /// Writes the remaining packets.
    /// - Throws: `Failure` when the file is incomplete.
    func finish() throws {
        let failure = state.withLock { state -> CaptureError? in
            begin(&state)
            do throws(CaptureError) { try state.writer?.flush() } catch { state.failure = state.failure ?? error }
            return state.failure
        }
        if let failure { throw Failure("the capture ‘\(path)’ is incomplete: \(failure)", code: .fileNotWritten) }
    }
}

/// Shows packets to several observers, in order.
final class PacketObservers: PacketObserver {
    private let observers: [any PacketObserver]

    init(_ observers: [any PacketObserver]) { self.observers = observers }

    func observe(_ packet: RawSpan, direction: PacketDirection, unixMicroseconds: UInt64) {
        for observer in observers {
            observer.observe(packet, direction: direction, unixMicroseconds: unixMicroseconds)
        }
    }
}
