import Glibc

/// Small files and links of sysfs. None of these functions fails: what is missing, too long or not text is `nil`.
enum SystemFiles {
    /// The folder under which the kernel shows its devices.
    static let root = "/sys"
    /// An attribute is one page at most; those that are read here have a few octets.
    private static let longestAttribute = 256

    /// The text of an attribute without the end of its line, if it is printable.
    static func text(_ path: String) -> String? {
        // A pipe or a device in its place must not block.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var information = stat()
        guard unsafe fstat(descriptor, &information) == 0, information.st_mode & S_IFMT == S_IFREG else { return nil }
        var octets = [UInt8](repeating: 0, count: longestAttribute + 1)
        let count = unsafe read(descriptor, &octets, octets.count)
        guard count > 0, count <= longestAttribute else { return nil }
        let text = octets[..<count].last == UInt8(ascii: "\n") ? octets[..<(count - 1)] : octets[..<count]
        guard !text.isEmpty, text.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return String(validating: text, as: UTF8.self)
    }

    /// A number of decimal digits.
    static func number(_ path: String) -> Int? {
        guard let text = text(path), text.utf8.count <= 9,
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(text)
    }

    /// A number of exactly four hexadecimal digits.
    static func identifier(_ path: String, prefix: String = "") -> UInt16? {
        guard let text = text(path), text.hasPrefix(prefix) else { return nil }
        let digits = text.dropFirst(prefix.count)
        guard digits.utf8.count == 4, digits.allSatisfy({ $0.isHexDigit }) else { return nil }
        return UInt16(digits, radix: 16)
    }

    /// The last component of what a link leads to.
    static func targetName(_ path: String) -> String? { resolved(path).flatMap(name) }

    /// The last component of a path, if it is short and has no characters that need care in a log or a file name.
    static func name(_ path: String) -> String? {
        guard let name = path.split(separator: "/").last, name.utf8.count <= 64, name != ".", name != "..",
            name.utf8.allSatisfy({ isPlain($0) })
        else { return nil }
        return String(name)
    }

    private static func isPlain(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: ":"):
            true
        default: false
        }
    }

    /// The path without links; `nil` if there is nothing.
    static func resolved(_ path: String) -> String? {
        guard let resolved = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(resolved) }
        return unsafe String(cString: resolved)
    }

    /// The names in a folder, sorted.
    static func entries(_ folder: String) -> [String] { HoldingProcesses.entries(of: folder).sorted() }
}
