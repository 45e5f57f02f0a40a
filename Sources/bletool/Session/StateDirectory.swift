import BLE
import Glibc

/// Where the program keeps what must outlive it: `$XDG_STATE_HOME/jelling`, or `~/.local/state/jelling`.
struct StateDirectory: Sendable {
    let path: String

    /// - Parameter path: the user's choice; `nil` for the usual place.
    init(path: String?, environment: (String) -> String? = Self.environment) {
        if let path {
            self.path = path
            return
        }
        // A relative path there has no meaning (XDG Base Directory Specification).
        if let base = environment("XDG_STATE_HOME"), base.hasPrefix("/") {
            self.path = base + "/jelling"
        } else if let home = environment("HOME"), !home.isEmpty {
            self.path = home + "/.local/state/jelling"
        } else {
            self.path = "/var/lib/jelling"
        }
    }

    private static func environment(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }
    }

    /// The random static address that is kept here; a new one where there is none yet.
    ///
    /// Each adapter gets one of its own, so that two of them on one machine are two devices on the air.
    /// - Parameter index: the adapter's.
    /// - Throws: `Failure` when the address cannot be kept.
    func staticAddress(adapter index: UInt16) throws -> DeviceAddress {
        let file = path + "/static-address"
        let kept = try read(file).flatMap(Self.parse) ?? create(file)
        let offset = (kept.value &+ UInt64(index)) & 0x3FFF_FFFF_FFFF
        return DeviceAddress(value: offset | 0b11 << 46, kind: .random)
    }

    private static func parse(_ text: String) -> DeviceAddress? {
        let line = text.prefix { $0 != "\n" }
        guard let address = DeviceAddress(String(line)), address.randomKind == .static else { return nil }
        return address
    }

    private func create(_ file: String) throws -> DeviceAddress {
        try makeDirectory()
        let address = DeviceAddress.randomStatic()
        let temporary = file + ".\(getpid())"
        try write(address.description + "\n", to: temporary)
        defer { unlink(temporary) }
        // A link does not replace: of two programs that start together, one makes the address and both use it.
        if link(temporary, file) == 0 { return address }
        if errno == EEXIST, let kept = try read(file).flatMap(Self.parse) { return kept }
        guard rename(temporary, file) == 0 else { throw Self.failure("kept", file) }
        return address
    }

    private func makeDirectory() throws {
        var part = path.hasPrefix("/") ? "" : "."
        for component in path.split(separator: "/") {
            part += "/" + component
            guard mkdir(part, 0o700) == 0 || errno == EEXIST else { throw Self.failure("created", part) }
        }
    }

    private func read(_ file: String) throws -> String? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw Self.failure("read", file)
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0 else { throw Self.failure("read", file) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    private func write(_ text: String, to file: String) throws {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("written", file) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        guard count == bytes.count, fsync(descriptor) == 0 else { throw Self.failure("written", file) }
    }

    private static func failure(_ verb: String, _ path: String) -> Failure {
        Failure("‘\(path)’ cannot be \(verb): \(String(cString: strerror(errno))); name another place with --state")
    }
}
