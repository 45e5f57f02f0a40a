import BLEHost
import BLELinux
import BLEStateFiles
import Glibc
import Synchronization

/// A lock between processes that is released when its holder dies.
///
/// The kernel wakes waiting processes; nothing polls. The kernel's wait has no timeout, so a separate thread waits.
/// When that takes too long, the thread is abandoned and releases the lock as soon as it gets it. While a thread is
/// abandoned, other callers fail at once: another process has had the lock for too long already.
final class FileLock: Sendable {
    /// The file that is locked; it is created if it is missing.
    private let name: String
    private let timeoutMilliseconds: Int64
    fileprivate let isOverdue = Atomic(false)

    init(name: String, timeoutMilliseconds: Int64) {
        self.name = name
        self.timeoutMilliseconds = timeoutMilliseconds
    }

    /// Waits for the lock until the timeout.
    /// - Returns: a descriptor that has the lock until it is closed.
    /// - Throws: `BondStoreError.busy` when another process has it, `system` when locking is not possible.
    func acquire(in folder: borrowing SafeFolder) throws(BondStoreError) -> Int32 {
        let path = folder.place(name)
        let descriptor: Int32
        do throws(StateFileError) { descriptor = try folder.openOrMake(name, .locking) } catch {
            throw BondStoreError(error)
        }
        var code = Self.lock(descriptor, LOCK_EX | LOCK_NB)
        if code == EWOULDBLOCK, !isOverdue.load(ordering: .relaxed) {
            let wait = LockWait(for: descriptor, of: self)
            code = wait.begin()
            if code == 0 {
                guard let result = wait.result(withinMilliseconds: timeoutMilliseconds) else {
                    throw .busy(path: path)
                }
                code = result
            }
        }
        guard code != 0 else { return descriptor }
        close(descriptor)
        throw code == EWOULDBLOCK ? .busy(path: path) : BondStoreError(path, code)
    }

    /// Returns an errno value, zero when the lock was obtained.
    fileprivate static func lock(_ descriptor: Int32, _ operation: Int32) -> Int32 {
        while flock(descriptor, operation) != 0 {
            if errno != EINTR { return errno }
        }
        return 0
    }
}

/// One wait, on a separate thread.
private final class LockWait: Sendable {
    private enum State {
        case waiting
        /// With an errno value, zero when the lock was obtained.
        case over(Int32)
        /// The thread closes the descriptor.
        case leftBehind
    }

    private let descriptor: Int32
    private let lock: FileLock
    private let state = Mutex(State.waiting)
    private let ended = clinux_eventfd_create()

    init(for descriptor: Int32, of lock: FileLock) {
        self.descriptor = descriptor
        self.lock = lock
    }

    deinit { if ended >= 0 { close(ended) } }

    /// Returns an errno value, zero when the thread runs.
    func begin() -> Int32 {
        guard ended >= 0 else { return errno }
        let context = unsafe Unmanaged.passRetained(self)
        let code = unsafe clinux_thread_start(
            "jelling-lock",
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<LockWait>.fromOpaque(context).takeRetainedValue().run()
            },
            unsafe context.toOpaque())
        if code != 0 { unsafe context.release() }
        return code
    }

    private func run() {
        let code = FileLock.lock(descriptor, LOCK_EX)
        let isAwaited = state.withLock {
            guard case .waiting = $0 else { return false }
            $0 = .over(code)
            return true
        }
        if isAwaited {
            var one: UInt64 = 1
            while unsafe write(ended, &one, 8) < 0, errno == EINTR {}
        } else {
            close(descriptor)
            lock.isOverdue.store(false, ordering: .relaxed)
        }
    }

    /// Returns an errno value, zero when the lock was obtained; `nil` when the thread is abandoned.
    func result(withinMilliseconds span: Int64) -> Int32? {
        let end = Int64(clinux_boottime_microseconds() / 1000) + span
        var latch = pollfd(fd: ended, events: Int16(POLLIN), revents: 0)
        while latch.revents == 0 {
            let rest = end - Int64(clinux_boottime_microseconds() / 1000)
            if rest <= 0 { break }
            _ = unsafe poll(&latch, 1, Int32(clamping: rest))
        }
        return state.withLock {
            if case .over(let code) = $0 { return code }
            $0 = .leftBehind
            lock.isOverdue.store(true, ordering: .relaxed)
            return nil
        }
    }
}

extension BondStoreError {
    /// The system's error for a file or folder.
    init(_ path: String, _ code: Int32) { self = .system(path: path, cause: systemErrorText(code)) }

    init(_ error: StateFileError) {
        if let code = error.code {
            self.init(error.path, code)
        } else {
            self = .refused(path: error.path, cause: error.cause)
        }
    }
}
