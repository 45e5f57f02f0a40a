import Glibc

/// A file that grows by whole records only.
struct OutputFile: ~Copyable {
    private var descriptor: Int32
    private let isRegular: Bool
    /// The file of a caller's descriptor may already contain octets, which must not be cut off.
    private var isOwn = false

    /// Empties a file that was opened only for this, and closes it later; its permissions never exceed the octal
    /// `permissions`.
    init(emptying descriptor: Int32, permissions: UInt32) {
        self.init(descriptor: descriptor)
        isOwn = true
        guard isRegular else { return }
        ftruncate(descriptor, 0)
        restrict(to: mode_t(permissions))
    }

    /// Uses and later closes an open descriptor.
    init(descriptor: Int32) {
        self.descriptor = descriptor
        var status = stat()
        isRegular = unsafe fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
    }

    /// An existing file keeps its mode when it is opened: excess permissions are removed.
    private func restrict(to permissions: mode_t) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return }
        let mode = status.st_mode & 0o777
        if mode & ~permissions != 0 { fchmod(descriptor, mode & permissions) }
    }

    /// Writes everything, in one call if possible.
    ///
    /// If that fails half-way, the file is cut back to its previous length, so that it ends with a whole record.
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

    /// Writes once; a closed pipe is an error and does not end the process.
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

    /// - Throws: an earlier failure to write, on file systems that report it late.
    mutating func close() throws(SystemError) {
        guard descriptor >= 0 else { return }
        let result = Glibc.close(descriptor)
        descriptor = -1
        // Linux closes the descriptor even when it was interrupted.
        if result != 0, errno != EINTR { throw .last }
    }
}
