import BLEHost
import BLEPackets
import BLETransport

/// The bonds of an adapter, in memory and in its store.
///
/// A store may take its time: a disk is slow, and another process may hold the file. So a change is carried out on a
/// thread of its own while packets come and go; what the engine tells waits meanwhile, in order, so that nobody hears of
/// a bond before it is kept.
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
    /// What the store has, to be told before everything else.
    private var kept: HostEvent?
    /// Why the last change was not kept; `nil` where it was.
    private var storeError: BondStoreError?

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

    /// Whether a change is on its way to the store.
    var isKeeping: Bool { held != nil }

    /// Why the last change was not kept; told once.
    func takeStoreError() -> BondStoreError? {
        defer { storeError = nil }
        return storeError
    }

    /// What may be told next; `nil` while the store is at work.
    /// - Parameter next: takes the oldest event that the engine has to tell.
    func nextEvent(_ next: () -> HostEvent?) -> HostEvent? {
        guard held == nil else { return nil }
        if let event = kept.take() { return told(event) }
        guard let event = next() else { return nil }
        if let store, event.changesBonds, keepLater(event, in: store) { return nil }
        return told(event)
    }

    private func told(_ event: HostEvent) -> HostEvent {
        switch event {
        case .bondChanged(let bond): bonds.set(bond)
        case .bondRemoved(let identity): bonds.remove(identity)
        default: break
        }
        return event
    }

    /// - Returns: whether the store is at work; otherwise it is done.
    private func keepLater(_ event: HostEvent, in store: any BondStore) -> Bool {
        storeError = nil
        let loop = loop
        // It goes through the other thread untouched, back to its own.
        nonisolated(unsafe) let keeper = self
        do throws(TransportError) {
            let writer = try EventLoop(name: "jelling-bonds")
            try writer.start()
            writer.run {
                let error = event.keep(in: store)
                loop.run { keeper.ended(error) }
            }
            writer.stop()
            held = event
            return true
        } catch {
            // Out of threads or descriptors: to hold packets up is better than to lose a bond.
            storeError = event.keep(in: store)
            return false
        }
    }

    private func ended(_ error: BondStoreError?) {
        storeError = error
        kept = held.take()
        onKept()
    }
}

extension HostEvent {
    fileprivate var changesBonds: Bool {
        switch self {
        case .bondChanged, .bondRemoved: true
        default: false
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
