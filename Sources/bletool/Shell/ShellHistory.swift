import BLEStateFiles

/// The lines that were typed in earlier shells: `history` in the state folder, readable only by its owner.
struct ShellHistory {
    private static let file = "history"
    private static let limit = 1 << 20

    let state: StateDirectory

    /// Loads the saved history; returns an empty one if the file cannot be read.
    func load() -> [String] {
        do throws(StateFileError) {
            let folder = try SafeFolder(path: state.path, isMade: false)
            let octets = try folder.read(Self.file, limit: Self.limit) ?? []
            return String(decoding: octets, as: UTF8.self).split(separator: "\n").map(String.init)
        } catch {
            return []
        }
    }

    /// - Throws: `StateFileError` when the lines cannot be kept.
    func save(_ lines: [String]) throws(StateFileError) {
        let folder = try SafeFolder(path: state.path, isMade: true)
        try folder.replace(Self.file, with: Array((lines.joined(separator: "\n") + "\n").utf8))
    }
}
