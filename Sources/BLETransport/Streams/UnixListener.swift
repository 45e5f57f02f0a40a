import BLELinux
import Glibc

extension PeerCredentials {
    /// The other end of a connected socket: on a client's side, who listens. Other groups are not asked for.
    init?(of descriptor: Int32) {
        var user: UInt32 = 0
        var group: UInt32 = 0
        var process: Int32 = 0
        guard unsafe clinux_peer_credentials(descriptor, &user, &group, &process) == 0 else { return nil }
        self.init(user: user, group: group, process: process)
    }
}

/// A Unix stream socket that programs connect to.
public final class UnixListener {
    /// Watched by a loop: it is readable when somebody waits.
    public let descriptor: Int32
    private let path: String
    private var isOpen = true
    /// `O_PATH` (open(2)), which Glibc's module lacks: a socket's file cannot be opened in another way.
    private static let reaching: Int32 = 0o10_000_000

    /// Listens at a path, or at an abstract name where it begins with `@`. A socket that no program listens on any more
    /// is replaced; any other file stays.
    /// - Parameter mode: of the socket file: who may connect.
    /// - Throws: `TransportError.system`: `EADDRINUSE` where a program listens there.
    public init(path: String, mode: UInt32 = 0o600) throws(TransportError) {
        self.path = path
        var name = Array(path.utf8)
        let isAbstract = name.first == UInt8(ascii: "@")
        if isAbstract { name[0] = 0 }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard name.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw .system(call: "bind", code: ENAMETOOLONG)
        }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        if !isAbstract { try Self.removeAbandoned(path) }
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        descriptor = socket(AF_UNIX, Int32(type), 0)
        guard descriptor >= 0 else { throw .system(call: "socket", code: errno) }
        // A path ends with a zero byte; an abstract name ends with the address.
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count + (isAbstract ? 0 : 1))
        // Its file gets no other permissions, even for a moment. The mask of the process would be that of all threads.
        _ = fchmod(descriptor, 0o600)
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, length) }
        }
        let code = errno
        guard bound == 0 else {
            Glibc.close(descriptor)
            throw .system(call: "bind", code: code)
        }
        guard isAbstract || Self.setMode(mode, path), listen(descriptor, 128) == 0 else {
            let code = errno
            Glibc.close(descriptor)
            throw .system(call: "listen", code: code)
        }
    }

    /// Changes who may connect; a socket of a service manager, or with an abstract name, has no file.
    /// - Returns: false if the socket's file is not there any more, or is another's.
    @discardableResult
    public func setMode(_ mode: UInt32) -> Bool { path.hasPrefix("@") || Self.setMode(mode, path) }

    /// Sets the permissions of a socket file of this user, and of nothing that was put in its place: a link would give
    /// the permissions to what it leads to.
    private static func setMode(_ mode: UInt32, _ path: String) -> Bool {
        let file = unsafe open(path, Self.reaching | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { Glibc.close(file) }
        var information = stat()
        guard unsafe fstat(file, &information) == 0 else { return false }
        guard information.st_mode & S_IFMT == S_IFSOCK, information.st_uid == geteuid() else {
            errno = EPERM
            return false
        }
        // By this name the kernel reaches the file that is open; fchmod does not take such descriptors.
        return unsafe chmod("/proc/self/fd/\(file)", mode) == 0
    }

    /// Takes over a socket that a service manager has bound and listens on. It also owns the file.
    public init(descriptor: Int32) {
        self.descriptor = descriptor
        path = "@"
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    deinit { close() }

    /// The next connection that waits; `nil` where there is none.
    /// - Throws: `TransportError.system` where the process or the system is out of descriptors or memory: the
    ///   connection waits on, and the socket stays readable.
    public func accept() throws(TransportError) -> (descriptor: Int32, peer: PeerCredentials)? {
        let client = clinux_accept(descriptor)
        guard client >= 0 else {
            let code = errno
            guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(code) else { return nil }
            throw .system(call: "accept", code: code)
        }
        guard var peer = PeerCredentials(of: client) else {
            Glibc.close(client)
            return nil
        }
        peer.otherGroups = Self.groups(of: client)
        return (client, peer)
    }

    private static func groups(of client: Int32) -> [UInt32] {
        // More than any user has; without an answer, only the user and its first group count.
        var groups = [UInt32](repeating: 0, count: 1024)
        let count = unsafe clinux_peer_groups(client, &groups, Int32(groups.count))
        return Array(groups.prefix(max(0, Int(count))))
    }

    /// Listens no more, and removes the socket file.
    public func close() {
        guard isOpen else { return }
        isOpen = false
        Glibc.close(descriptor)
        if !path.hasPrefix("@") { unsafe unlink(path) }
    }

    private static func removeAbandoned(_ path: String) throws(TransportError) {
        var information = stat()
        guard unsafe lstat(path, &information) == 0 else { return }
        guard information.st_mode & S_IFMT == S_IFSOCK else { throw .system(call: "bind", code: EADDRINUSE) }
        guard try isAbandoned(path) else { throw .system(call: "bind", code: EADDRINUSE) }
        unsafe unlink(path)
    }

    /// Whether no program listens at a path any more at which there is a socket. It does not wait: one that hangs
    /// listens.
    /// - Throws: `TransportError` if that cannot be found out, for example because this user may not connect.
    public static func isAbandoned(_ path: String) throws(TransportError) -> Bool {
        do throws(TransportError) {
            Glibc.close(try StreamSockets.connect(unixPath: path, waits: false))
            return false
        } catch {
            switch error {
            case .connectionRefused: return true
            case .connectionTimedOut: return false
            default: throw error
            }
        }
    }
}
