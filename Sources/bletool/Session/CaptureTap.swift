import BLE
import BLECapture
import Synchronization

/// Writes every packet into a capture file (`-w`).
final class CaptureTap: PacketObserver {
    let path: String
    private let state: Mutex<State>

    private struct State: ~Copyable {
        var writer: CaptureWriter
        var failure: CaptureError?
    }

    /// - Throws: `Failure` when the file cannot be made.
    init(path: String) throws {
        self.path = path
        guard let format = CaptureFormat(ending: path) else {
            throw Failure("the ending of ‘\(path)’ names no capture format", status: .usage)
        }
        let writer: CaptureWriter
        do throws(CaptureError) { writer = try CaptureWriter(path: path, format: format) } catch {
            throw Failure("‘\(path)’: \(error)")
        }
        state = Mutex(State(writer: writer))
    }

    func observe(_ packet: RawSpan, direction: PacketDirection, unixMicroseconds: UInt64) {
        state.withLock { state in
            do throws(CaptureError) {
                try state.writer.append(
                    packet: packet, direction: direction == .hostToController ? .hostToController : .controllerToHost,
                    timestampMicroseconds: Int64(clamping: unixMicroseconds))
            } catch {
                state.failure = state.failure ?? error
            }
        }
    }

    /// Writes what is left.
    /// - Throws: `Failure` when the file is not whole.
    func finish() throws {
        let failure = state.withLock { state -> CaptureError? in
            do throws(CaptureError) { try state.writer.flush() } catch { state.failure = state.failure ?? error }
            return state.failure
        }
        if let failure { throw Failure("the capture ‘\(path)’ is not whole: \(failure)") }
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
