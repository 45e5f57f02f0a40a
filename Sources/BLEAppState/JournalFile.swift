import BLEAppLifecycle
import BLEStateFiles
import Foundation

/// A journal of what outlives apps, on disk: appended at each change, read and made short at each start, and when it has become long.
///
/// The process may be killed at any moment: a line that was not written whole counts for nothing. What is damaged costs
/// itself alone, is told, and is kept aside for who wants to know.
public final class JournalFile: @unchecked Sendable {
    // @unchecked Sendable holds because everything is used on one thread at a time: first by who makes the system, then by
    // the system.
    private let path: String
    private let log: @Sendable (String) -> Void
    private var descriptor: Int32 = -1
    private var hasComplained = false
    /// Whether what stands in the file's place is left alone.
    private var isRefused = false
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
    /// No journal comes near it: it is made short long before.
    private static let longest = 256 << 20

    private var name: String { (path as NSString).lastPathComponent }

    /// - Parameters:
    ///   - slack: octets that may be appended before the file is made short again, besides as many as it has then.
    ///   - log: gets what is to be said to people.
    public init(path: String, slack: Int = 1 << 20, log: @escaping @Sendable (String) -> Void) {
        self.path = path
        self.slack = slack
        self.log = log
        encoder.outputFormatting = .sortedKeys
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// What the journal says, as far as it can be read.
    public func read() -> PreservedState {
        let data: [UInt8]
        do throws(StateFileError) {
            guard let found = try folder(isMade: false).read(name, limit: Self.longest) else { return state }
            data = found
        } catch {
            if !error.isMissing { refuse(error) }
            return state
        }
        let decoder = JSONDecoder()
        let lines = Journal.lines(in: data)
        var lost = 0
        for payload in lines {
            if let payload, let entry = try? decoder.decode(JournalEntry.self, from: Data(payload)) {
                state.apply(entry)
            } else {
                lost += 1
            }
        }
        isTorn = data.last.map { $0 != UInt8(ascii: "\n") } ?? false
        if lost > 0 { keepDamaged(data, lost, of: lines.count) }
        rewrite()
        return state
    }

    /// Writes it down before it returns; what keeps it from doing so is said once.
    public func append(_ entry: JournalEntry) {
        guard let payload = try? encoder.encode(entry) else { return }
        state.apply(entry)
        guard !isRefused else { return }
        if descriptor < 0 {
            do throws(StateFileError) { descriptor = try folder(isMade: true).openOrMake(name, .appending) } catch {
                return complain(error)
            }
        }
        let line = (isTorn ? [UInt8(ascii: "\n")] : []) + Journal.line([UInt8](payload))
        let code = SafeFolder.write(line, to: descriptor)
        isTorn = code != 0
        guard !isTorn else { return complain(.system(path: path, code: code)) }
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
        do throws(StateFileError) { try folder(isMade: true).replace(name, with: octets) } catch {
            return complain(error)
        }
        isTorn = false
        // What is open is the old one.
        guard descriptor >= 0 else { return }
        let old = descriptor
        descriptor = -1
        disk.async { close(old) }
    }

    /// The file as it was keeps another name while the new one takes its place.
    private func keepDamaged(_ data: [UInt8], _ lost: Int, of count: Int) {
        let aside = path + ".damaged"
        let isKept: Bool
        do throws(StateFileError) {
            try folder(isMade: true).replace(name + ".damaged", with: data)
            isKept = true
        } catch {
            isKept = false
        }
        log(
            "the journal '\(path)' was damaged: \(lost) of \(count) lines are lost, the others are restored"
                + (isKept ? "; it is kept as '\(aside)'" : ""))
    }

    /// The folder of journals; nobody else looks into it.
    private func folder(isMade: Bool) throws(StateFileError) -> SafeFolder {
        try SafeFolder(path: (path as NSString).deletingLastPathComponent, isMade: isMade, isPrivate: true)
    }

    /// What is there may be another user's, or lead to a file that is none of ours: it is not touched.
    private func refuse(_ error: StateFileError) {
        isRefused = true
        hasComplained = true
        log("the journal \(error). Nothing is restored, and nothing is kept")
    }

    private func complain(_ error: StateFileError) {
        guard !hasComplained else { return }
        hasComplained = true
        log("state cannot be saved: \(error)")
    }
}
