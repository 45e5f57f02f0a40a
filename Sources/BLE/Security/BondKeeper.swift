import BLEHost
import BLEPackets
import BLETransport

/// The bonds of an adapter, in memory and in its store.
///
/// A store may take its time: a disk is slow, and another process may hold the file. So a change is carried out on a
/// thread of its own while packets come and go; what the engine tells waits meanwhile, in order, so that nobody hears of
/// a bond before it is kept. What a bonded client configured, without any new key, is worth no such wait: that is told
/// at once and kept as soon as the store gets to it.
///
/// A signed write is told behind the number that forbids it a second time, and so waits for the store. Such numbers come
/// as fast as the peer writes: while the store is at one, the others gather, and the highest is kept for all of them.
final class BondKeeper {
    /// The devices that the adapter is bonded with, as far as that has been told.
    private(set) var bonds: BondList
    private let store: (any BondStore)?
    /// The adapter's loop, on which everything here is called.
    private let loop: EventLoop
    /// Called when what waited for the store may be told.
    var onKept: () -> Void = {}
    /// What is told once the store has what it changes.
    private var held: HostEvent?
    /// What the engine told behind `held`.
    private var behind: ArraySlice<HostEvent> = []
    /// Bonds with nothing new but a client's record, told already, for the store to keep: of each device the newest.
    private var unkept: [Bond] = []
    /// The one of them that the store is at.
    private var underWay: Bond?
    /// Whether the store is at work: it gets one change at a time, so that none overtakes another.
    private var isAtWork = false
    /// What the store has, to be told before everything else.
    private var kept: HostEvent?
    /// Why the last change was not kept; `nil` where it was.
    private var storeError: BondStoreError?
    /// The thread on which the store works: made for the first change, for all that follow.
    private var writer: EventLoop?

    /// Reads the store into the engine's settings.
    /// - Throws: `BondStoreError` when it cannot be read.
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

    /// Whether a change is on its way to the store.
    var isKeeping: Bool { isAtWork }

    /// Why the last change was not kept; told once.
    func takeStoreError() -> BondStoreError? {
        defer { storeError = nil }
        return storeError
    }

    /// What may be told next; `nil` while the store is at work. An event that is not about bonds comes through as it is.
    /// - Parameter next: takes the oldest event that the engine has to tell.
    func nextEvent(_ next: () -> HostEvent?) -> HostEvent? {
        guard held == nil else { return nil }
        if let event = kept.take() { return told(event) }
        guard let event = behind.popFirst() ?? next() else { return nil }
        guard let identity = event.changedBond else { return event }
        guard store != nil else { return told(event) }
        // What waits for the store is older than this.
        unkept.removeAll { $0.identity == identity }
        guard case .bondChanged(let bond) = event, bringsNoKeys(bond) else {
            held = event
            if case .bondChanged(let bond) = event, let known = bonds.bond(for: identity),
                bond.differsInNumbers(from: known)
            {
                held = .bondChanged(highest(of: bond, next))
            }
            work()
            return kept.take().map(told)
        }
        unkept.append(bond)
        work()
        return told(event)
    }

    private func bringsNoKeys(_ bond: Bond) -> Bool {
        guard var known = bonds.bond(for: bond.identity) else { return false }
        known.clientRecord = bond.clientRecord
        known.lastUse = bond.lastUse
        return known == bond
    }

    /// Events that are looked at for higher numbers of the same bond.
    private static let gatheringLimit = 4096

    /// The bond with the numbers that are the highest by now: what lies behind the first is told when these are kept.
    private func highest(of bond: Bond, _ next: () -> HostEvent?) -> Bond {
        while behind.count < Self.gatheringLimit, let event = next() { behind.append(event) }
        var highest = bond
        var isOver = false
        behind.removeAll { event in
            guard !isOver, event.changedBond == bond.identity else { return false }
            // Another change of the bond is one of its own.
            guard case .bondChanged(let later) = event, later.differsInNumbers(from: highest) else {
                isOver = true
                return false
            }
            highest = later
            return true
        }
        return highest
    }

    private func told(_ event: HostEvent) -> HostEvent {
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
                keep(held, in: store)
            } else if !unkept.isEmpty {
                let bond = unkept.removeFirst()
                underWay = bond
                keep(.bondChanged(bond), in: store)
            } else {
                return
            }
        }
    }

    private func keep(_ event: HostEvent, in store: any BondStore) {
        let loop = loop
        // It goes through the other thread untouched, back to its own.
        nonisolated(unsafe) let keeper = self
        do throws(TransportError) {
            let writer = try startedWriter()
            isAtWork = true
            writer.run {
                let error = event.keep(in: store)
                loop.run { unsafe keeper.ended(error) }
            }
        } catch {
            // Out of threads or descriptors: to hold packets up is better than to lose a bond.
            finish(event.keep(in: store))
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
        // Told already, and once more where it was not kept after all: who hears it asks for the reason.
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

    /// Carries out what the event tells of bonds.
    fileprivate func keep(in store: any BondStore) -> BondStoreError? {
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
    /// Whether nothing is new but how far the numbers of signatures have come.
    fileprivate func differsInNumbers(from other: Bond) -> Bool {
        guard self != other else { return false }
        var same = self
        same.lastUse = other.lastUse
        if let counter = other.localSigningKey?.counter { same.localSigningKey?.counter = counter }
        if let counter = other.peerSigningKey?.counter { same.peerSigningKey?.counter = counter }
        return same == other
    }
}
