import BLETransport
import Glibc

/// Reports what appears in a folder: a daemon that starts puts its socket there.
final class FolderWatch {
    private let descriptor: Int32
    private let registration: EventLoop.Registration

    /// - Parameter changed: called on the loop when something appears; may be called for nothing.
    /// - Returns: `nil` if the folder cannot be watched, for instance because it does not exist.
    init?(_ folder: String, on loop: EventLoop, changed: @escaping () -> Void) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        let mask = UInt32(IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF)
        guard unsafe inotify_add_watch(descriptor, folder, mask) >= 0,
            let registration = try? loop.register(
                descriptor, for: .readable,
                handler: { _ in
                    Self.drain(descriptor)
                    changed()
                })
        else {
            Glibc.close(descriptor)
            return nil
        }
        self.descriptor = descriptor
        self.registration = registration
    }

    private static func drain(_ descriptor: Int32) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while unsafe read(descriptor, &buffer, buffer.count) > 0 {}
    }

    func close() {
        registration.cancel()
        Glibc.close(descriptor)
    }
}
