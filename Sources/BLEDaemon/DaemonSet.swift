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
        let address: DeviceAddress?
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
        let member = Member(loop: loop, daemon: daemon, address: daemon.adapterAddress)
        try loop.start()
        state.withLock { $0.members.append(member) }
    }

    /// Starts a daemon for each adapter of the kernel that has none, now and when one is plugged in.
    /// - Parameters:
    ///   - make: the configuration for an adapter; gets how many daemons there are.
    ///   - failed: gets what went wrong with an adapter; the others continue.
    public func addAll(
        _ make: @escaping @Sendable (KernelAdapter, Int) throws -> Daemon.Configuration,
        failed: @escaping @Sendable (KernelAdapter, any Error) -> Void
    ) throws {
        let loop = try EventLoop(name: "bled-adapters")
        let arrivals = try AdapterArrivals(on: loop) { [weak self] _ in self?.addMissing(make, failed) }
        addMissing(make, failed)
        let watch = Watch(loop: loop, arrivals: arrivals)
        try loop.start()
        state.withLock { $0.watching = watch }
    }

    private func addMissing(
        _ make: (KernelAdapter, Int) throws -> Daemon.Configuration, _ failed: (KernelAdapter, any Error) -> Void
    ) {
        for adapter in (try? AdapterList.adapters()) ?? [] where adapter.kind != .amp && adapter.address.value != 0 {
            guard !state.withLock({ $0.members.contains { $0.address == adapter.address } }) else { continue }
            do { try add(make(adapter, count)) } catch { failed(adapter, error) }
        }
    }

    /// Reads the manifests of all apps again.
    /// - Parameter read: reads them, and changes more; called on the thread of each daemon.
    public func reload(_ read: @escaping @Sendable (Daemon) -> Void = { $0.readInstalledApps() }) {
        for member in state.withLock({ $0.members }) {
            member.loop.run { read(member.daemon) }
        }
    }

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
