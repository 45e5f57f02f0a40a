import BLEHost
import BLEPackets
import BLETransport

/// The bonds of an adapter, in memory and in its store.
///
/// A store can be slow: disks are slow, and another process may have locked the file. So each change is saved on a
/// separate thread while packets continue. Events of the engine wait meanwhile, in order, so that no program gets a
/// bond before it is saved. A change of what a bonded client has configured, without a new key, does not wait: it is
/// reported at once and saved when the store is free.
///
/// A signed write is reported after its counter has been saved, so that it cannot be replayed. Counters arrive as fast
/// as the peer writes: while the store saves one, the others collect, and the highest is saved for all of them.
final class BondKeeper {
    /// The bonds that have been reported.
    private(set) var bonds: BondList
    private let store: (any BondStore)?
    /// The adapter's loop, on which everything here is called.
    private let loop: EventLoop
    /// Called when the events that waited for the store can be reported.
    var onKept: () -> Void = {}
    /// The event that is reported once the store has saved its change.
    private var held: HostEvent?
    /// The engine's events after `held`.
    private var behind: ArraySlice<HostEvent> = []
    /// Bonds in which only a client's record is new: already reported, not yet saved. The newest one of each device.
    private var unkept: [Bond] = []
    /// The bond of `unkept` that is being saved.
    private var underWay: Bond?
    /// Whether the store is saving. It gets one change at a time, so that they stay in order.
    private var isAtWork = false
    /// The event whose change has been saved: reported before everything else.
    private var kept: HostEvent?
    /// Why the last change was not saved; `nil` if it was.
    private var storeError: BondStoreError?
    /// The thread of the store: created for the first change and used for all others.
    private var writer: EventLoop?

    /// Reads the bonds from the store into the engine's settings.
    /// - Throws: `BondStoreError` if the store cannot be read.
    init(
        _ store: (any BondStore)?, into configuration: inout HostConfiguration, on loop: EventLoop
    ) throws(BondStoreError) {
        self.store = store
        self.loop = loop
        bonds = BondList()
        guard let stored = try store?.load() else { return }
        bonds = BondList(stored.bonds)
        configuration.security.identityResolvingKey = stored.identityResolvingKey
    }

    deinit { writer?.stop() }

    /// Whether a change is being saved.
    var isKeeping: Bool { isAtWork }

    /// Why the last change was not saved; reported once.
    func takeStoreError() -> BondStoreError? {
        defer { storeError = nil }
        return storeError
    }

    /// The next event; `nil` while the store is saving. Events that are not about bonds pass unchanged.
    /// - Parameter next: takes the engine's oldest event.
    func nextEvent(_ next: () -> HostEvent?) -> HostEvent? {
        guard held == nil else { return nil }
        // Looked at first: to take nothing out of them moves as many octets as an event has.
        if kept != nil, let event = kept.take() { return delivered(event) }
        guard let event = behind.isEmpty ? next() : behind.popFirst() else { return nil }
        guard let identity = event.changedBond else { return event }
        guard store != nil else { return delivered(event) }
        // The changes that wait for the store are older than this one.
        unkept.removeAll { $0.identity == identity }
        guard case .bondChanged(let bond) = event, bringsNoKeys(bond) else {
            held = event
            if case .bondChanged(let bond) = event, let known = bonds.bond(for: identity),
                bond.differsInNumbers(from: known)
            {
                held = .bondChanged(highest(of: bond, next))
            }
            work()
            return kept.take().map(delivered)
        }
        unkept.append(bond)
        work()
        return delivered(event)
    }

    private func bringsNoKeys(_ bond: Bond) -> Bool {
        guard var known = bonds.bond(for: bond.identity) else { return false }
        known.clientRecord = bond.clientRecord
        known.lastUse = bond.lastUse
        return known == bond
    }

    /// The number of events that are searched for higher counters of the same bond.
    private static let gatheringLimit = 4096

    /// The bond with the highest counters so far; the events in between are reported when these are saved.
    private func highest(of bond: Bond, _ next: () -> HostEvent?) -> Bond {
        while behind.count < Self.gatheringLimit, let event = next() { behind.append(event) }
        var highest = bond
        var isOver = false
        behind.removeAll { event in
            guard !isOver, event.changedBond == bond.identity else { return false }
            // Any other change of the bond is saved separately.
            guard case .bondChanged(let later) = event, later.differsInNumbers(from: highest) else {
                isOver = true
                return false
            }
            highest = later
            return true
        }
        return highest
    }

    private func delivered(_ event: HostEvent) -> HostEvent {
        switch event {
        case .bondChanged(let bond): bonds.set(bond)
        case .bondRemoved(let identity): bonds.remove(identity)
        default: break
        }
        return event
    }

    /// Gives the store its next change, unless it has one.
    private func work() {
        guard let store else { return }
        while !isAtWork {
            if let held {
                storeError = nil
                save(held, in: store)
            } else if !unkept.isEmpty {
                let bond = unkept.removeFirst()
                underWay = bond
                save(.bondChanged(bond), in: store)
            } else {
                return
            }
        }
    }

    private func save(_ event: HostEvent, in store: any BondStore) {
        let loop = loop
        // The other thread only passes it back to its own thread.
        nonisolated(unsafe) let keeper = self
        do throws(TransportError) {
            let writer = try startedWriter()
            isAtWork = true
            writer.run {
                let error = event.save(in: store)
                loop.run { unsafe keeper.ended(error) }
            }
        } catch {
            // Out of threads or descriptors: blocking packets is better than losing a bond.
            finish(event.save(in: store))
        }
    }

    private func startedWriter() throws(TransportError) -> EventLoop {
        if let writer { return writer }
        let started = try EventLoop(name: "jelling-bonds")
        try started.start()
        writer = started
        return started
    }

    private func ended(_ error: BondStoreError?) {
        isAtWork = false
        finish(error)
        work()
        onKept()
    }

    private func finish(_ error: BondStoreError?) {
        guard let record = underWay.take() else {
            storeError = error
            kept = held.take()
            return
        }
        // Reported already; reported again if it could not be saved, so that the receiver asks for the reason.
        guard let error, held == nil, kept == nil, let bond = bonds.bond(for: record.identity) else { return }
        storeError = error
        kept = .bondChanged(bond)
    }
}

extension HostEvent {
    /// The device whose bond it changes.
    fileprivate var changedBond: DeviceAddress? {
        switch self {
        case .bondChanged(let bond): bond.identity
        case .bondRemoved(let identity): identity.withoutIdentityMark
        default: nil
        }
    }

    /// Saves the change that the event reports.
    fileprivate func save(in store: any BondStore) -> BondStoreError? {
        do throws(BondStoreError) {
            switch self {
            case .bondChanged(let bond): try store.save(bond)
            case .bondRemoved(let identity): try store.remove(identity)
            default: break
            }
            return nil
        } catch { return error }
    }
}

extension Bond {
    /// Whether only the signature counters differ.
    fileprivate func differsInNumbers(from other: Bond) -> Bool {
        guard self != other else { return false }
        var same = self
        same.lastUse = other.lastUse
        if let counter = other.localSigningKey?.counter { same.localSigningKey?.counter = counter }
        if let counter = other.peerSigningKey?.counter { same.peerSigningKey?.counter = counter }
        return same == other
    }
}
