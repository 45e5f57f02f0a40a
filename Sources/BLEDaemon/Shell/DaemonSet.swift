import BLEAppLifecycle
import BLEPackets
import BLETransport
import Synchronization

/// The daemons of several adapters, each on a thread of its own and with a socket of its own: an adapter that hangs, or
/// a program that keeps one busy, leaves the others alone.
public final class DaemonSet: Sendable {
    private struct Member: @unchecked Sendable {
        // @unchecked Sendable holds because the daemon is used on the thread of its loop only.
        let loop: EventLoop
        let daemon: Daemon
    }

    private struct State: Sendable {
        var members: [Member] = []
        var watching: Watch?
    }

    private struct Watch: @unchecked Sendable {
        // @unchecked Sendable holds because the rest is used on the thread of the loop only.
        let loop: EventLoop
        let arrivals: AdapterArrivals
        let patience: Patience
    }

    /// Adapters without an address: the kernel may not have read it yet.
    private final class Patience {
        /// When each was seen first, on the clock of the loop.
        var seen: [UInt16: UInt64] = [:]
        var deadline: EventLoop.Deadline?
        static let microseconds: UInt64 = 2_000_000
    }

    private let state = Mutex(State())

    public init() {}

    /// How many daemons there are.
    public var count: Int { state.withLock { $0.members.count } }

    /// Starts a daemon on a new thread.
    /// - Throws: the error that prevents it from listening or reading its bonds.
    public func add(_ configuration: Daemon.Configuration) throws {
        let number = count + 1
        let loop = try EventLoop(name: number == 1 ? "bled" : "bled-\(number)")
        let daemon = try Daemon(configuration, on: loop)
        daemon.onStopped = { loop.stop() }
        let member = Member(loop: loop, daemon: daemon)
        try loop.start()
        state.withLock { $0.members.append(member) }
    }

    /// Starts a daemon for each adapter of the kernel that has none, now and when one is plugged in.
    /// - Parameters:
    ///   - book: the adapters that the daemons have, as their configurations name it.
    ///   - list: the adapters that are there.
    ///   - make: the configuration for an adapter; gets how many daemons there are. Without an adapter it is for one
    ///     that is to come, so that programs are answered until then.
    ///   - failed: gets what went wrong with an adapter; the others continue.
    /// - Throws: the error that prevents the first daemon from listening or reading its bonds.
    public func addAll(
        _ book: AdapterBook, list: @escaping @Sendable () -> PresentAdapters?,
        _ make: @escaping @Sendable (PresentAdapter?, Int) throws -> Daemon.Configuration,
        failed: @escaping @Sendable (PresentAdapter, any Error) -> Void
    ) throws {
        let loop = try EventLoop(name: "bled-adapters")
        let patience = Patience()
        let look = { [weak self] in
            guard let self else { return }
            let present = list()
            wait(for: present, patience, on: loop, book)
            addMissing(present, book, make, failed)
        }
        patience.deadline = loop.makeDeadline(handler: look)
        let arrivals = try AdapterArrivals(on: loop) { _ in look() }
        var problems: [any Error] = []
        let present = list()
        wait(for: present, patience, on: loop, book)
        addMissing(present, book, make) { adapter, error in
            problems.append(error)
            failed(adapter, error)
        }
        if count == 0 {
            // What is wrong with all of them is no matter of an adapter.
            if let problem = problems.first { throw problem }
            try add(make(nil, 0))
        }
        let watch = Watch(loop: loop, arrivals: arrivals, patience: patience)
        try loop.start()
        state.withLock { $0.watching = watch }
    }

    /// Accepts adapters that have had no address for a while, and looks again when others have.
    private func wait(for present: PresentAdapters?, _ patience: Patience, on loop: EventLoop, _ book: AdapterBook) {
        let now = loop.nowMicroseconds
        let unnamed = (present?.all ?? []).filter(\.isUnnamed).map(\.index)
        patience.seen = patience.seen.filter { unnamed.contains($0.key) }
        var next: UInt64?
        for index in unnamed where !book.hasAccepted(index) {
            let due = (patience.seen[index] ?? now) + Patience.microseconds
            patience.seen[index] = patience.seen[index] ?? now
            if due <= now { book.accept(unnamed: index) } else { next = min(next ?? due, due) }
        }
        if let next { patience.deadline?.set(atMicroseconds: next) }
    }

    private func addMissing(
        _ present: PresentAdapters?, _ book: AdapterBook,
        _ make: (PresentAdapter?, Int) throws -> Daemon.Configuration, _ failed: (PresentAdapter, any Error) -> Void
    ) {
        let usable = present.map { book.usable($0) } ?? []
        book.chooseFirst(among: usable)
        for adapter in usable where !book.isTaken(adapter) {
            do { try add(make(adapter, count)) } catch { failed(adapter, error) }
        }
    }

    /// Reads the manifests of all apps again.
    /// - Parameter read: reads them, and changes more; called on the thread of each daemon.
    public func reload(_ read: @escaping @Sendable (Daemon) -> Void = { $0.readInstalledApps() }) {
        for member in state.withLock({ $0.members }) { member.loop.run { read(member.daemon) } }
    }

    /// Forgets an app whose manifest has been deleted.
    public func forget(_ app: AppID, keepsState: Bool) { reload { $0.forget(app, keepsState: keepsState) } }

    /// Stops all daemons, and waits until their controllers have been released.
    public func stop() {
        if let watch = state.withLock({ $0.watching }) {
            watch.loop.run {
                watch.arrivals.cancel()
                watch.patience.deadline?.cancel()
            }
            watch.loop.stop()
            watch.loop.join()
        }
        // Until then it could add one.
        let members = state.withLock { $0.members }
        for member in members { member.loop.run { member.daemon.stop() } }
        for member in members { member.loop.join() }
    }
}
