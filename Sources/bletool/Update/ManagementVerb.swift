import BLEScripts

/// What `smp` is asked to do.
enum ManagementVerb: Equatable, Sendable {
    case echo(String)
    case information, reset, statistics, memory, buffers
    case images
    case upload(String)
    case test([UInt8])
    case confirm([UInt8]?)
    case erase
    case readSetting(String)
    case writeSetting(String, [UInt8])
    case deleteSetting(String)
    case commitSettings, loadSettings, saveSettings
    case uploadFile(String, to: String)
    case downloadFile(String, to: String)
    case fileStatus(String)
    case fileHash(String, kind: String?)
    case shell([String])

    private static let groups: KeyValuePairs<String, [String]> = [
        "os": ["info", "reset", "stat", "memory", "buffers"],
        "image": ["list", "upload", "test", "confirm", "erase"],
        "settings": ["read", "write", "delete", "commit", "load", "save"],
        "fs": ["upload", "download", "stat", "hash"],
    ]

    /// - Throws: `Failure` that says what would be right.
    init(_ words: [String]) throws(Failure) {
        let rest = Array(words.dropFirst(2))
        switch (words.first ?? "", words.count > 1 ? words[1] : "", rest.count) {
        case ("echo", _, _) where words.count > 1: self = .echo(words.dropFirst().joined(separator: " "))
        case ("os", "info", 0): self = .information
        case ("os", "reset", 0): self = .reset
        case ("os", "stat", 0): self = .statistics
        case ("os", "memory", 0): self = .memory
        case ("os", "buffers", 0): self = .buffers
        case ("image", "list", 0): self = .images
        case ("image", "upload", 1): self = .upload(rest[0])
        case ("image", "test", 1): self = .test(try Self.hash(rest[0]))
        case ("image", "confirm", 0): self = .confirm(nil)
        case ("image", "confirm", 1): self = .confirm(try Self.hash(rest[0]))
        case ("image", "erase", 0): self = .erase
        case ("settings", "read", 1): self = .readSetting(rest[0])
        case ("settings", "write", 2):
            guard let value = Hexadecimal.bytes(rest[1]) else {
                throw Failure("the value: " + Hexadecimal.mistake(in: rest[1]), status: .usage)
            }
            self = .writeSetting(rest[0], value)
        case ("settings", "delete", 1): self = .deleteSetting(rest[0])
        case ("settings", "commit", 0): self = .commitSettings
        case ("settings", "load", 0): self = .loadSettings
        case ("settings", "save", 0): self = .saveSettings
        case ("fs", "upload", 2): self = .uploadFile(rest[0], to: rest[1])
        case ("fs", "download", 2): self = .downloadFile(rest[0], to: rest[1])
        case ("fs", "stat", 1): self = .fileStatus(rest[0])
        case ("fs", "hash", 1): self = .fileHash(rest[0], kind: nil)
        case ("fs", "hash", 2) where ["sha256", "crc32"].contains(rest[1]): self = .fileHash(rest[0], kind: rest[1])
        case ("shell", _, _) where words.count > 1: self = .shell(Array(words.dropFirst()))
        default: throw Self.mistake(words)
        }
    }

    private static func mistake(_ words: [String]) -> Failure {
        let first = words.first ?? ""
        if let verbs = groups.first(where: { $0.key == first })?.value {
            return Failure(
                "‘\(first)’ is followed by one of \(verbs.joined(separator: ", ")), and what that needs; see ‘bletool "
                    + "help smp’", status: .usage)
        }
        return Failure(
            "\(first.quoted()) is not one of echo, os, image, settings, fs and shell, or lacks what it needs; see "
                + "‘bletool help smp’", status: .usage)
    }

    private static func hash(_ text: String) throws(Failure) -> [UInt8] {
        guard let octets = Hexadecimal.bytes(text), [32, 48, 64].contains(octets.count) else {
            throw Failure("the hash has 64 digits; ‘image list’ shows those of the device", status: .usage)
        }
        return octets
    }
}
