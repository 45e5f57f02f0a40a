import Glibc

/// Ends the wait of a thread for its sockets, from any other thread.
final class WakeUp: Sendable {
    /// Becomes readable; −1 if the system has no descriptors left: then nothing wakes the thread before its time.
    let reader: Int32
    private let writer: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else {
            (reader, writer) = (-1, -1)
            return
        }
        (reader, writer) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        if reader >= 0 {
            close(reader)
            close(writer)
        }
    }

    func signal() { _ = unsafe write(writer, [1], 1) }

    /// Forgets signals until now.
    func clear() {
        var octets = [UInt8](repeating: 0, count: 64)
        while unsafe read(reader, &octets, octets.count) > 0 {}
    }

    /// Waits for a signal, so many milliseconds at most.
    func wait(_ milliseconds: Int32) { _ = waitForSignal(milliseconds) }

    /// Waits for a signal, so many milliseconds at most.
    /// - Returns: whether one came.
    func waitForSignal(_ milliseconds: Int32) -> Bool {
        var waited = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        let count = unsafe poll(&waited, 1, milliseconds)
        clear()
        return count > 0
    }
}
