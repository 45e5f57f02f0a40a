import Glibc

/// The files that an earlier capture of the same path has left: a service that is started again keeps what shows why it
/// ended.
///
/// `bled.btsnoop` becomes `bled.1.btsnoop`, which becomes `bled.2.btsnoop`, and so on; the ending still chooses the
/// format. Names that are taken by anything but a file of this user are passed over: in a folder such as `/tmp`, others
/// may have put it there.
struct EarlierFiles {
    /// How many are kept. systemd starts a service that fails at once five times, and then no more.
    static let limit = 9

    let path: String

    /// What `keep` returns if every name is taken.
    static let noName = EEXIST

    /// Keeps the file that is there, if it is one with content. A device, a pipe or a link stays.
    /// - Returns: the error of the system, or `nil`.
    func keep() -> Int32? {
        var information = stat()
        guard unsafe lstat(path, &information) == 0, information.st_mode & S_IFMT == S_IFREG,
            // What belongs to somebody else is not moved; whether it may be written is checked when it is opened.
            information.st_size > 0, information.st_uid == geteuid()
        else { return nil }
        let names = (1...Self.limit).map { name($0) }.filter { Self.isUsable($0) }
        guard let latest = names.first else { return Self.noName }
        var place = names.firstIndex { unsafe access($0, F_OK) != 0 } ?? names.count - 1
        while place > 0 {
            if let error = rename(names[place - 1], to: names[place]) { return error }
            place -= 1
        }
        return rename(path, to: latest)
    }

    /// Whether nothing has the name, or a file of this user.
    private static func isUsable(_ name: String) -> Bool {
        var information = stat()
        // If that cannot be seen, renaming says why.
        guard unsafe lstat(name, &information) == 0 else { return true }
        return information.st_mode & S_IFMT == S_IFREG && information.st_uid == geteuid()
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
