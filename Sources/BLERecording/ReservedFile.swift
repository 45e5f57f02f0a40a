import BLEStateFiles
import Glibc
import Synchronization

/// A file that will be written later: it is open, and its content stays until then.
package final class ReservedFile: Sendable {
    private let path: String
    private let isNew: Bool
    /// Whether it is a regular file, not a pipe or a device.
    package let isRegular: Bool
    /// Negative after `detach()`.
    private let descriptor: Mutex<Int32>

    /// Opens the file, or creates it; only its owner may read it.
    /// - Parameter isSecret: whether it will contain keys: then it must be a regular file that only this user can access.
    /// - Throws: `RecordingError.cannotWrite`, or `refused` if another user may have put the existing file there.
    package init(path: String, isSecret: Bool) throws(RecordingError) {
        self.path = path
        do throws(StateFileError) {
            let place = try OutputPlace.open(path, isSecret: isSecret)
            isNew = place.isNew
            var information = stat()
            isRegular = unsafe fstat(place.descriptor, &information) == 0 && information.st_mode & S_IFMT == S_IFREG
            descriptor = Mutex(place.descriptor)
        } catch {
            guard let code = error.code else { throw .refused(path: path, cause: error.outputCause) }
            throw .cannotWrite(path: path, reason: systemErrorText(code))
        }
    }

    deinit { descriptor.withLock { if $0 >= 0 { close($0) } } }

    /// Empties the file and returns its descriptor, which the caller closes. Call it only once.
    package func detach() -> Int32 {
        descriptor.withLock { descriptor in
            defer { descriptor = -1 }
            if isRegular { ftruncate(descriptor, 0) }
            return descriptor
        }
    }

    /// Closes the file without writing; removes it if it is new and empty.
    package func release() {
        guard isNew else { return }
        // Not a file that another process has put there meanwhile.
        var own = stat()
        var there = stat()
        guard descriptor.withLock({ unsafe fstat($0, &own) == 0 }), unsafe lstat(path, &there) == 0 else { return }
        if own.st_ino == there.st_ino, own.st_dev == there.st_dev { unsafe unlink(path) }
    }
}
