import BLEAppLifecycle
import BLEAppState

extension AppOwners {
    /// What the journal has for the life of apps; without what belongs to apps whose place another user's has taken.
    mutating func restored(from journal: JournalFile?, _ installed: InstalledApps) -> PreservedState {
        guard let state = journal?.read(renaming: { Self.currentName($0, installed) }) else { return PreservedState() }
        return state.renamed { identifier($0) }
    }
}
