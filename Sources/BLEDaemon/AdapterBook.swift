import Synchronization

/// What the daemons of one process share: the names of the adapters that they have, transports and addresses, and the
/// folder of apps.
public final class AdapterBook: Sendable {
    private struct Names: Sendable {
        var known: Set<String> = []
        /// Indexes whose adapters have not been there yet, so that their addresses are not known.
        var awaited: Set<UInt16> = []
        var first = First.settled
    }

    /// The adapter of the first daemon, if none was there when it began.
    private enum First: Sendable {
        /// It has its adapter, or waits for a certain one.
        case settled
        /// It takes the first one that comes.
        case awaited
        /// It is to take the one with this index.
        case chosen(UInt16)
    }

    private let names = Mutex(Names())
    /// Held while an app is installed or removed: what was found in the folder of apps must still be so when it is
    /// changed, and each daemon has a thread of its own.
    let installing = Mutex(())

    public init() {}

    func add(_ name: String) { names.withLock { _ = $0.known.insert(name) } }

    func has(_ name: String) -> Bool { names.withLock { $0.known.contains(name) } }

    /// A daemon waits for the adapter with this index.
    func awaits(_ index: UInt16) { names.withLock { _ = $0.awaited.insert(index) } }

    /// The first daemon takes the first adapter that comes.
    func awaitsFirst() { names.withLock { $0.first = .awaited } }

    /// Chooses the adapter of a daemon that takes the first one: the others go to further daemons.
    /// - Parameter present: the adapters that are there, the preferred one first.
    /// - Returns: its index; `nil` if no adapter is free, or no daemon takes the first one.
    @discardableResult
    func chooseFirst(among present: [(address: String, index: UInt16)]) -> UInt16? {
        names.withLock { names in
            switch names.first {
            case .settled: return nil
            case .chosen(let index) where present.contains { $0.index == index }: return index
            // It has gone before the daemon has seen it.
            case .chosen(let index): names.awaited.remove(index)
            case .awaited: break
            }
            let free = present.first { !names.known.contains($0.address) && !names.awaited.contains($0.index) }
            names.first = free.map { .chosen($0.index) } ?? .awaited
            if let free { names.awaited.insert(free.index) }
            return free?.index
        }
    }

    /// The adapter with this index has come; its address is added.
    func hasCome(_ index: UInt16) {
        names.withLock { names in
            names.awaited.remove(index)
            guard case .chosen(let chosen) = names.first else { return }
            names.awaited.remove(chosen)
            names.first = .settled
        }
    }

    /// Whether a daemon has the adapter, or takes it now that it is there.
    func isTaken(address: String, index: UInt16) -> Bool {
        names.withLock { $0.known.contains(address) || $0.awaited.contains(index) }
    }
}
