import BLETransport
import Glibc
import Synchronization

/// The frames of the kernel's monitor channel as a capture that never ends: btsnoop of the Linux monitor, from a pipe.
final class MonitorFrames: Sendable {
    /// How often the thread checks whether it should stop, in milliseconds.
    private static let slice: Int32 = 100

    /// Where the capture is read. The reader closes it.
    let output: Int32
    private let input: Int32
    private let state = Mutex(State())

    private struct State {
        var isOver = false
        var failure: TransportError?
    }

    /// - Parameter adapter: whose frames are let through; `nil`: those of all.
    /// - Throws: the errors of `MonitorSocket`.
    init(adapter: UInt16?) throws(TransportError) {
        let socket = try MonitorSocket()
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw .system(call: "pipe", code: errno) }
        (output, input) = (ends[0], ends[1])
        start(SocketBox(socket), adapter)
    }

    /// Hands the socket to the thread.
    private final class SocketBox: @unchecked Sendable {
        // @unchecked Sendable is safe because only the thread uses the socket once it has the box.
        let socket: MonitorSocket
        init(_ socket: consuming MonitorSocket) { self.socket = socket }
    }

    private func start(_ box: SocketBox, _ adapter: UInt16?) {
        // The thread waits in the kernel: no task of the pool must do so.
        let body: @Sendable () -> Void = { [self] in
            var bytes = MonitorRecord.fileHeader
            write(bytes)
            do throws(TransportError) {
                while !state.withLock({ $0.isOver }) {
                    let isWhole = try box.socket.nextFrame(within: Self.slice) { frame in
                        MonitorRecord.write(frame, at: Timestamp.now, of: adapter, into: &bytes)
                    }
                    guard isWhole == true else { continue }
                    write(bytes)
                }
            } catch {
                state.withLock { $0.failure = error }
            }
            close(input)
        }
        ThreadBody(body).start()
    }

    /// Ends the thread.
    /// - Returns: why the channel failed, if it did.
    func end() -> TransportError? {
        state.withLock { state in
            state.isOver = true
            return state.failure
        }
    }

    private func write(_ bytes: [UInt8]) {
        if Console.writeAll(input, bytes.span.bytes) != nil { _ = end() }
    }
}
