import BLEStateFiles
import Glibc

/// A pseudo-terminal that programs open as a serial port, by a link to its device.
final class PseudoTerminal: Sendable {
    /// The end of this program; reads and writes do not block.
    let descriptor: Int32
    private let device: String
    private let link: String

    /// Replaces a link to a pseudo-terminal that is gone; anything else at the path stays.
    /// - Throws: `Failure`.
    init(link: String) throws {
        // First: the new pseudo-terminal takes the lowest number, which may be that of the one that is gone.
        if Self.isAbandoned(link) { unsafe unlink(link) }
        descriptor = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Failure("no pseudo-terminal is available: \(systemErrorText(errno))") }
        var (locked, number): (Int32, Int32) = (0, -1)
        // TIOCSPTLCK and TIOCGPTN, macros that Swift does not import. The settings are those of the device: it need not
        // be opened for them, and its end shows when programs have closed it.
        var settings = termios()
        guard unsafe ioctl(descriptor, 0x4004_5431, &locked) == 0, unsafe ioctl(descriptor, 0x8004_5430, &number) == 0,
            unsafe tcgetattr(descriptor, &settings) == 0
        else {
            let code = errno
            Glibc.close(descriptor)
            throw Failure("no pseudo-terminal is available: \(systemErrorText(code))")
        }
        unsafe cfmakeraw(&settings)
        unsafe tcsetattr(descriptor, TCSANOW, &settings)
        device = "/dev/pts/\(number)"
        self.link = link
        guard unsafe symlink(device, link) == 0 else {
            let code = errno
            Glibc.close(descriptor)
            throw Failure(
                code == EEXIST
                    ? "‘\(link)’ exists already: remove it, or name another path"
                    : "cannot make the link ‘\(link)’: \(systemErrorText(code))", status: .usage)
        }
    }

    /// Removes the link, unless somebody has put another one there.
    func close() {
        if Self.target(of: link) == device { unsafe unlink(link) }
        Glibc.close(descriptor)
    }

    /// Whether there is a link of this user's to a pseudo-terminal that no longer exists.
    private static func isAbandoned(_ link: String) -> Bool {
        guard let target = target(of: link), target.hasPrefix("/dev/pts/") else { return false }
        var information = stat()
        guard unsafe lstat(link, &information) == 0, information.st_uid == geteuid() else { return false }
        return unsafe stat(target, &information) != 0 && errno == ENOENT
    }

    private static func target(of link: String) -> String? {
        var target = [UInt8](repeating: 0, count: 64)
        let count = unsafe readlink(link, &target, target.count)
        return count > 0 ? String(decoding: target[..<count], as: UTF8.self) : nil
    }
}
