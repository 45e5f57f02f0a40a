import Glibc

/// The files that an earlier capture of the same path has left: a service that is started again keeps what shows why it
/// ended.
///
/// `bled.btsnoop` becomes `bled.1.btsnoop`, which becomes `bled.2.btsnoop`, and so on; the ending still chooses the
/// format.
struct EarlierFiles {
    /// How many are kept. systemd starts a service that fails at once five times, and then no more.
    static let limit = 9

    let path: String

    /// Keeps the file that is there, if it is one with content. A device, a pipe or a link stays.
    /// - Returns: the error of the system, or `nil`.
    func keep() -> Int32? {
        var information = stat()
        guard unsafe lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
            // What belongs to somebody else is not moved; whether it may be written is checked when it is opened.
            information.st_size > 0, information.st_uid == geteuid()
        else { return nil }
        var number = 1
        while number < Self.limit, unsafe access(name(number), F_OK) == 0 { number += 1 }
        while number > 1 {
            if let error = rename(name(number - 1), to: name(number)) { return error }
            number -= 1
        }
        return rename(path, to: name(1))
    }

    func name(_ number: Int) -> String {
        let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        guard let dot = path[start...].lastIndex(of: ".") else { return "\(path).\(number)" }
        return "\(path[..<dot]).\(number)\(path[dot...])"
    }

    private func rename(_ from: String, to name: String) -> Int32? {
        unsafe Glibc.rename(from, name) == 0 ? nil : errno
    }
}
