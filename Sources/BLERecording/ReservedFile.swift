import BLEStateFiles
import Glibc
import Synchronization

/// The place of a file that is written later: it is held open, and what it holds is not touched before.
package final class ReservedFile: Sendable {
    private let path: String
    private let isNew: Bool
    /// Whether it is a file that keeps what is written; not so a pipe or a device.
    package let isRegular: Bool
    /// Negative when it was taken.
    private let descriptor: Mutex<Int32>

    /// Makes the file where there is none. Only its owner may read it.
    /// - Parameter isSecret: whether it will hold keys on purpose: then it is a regular file of this user alone.
    /// - Throws: `RecordingError.cannotWrite`, or `refused` where another user may have put there what stands there.
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

    /// Hands over the descriptor, of an empty file; the caller closes it. Once only.
    package func take() -> Int32 {
        descriptor.withLock { descriptor in
            defer { descriptor = -1 }
            if isRegular { ftruncate(descriptor, 0) }
            return descriptor
        }
    }

    /// Nothing is to be written after all.
    package func release() {
        guard isNew else { return }
        // Not what another has put there meanwhile.
        var own = stat()
        var there = stat()
        guard descriptor.withLock({ unsafe fstat($0, &own) == 0 }), unsafe lstat(path, &there) == 0 else { return }
        if own.st_ino == there.st_ino, own.st_dev == there.st_dev { unsafe unlink(path) }
    }
}
