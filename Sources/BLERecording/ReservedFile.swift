import Glibc

/// The place of a file that is written later: it can be written, and what it holds is not touched before.
package struct ReservedFile: Sendable {
    private let path: String
    private let isNew: Bool
    /// Whether it is a file that keeps what is written; not so a pipe or a device.
    package let isRegular: Bool

    /// Makes the file where there is none. Only its owner may read it.
    /// - Throws: `RecordingError.cannotWrite`.
    package init(path: String) throws(RecordingError) {
        self.path = path
        var status = stat()
        let isThere = stat(path, &status) == 0
        isRegular = !isThere || status.st_mode & S_IFMT == S_IFREG
        var isMade = false
        if isRegular {
            var descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            isMade = descriptor >= 0
            if !isMade { descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600) }
            guard descriptor >= 0 else { throw .cannotWrite(path: path, reason: String(cString: strerror(errno))) }
            close(descriptor)
        }
        isNew = isMade
    }

    /// Nothing is to be written after all.
    package func release() {
        if isNew { unlink(path) }
    }
}
