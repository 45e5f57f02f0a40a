import BLEAppLifecycle
import BLEStateFiles
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization

/// A journal on disk of the state that outlives apps. Each change is appended; the file is read and compacted at each
/// start, and compacted when it has become long.
///
/// The process may be killed at any moment: an incomplete line is ignored. A damaged line costs only itself; it is
/// logged, and the damaged file is kept under another name.
public final class JournalFile: @unchecked Sendable {
    // @unchecked Sendable is correct because only one thread at a time uses this: first the code that creates the
    // system, then the system itself.
    private let path: String
    private let log: @Sendable (String) -> Void
    private var descriptor: Int32 = -1
    private var hasComplained = false
    /// Whether the file lacks entries that could not be written.
    private var isBehind = false
    /// Whether a sync waits that will include what is written until it begins.
    private let isSyncQueued = Atomic(false)
    /// Whether the path has something that must not be touched.
    private var isRefused = false
    private let encoder = JSONEncoder()
    /// The state that the file describes.
    private var state = PreservedState()
    /// Octets that were appended since the file was last compacted.
    private var appended = 0
    private var shortest = 0
    /// Whether the file may end in the middle of a line: the next one must not become part of it.
    private var isTorn = false
    /// For work that nothing waits for. A killed process loses nothing that was written; only a crash of the machine
    /// does.
    private let disk = DispatchQueue(label: "org.jelling.journal", qos: .utility)

    /// Octets that may be appended before the file is compacted again, in addition to its size after compaction.
    private let slack: Int
    /// The maximum length that is read, in octets. No journal comes near it, because it is compacted long before.
    private static let longest = 256 << 20

    private var name: String { OutputPlace.parts(path).name }

    /// - Parameters:
    ///   - slack: octets that may be appended before the file is compacted again, in addition to its size after
    ///     compaction.
    ///   - log: gets lines for a log.
    public init(path: String, slack: Int = 1 << 20, log: @escaping @Sendable (String) -> Void) {
        self.path = path
        self.slack = slack
        self.log = log
        encoder.outputFormatting = .sortedKeys
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Reads the state from the journal, as far as it is readable.
    /// - Parameter rename: the name under which an app is in the journal from now on; `nil`: it is forgotten.
    public func read(renaming rename: (AppID) -> AppID? = { $0 }) -> PreservedState {
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
        if lost > 0 { saveDamaged(data, lost, of: lines.count) }
        state = state.renamed(rename)
        rewrite()
        return state
    }

    /// Writes the entry before it returns. A failure is logged; what could not be written then is written with the next
    /// entry for which there is room.
    public func append(_ entry: JournalEntry) {
        guard let payload = try? encoder.encode(entry) else { return }
        state.apply(entry)
        guard !isRefused else { return }
        if descriptor < 0 {
            do throws(StateFileError) { descriptor = try folder(isMade: true).openOrMake(name, .appending) } catch {
                isBehind = true
                return complain(error)
            }
        }
        let line = (isTorn ? [UInt8(ascii: "\n")] : []) + Journal.line([UInt8](payload))
        let code = SafeFolder.write(line, to: descriptor)
        isTorn = code != 0
        guard !isTorn else {
            isBehind = true
            return complain(.system(path: path, code: code))
        }
        appended += line.count
        if isBehind || appended > slack + shortest { return rewrite() }
        guard !isSyncQueued.exchange(true, ordering: .relaxed) else { return }
        let descriptor = descriptor
        disk.async { [self] in
            isSyncQueued.store(false, ordering: .relaxed)
            fsync(descriptor)
        }
    }

    /// Replaces the journal by the shortest one with the same state; the old one stays until the new one is complete.
    private func rewrite() {
        let octets = state.entries.compactMap { try? encoder.encode($0) }.flatMap { Journal.line([UInt8]($0)) }
        // If this fails, it is not tried again with each line.
        appended = 0
        shortest = octets.count
        do throws(StateFileError) { try folder(isMade: true).replace(name, with: octets) } catch {
            return complain(error)
        }
        isTorn = false
        isBehind = false
        hasComplained = false
        // The open descriptor is that of the old file.
        guard descriptor >= 0 else { return }
        let old = descriptor
        descriptor = -1
        disk.async { close(old) }
    }

    /// Keeps the damaged file under another name; the new one takes its place.
    private func saveDamaged(_ data: [UInt8], _ lost: Int, of count: Int) {
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

    /// The folder of journals; no other user can read it.
    private func folder(isMade: Bool) throws(StateFileError) -> SafeFolder {
        try SafeFolder(path: OutputPlace.parts(path).folder, isMade: isMade, isPrivate: true)
    }

    /// The path may belong to another user or lead to a foreign file, so it is not touched.
    private func refuse(_ error: StateFileError) {
        isRefused = true
        hasComplained = true
        log("the journal \(error). Nothing is restored, and nothing is kept")
    }

    private func complain(_ error: StateFileError) {
        guard !hasComplained else { return }
        hasComplained = true
        log("state cannot be saved: \(error). Until it can, what changes is lost if this process is killed")
    }
}
