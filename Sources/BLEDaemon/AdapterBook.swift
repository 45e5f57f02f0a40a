import Synchronization

/// The names of the adapters that the daemons of one process have: transports and addresses.
public final class AdapterBook: Sendable {
    private let names = Mutex<Set<String>>([])

    public init() {}

    func add(_ name: String) { names.withLock { _ = $0.insert(name) } }

    func has(_ name: String) -> Bool { names.withLock { $0.contains(name) } }
}
