import BLEAppLifecycle
import Foundation

/// The journal of one app on disk: appended at each change, read and made short at each start.
///
/// The process may be killed at any moment: a line that was not written whole counts for nothing.
final class JournalFile: @unchecked Sendable {
    // @unchecked Sendable holds because the descriptor is used on one thread at a time: first by who makes the system,
    // then by the system.
    private let path: String
    private var descriptor: Int32 = -1
    private var hasComplained = false
    private let encoder = JSONEncoder()
    /// What is waited for by nobody: a killed process loses nothing that was written, only a broken machine does.
    private let disk = DispatchQueue(label: "org.jelling.journal", qos: .utility)

    init(path: String) {
        self.path = path
        encoder.outputFormatting = .sortedKeys
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// What the journal says, as far as it can be read.
    func read() -> PreservedState {
        var state = PreservedState()
        guard let data = FileManager.default.contents(atPath: path) else { return state }
        let decoder = JSONDecoder()
        for payload in Journal.payloads(in: [UInt8](data)) {
            if let entry = try? decoder.decode(JournalEntry.self, from: Data(payload)) { state.apply(entry) }
        }
        rewrite(state)
        return state
    }

    func append(_ entry: JournalEntry) {
        guard let payload = try? encoder.encode(entry) else { return }
        if descriptor < 0 {
            makeFolder()
            descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        }
        let line = Journal.line([UInt8](payload))
        guard descriptor >= 0, write(line, to: descriptor) else { return complain() }
        let descriptor = descriptor
        disk.async { fsync(descriptor) }
    }

    /// Replaces the journal by the shortest that says the same; the old one stays until the new one is whole.
    private func rewrite(_ state: PreservedState) {
        let octets = state.entries.compactMap { try? encoder.encode($0) }.flatMap { Journal.line([UInt8]($0)) }
        let temporary = path + ".new"
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return complain() }
        let isWhole = write(octets, to: file) && fsync(file) == 0
        close(file)
        guard isWhole, rename(temporary, path) == 0 else { return complain() }
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
        MisuseLog.write("state cannot be kept in '\(path)': \(String(cString: strerror(errno)))")
    }
}
