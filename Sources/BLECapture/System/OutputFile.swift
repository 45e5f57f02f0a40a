import Glibc

/// A file that grows by whole records only.
struct OutputFile: ~Copyable {
    private var descriptor: Int32
    private let isRegular: Bool
    /// A descriptor from elsewhere may stand behind octets that are not ours to cut.
    private var isOwn = false

    /// Takes over a file that was opened for this alone, and empties it; its permissions are never more than the octal
    /// `permissions`.
    init(emptying descriptor: Int32, permissions: UInt32) {
        self.init(descriptor: descriptor)
        isOwn = true
        guard isRegular else { return }
        ftruncate(descriptor, 0)
        restrict(to: mode_t(permissions))
    }

    /// Takes over an open descriptor.
    init(descriptor: Int32) {
        self.descriptor = descriptor
        var status = stat()
        isRegular = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// A file that was there before keeps its mode when opened: what it allows too much is taken away.
    private func restrict(to permissions: mode_t) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return }
        let mode = status.st_mode & 0o777
        if mode & ~permissions != 0 { fchmod(descriptor, mode & permissions) }
    }

    /// Writes everything, in one call where the system takes it.
    ///
    /// When it fails half-way the file is cut back to its length before, so that it ends with a whole record.
    func write(_ bytes: [UInt8], behind byteCount: UInt64) throws(SystemError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { unsafe writeOnce(.init(rebasing: $0[written...])) }
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                let error = count == 0 ? SystemError(number: ENOSPC) : .last
                if isOwn, isRegular, written > 0, ftruncate(descriptor, off_t(byteCount)) == 0 {
                    lseek(descriptor, off_t(byteCount), SEEK_SET)
                }
                throw error
            }
        }
    }

    /// Writes once; a reader that has gone is an error and not the end of the process.
    private func writeOnce(_ bytes: UnsafeRawBufferPointer) -> Int {
        if isRegular { return unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
        var brokenPipe = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&brokenPipe)
        unsafe sigaddset(&brokenPipe, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &brokenPipe, &before)
        let count = unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        let error = errno
        if count < 0, error == EPIPE {
            var atOnce = timespec()
            unsafe sigtimedwait(&brokenPipe, nil, &atOnce)
        }
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        errno = error
        return count
    }

    /// - Throws: what the system could not write before, on file systems that tell so late.
    mutating func close() throws(SystemError) {
        guard descriptor >= 0 else { return }
        let result = Glibc.close(descriptor)
        descriptor = -1
        // Linux closes the descriptor even when it was interrupted.
        if result != 0, errno != EINTR { throw .last }
    }
}
