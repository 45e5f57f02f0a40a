import BLEAppLifecycle
import Foundation

/// The journal of one app on disk: appended at each change, read and made short at each start, and when it has become long.
///
/// The process may be killed at any moment: a line that was not written whole counts for nothing. What is damaged costs
/// itself alone, is told, and is kept aside for who wants to know.
final class JournalFile: @unchecked Sendable {
    // @unchecked Sendable holds because everything is used on one thread at a time: first by who makes the system, then by
    // the system.
    private let path: String
    private let log: @Sendable (String) -> Void
    private var descriptor: Int32 = -1
    private var hasComplained = false
    private let encoder = JSONEncoder()
    /// What the file says.
    private var state = PreservedState()
    /// Octets that were written since the file was short.
    private var appended = 0
    private var shortest = 0
    /// Whether the file may end in the middle of a line: the next one must not become part of it.
    private var isTorn = false
    /// What is waited for by nobody: a killed process loses nothing that was written, only a broken machine does.
    private let disk = DispatchQueue(label: "org.jelling.journal", qos: .utility)

    /// Octets that may be appended before the file is made short again, besides as many as it has then.
    private let slack: Int

    /// - Parameter log: gets what is to be said; `nil`: as `CBApplication.onLog(_:)` says.
    init(path: String, slack: Int = 1 << 20, log: (@Sendable (String) -> Void)? = nil) {
        self.path = path
        self.slack = slack
        self.log = log ?? { MisuseLog.write($0) }
        encoder.outputFormatting = .sortedKeys
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// What the journal says, as far as it can be read.
    func read() -> PreservedState {
        guard let data = FileManager.default.contents(atPath: path) else {
            if FileManager.default.fileExists(atPath: path) {
                log("the journal '\(path)' cannot be read; nothing is restored")
            }
            return state
        }
        let decoder = JSONDecoder()
        let lines = Journal.lines(in: [UInt8](data))
        var lost = 0
        for payload in lines {
            if let payload, let entry = try? decoder.decode(JournalEntry.self, from: Data(payload)) {
                state.apply(entry)
            } else {
                lost += 1
            }
        }
        isTorn = data.last.map { $0 != UInt8(ascii: "\n") } ?? false
        if lost > 0 { keepDamaged(lost, of: lines.count) }
        rewrite()
        return state
    }

    func append(_ entry: JournalEntry) {
        guard let payload = try? encoder.encode(entry) else { return }
        state.apply(entry)
        if descriptor < 0 {
            makeFolder()
            descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        }
        let line = (isTorn ? [UInt8(ascii: "\n")] : []) + Journal.line([UInt8](payload))
        guard descriptor >= 0 else { return complain() }
        isTorn = !write(line, to: descriptor)
        guard !isTorn else { return complain() }
        appended += line.count
        if appended > slack + shortest { return rewrite() }
        let descriptor = descriptor
        disk.async { fsync(descriptor) }
    }

    /// Replaces the journal by the shortest that says the same; the old one stays until the new one is whole.
    private func rewrite() {
        let octets = state.entries.compactMap { try? encoder.encode($0) }.flatMap { Journal.line([UInt8]($0)) }
        // Where that fails, it is not tried again with each line.
        appended = 0
        shortest = octets.count
        let temporary = path + ".new"
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return complain() }
        let isWhole = write(octets, to: file) && fsync(file) == 0
        close(file)
        guard isWhole, rename(temporary, path) == 0 else { return complain() }
        isTorn = false
        // What is open is the old one.
        guard descriptor >= 0 else { return }
        let old = descriptor
        descriptor = -1
        disk.async { close(old) }
    }

    /// The file as it was keeps another name while the new one takes its place.
    private func keepDamaged(_ lost: Int, of count: Int) {
        let aside = path + ".damaged"
        unlink(aside)
        let isKept = link(path, aside) == 0
        log(
            "the journal '\(path)' was damaged: \(lost) of \(count) lines are lost, the others are restored"
                + (isKept ? "; it is kept as '\(aside)'" : ""))
    }

    private func makeFolder() {
        let folder = (path as NSString).deletingLastPathComponent
        try? FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    private func write(_ octets: [UInt8], to file: Int32) -> Bool {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private func complain() {
        guard !hasComplained else { return }
        hasComplained = true
        log("state cannot be kept in '\(path)': \(String(cString: strerror(errno)))")
    }
}
