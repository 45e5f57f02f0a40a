import Synchronization

/// What the daemons of one process share: the adapters that they have, by transport, key and place, and the folder of
/// apps.
public final class AdapterBook: Sendable {
    /// What one daemon has, or waits for.
    private struct Claim: Sendable {
        /// Transports, addresses and places by which manifests may name it.
        var names: Set<String> = []
        var key: AdapterKey?
        /// Where its adapter was last.
        var place: String?
        /// The number of one that has nothing else, or has not been there yet.
        var index: UInt16?

        func has(_ adapter: PresentAdapter) -> Bool {
            switch key {
            case .place(let place): adapter.place == place
            case .address(let address):
                // One of several with the address is where it was.
                adapter.address == address
                    && (adapter.key == key || adapter.place.map { $0 == place } ?? false)
            case nil: index == adapter.index
            }
        }
    }

    private struct State: Sendable {
        var claims: [Claim] = []
        var first = First.settled
        /// Numbers of adapters that have no address, and not only for a moment.
        var unnamed: Set<UInt16> = []
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

    /// A daemon in this book.
    struct Member: Sendable { fileprivate let place: Int }

    private let state = Mutex(State())
    /// Held while an app is installed or removed: what was found in the folder of apps must still be so when it is
    /// changed, and each daemon has its thread.
    let installing = Mutex(())

    public init() {}

    /// A daemon begins.
    func join() -> Member {
        state.withLock { state in
            state.claims.append(Claim())
            return Member(place: state.claims.count - 1)
        }
    }

    private func change(_ member: Member, _ body: (inout Claim) -> Void) {
        state.withLock { body(&$0.claims[member.place]) }
    }

    /// Manifests may call the daemon's adapter this.
    func add(_ name: String, to member: Member) { change(member) { $0.names.insert(name) } }

    func has(_ name: String) -> Bool { state.withLock { $0.claims.contains { $0.names.contains(name) } } }

    /// The daemon's adapter is known.
    func claim(_ key: AdapterKey?, place: String?, index: UInt16?, by member: Member) {
        change(member) { claim in
            if let key { claim.names.insert(key.text) }
            if let place { claim.names.insert(AdapterKey.place(place).text) }
            claim.key = key
            claim.place = place
            claim.index = key == nil ? index : nil
        }
    }

    /// The daemon waits for the adapter with this number.
    func awaits(_ index: UInt16, by member: Member) { change(member) { $0.index = index } }

    /// The first daemon takes the first adapter that comes.
    func awaitsFirst() { state.withLock { $0.first = .awaited } }

    /// An adapter without an address is none whose address has not been read yet.
    func accept(unnamed index: UInt16) { state.withLock { _ = $0.unnamed.insert(index) } }

    func hasAccepted(_ index: UInt16) -> Bool { state.withLock { $0.unnamed.contains(index) } }

    /// Those that a daemon may take by itself: with LE, and whose address is known or does not come.
    func usable(_ present: PresentAdapters) -> [PresentAdapter] {
        state.withLock { state in
            state.unnamed.formIntersection(present.all.filter(\.isUnnamed).map(\.index))
            return present.all.filter { $0.mayHaveLowEnergy && (!$0.isUnnamed || state.unnamed.contains($0.index)) }
        }
    }

    /// Chooses the adapter of a daemon that takes the first one: the others go to further daemons.
    /// - Parameter present: the adapters that are there, the preferred one first.
    /// - Returns: `nil` if no adapter is free, or no daemon takes the first one.
    @discardableResult
    func chooseFirst(among present: [PresentAdapter]) -> PresentAdapter? {
        state.withLock { state in
            switch state.first {
            case .settled: return nil
            case .chosen(let index):
                if let chosen = present.first(where: { $0.index == index }) { return chosen }
            // It has gone before the daemon has seen it.
            case .awaited: break
            }
            let claims = state.claims
            let free = present.first { adapter in !claims.contains { $0.has(adapter) } }
            state.first = free.map { .chosen($0.index) } ?? .awaited
            return free
        }
    }

    /// The daemon that takes the first adapter has it.
    func hasCome(_ index: UInt16) {
        state.withLock { state in if case .chosen = state.first { state.first = .settled } }
    }

    /// Whether another daemon's adapter has this key.
    func isTaken(_ key: AdapterKey, besides member: Member) -> Bool {
        state.withLock { state in
            state.claims.indices.contains { $0 != member.place && state.claims[$0].key == key }
        }
    }

    /// Whether a daemon has the adapter, or takes it now that it is there.
    /// - Parameter member: the daemon that asks; what it has does not count.
    func isTaken(_ adapter: PresentAdapter, besides member: Member? = nil) -> Bool {
        state.withLock { state in
            if member == nil, case .chosen(adapter.index) = state.first { return true }
            // Its place says more than an address that another one has, too.
            if let member, case .place(let place)? = state.claims[member.place].key, place == adapter.place {
                return false
            }
            return state.claims.indices.contains { $0 != member?.place && state.claims[$0].has(adapter) }
        }
    }
}
