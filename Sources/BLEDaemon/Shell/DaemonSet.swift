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
        // @unchecked Sendable holds because the arrivals are used on the thread of the loop only.
        let loop: EventLoop
        let arrivals: AdapterArrivals
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
    ///   - make: the configuration for an adapter; gets how many daemons there are. Without an adapter it is for one
    ///     that is to come, so that programs are answered until then.
    ///   - failed: gets what went wrong with an adapter; the others continue.
    /// - Throws: the error that prevents the first daemon from listening or reading its bonds.
    public func addAll(
        _ book: AdapterBook, _ make: @escaping @Sendable (KernelAdapter?, Int) throws -> Daemon.Configuration,
        failed: @escaping @Sendable (KernelAdapter, any Error) -> Void
    ) throws {
        let loop = try EventLoop(name: "bled-adapters")
        let arrivals = try AdapterArrivals(on: loop) { [weak self] _ in self?.addMissing(book, make, failed) }
        var problems: [any Error] = []
        addMissing(book, make) { adapter, error in
            problems.append(error)
            failed(adapter, error)
        }
        if count == 0 {
            // What is wrong with all of them is no matter of an adapter.
            if let problem = problems.first { throw problem }
            try add(make(nil, 0))
        }
        let watch = Watch(loop: loop, arrivals: arrivals)
        try loop.start()
        state.withLock { $0.watching = watch }
    }

    private func addMissing(
        _ book: AdapterBook, _ make: (KernelAdapter?, Int) throws -> Daemon.Configuration,
        _ failed: (KernelAdapter, any Error) -> Void
    ) {
        let present = AdapterFinder.usable((try? AdapterList.adapters()) ?? [])
        book.chooseFirst(among: present.map { ($0.address.addressText, $0.index) })
        for adapter in present {
            guard !book.isTaken(address: adapter.address.addressText, index: adapter.index) else { continue }
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
            watch.loop.run { watch.arrivals.cancel() }
            watch.loop.stop()
            watch.loop.join()
        }
        // Until then it could add one.
        let members = state.withLock { $0.members }
        for member in members { member.loop.run { member.daemon.stop() } }
        for member in members { member.loop.join() }
    }
}
