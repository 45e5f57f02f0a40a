import BLETransport
import Glibc

/// A pseudo-terminal whose device is a serial port with a controller behind it. Hosts come and go without a word, as on
/// a real port: the controller stays as they leave it.
struct TerminalPort {
    /// The controller's end.
    let descriptor: Int32
    /// Keeps the device open, so that the controller's end does not fail while no host has it.
    private let device: Int32
    private let link: String
    /// The device that the link leads to.
    private let path: String
    /// Keeps other programs of this kind from taking the link; it ends with the process.
    private let claim: Int32
    private let framing: SerialFraming

    /// Replaces a link that a program has left there; any other file is kept.
    /// - Throws: `TransportError.unusableFile` for a path that cannot be used, `system` for other failures.
    init(link: String, framing: SerialFraming) throws(TransportError) {
        self.link = link
        self.framing = framing
        claim = try Self.claim(link)
        descriptor = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(call: "open", code: errno) }
        var (locked, number): (Int32, Int32) = (0, -1)
        // TIOCSPTLCK and TIOCGPTN, macros that Swift does not import.
        guard unsafe ioctl(descriptor, 0x4004_5431, &locked) == 0, unsafe ioctl(descriptor, 0x8004_5430, &number) == 0
        else { throw .system(call: "ioctl", code: errno) }
        path = "/dev/pts/\(number)"
        device = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard device >= 0 else { throw .system(call: "open", code: errno) }
        var settings = termios()
        unsafe tcgetattr(device, &settings)
        unsafe cfmakeraw(&settings)
        unsafe tcsetattr(device, TCSANOW, &settings)
        Self.remove(link)
        guard unsafe symlink(path, link) == 0 else {
            let code = errno
            throw FileIdentity.explained(code, link) ?? .system(call: "symlink", code: code)
        }
    }

    /// Takes the link for this process: an abstract socket with a name made of its place, which nobody else can bind
    /// meanwhile. A link cannot be locked, and hosts lock the device.
    private static func claim(_ link: String) throws(TransportError) -> Int32 {
        let slash = link.lastIndex(of: "/")
        let folder = slash.map { link[...$0] } ?? "./"
        var information = stat()
        guard unsafe stat(String(folder), &information) == 0 else {
            throw FileIdentity.explained(errno, link) ?? .system(call: "stat", code: errno)
        }
        // A folder may have several names.
        let place =
            "\(information.st_dev) \(information.st_ino) "
            + link[(slash.map(link.index(after:)) ?? link.startIndex)...]
        // FNV-1a: a path may be longer than the name of a socket.
        let hash = place.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw .system(call: "socket", code: errno) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = [0] + Array("simulated-controllers pty \(hash)".utf8)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count)
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(socket, $0, length) }
        }
        guard result == 0 else {
            let code = errno
            Glibc.close(socket)
            guard code == EADDRINUSE else { throw .system(call: "bind", code: code) }
            throw .unusableFile(link, reason: "it is in use by another program: stop that, or name another path")
        }
        return socket
    }

    /// The controller's side of the port, from now on.
    func makeTransport() -> any HCITransport {
        let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        let address = TransportAddress.serialPort(device: link, baud: 115_200, framing: framing)
        guard framing == .h5 else { return StreamTransport(descriptor: own, isSocket: false, address: address) }
        var configuration = ThreeWireConfiguration()
        // A pseudo-terminal has no speed of its own, so the greatest that hosts of three wires use.
        configuration.baud = 4_000_000
        let transport = ThreeWireTransport(
            descriptor: own, isSocket: false, configuration: configuration, address: address)
        transport.waitsForPeer = true
        return transport
    }

    func close() {
        var target = [UInt8](repeating: 0, count: 64)
        let count = unsafe readlink(link, &target, target.count)
        // Somebody may have put another one there.
        if count > 0, target[..<count].elementsEqual(path.utf8) { Self.remove(link) }
        Glibc.close(device)
        Glibc.close(descriptor)
        Glibc.close(claim)
    }

    private static func remove(_ path: String) {
        var information = stat()
        if unsafe lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFLNK { unsafe unlink(path) }
    }
}
