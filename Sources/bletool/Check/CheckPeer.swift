import BLE
import Synchronization

/// The second adapter of a check: a peripheral with the service of the benchmark.
final class CheckPeer: Sendable {
    /// The name that it advertises, which no other check nearby should have.
    let name = CheckPeer.makeName()
    private let adapter: Adapter
    private let silence = SilentConsole()
    /// Whether it notifies values to the next central that subscribes; otherwise it receives and answers.
    private let notifies = Mutex(false)

    /// How many packets a run has.
    static let plan = BenchPlan(size: nil, count: 100, pace: 0, patience: .seconds(30))

    init(_ adapter: Adapter) { self.adapter = adapter }

    /// Eight characters: a longer name would leave no room for the service.
    static func makeName() -> String { "Check\(Int.random(in: 100...999))" }

    func notify(_ notifies: Bool) { self.notifies.withLock { $0 = notifies } }

    /// Only advertises, until the task is cancelled.
    func advertise() -> Task<Void, Never> {
        let (adapter, name) = (adapter, name)
        return Task { try? await adapter.advertise(AdvertiseRequest(.packed(localName: name, serviceUUIDs: []))) }
    }

    /// Advertises and serves until the task is cancelled. The end of the adapter shows elsewhere, too.
    func start() -> Task<Void, Never> {
        Task { [self] in
            var server = BenchServer(
                adapter: adapter, plan: Self.plan, console: silence.console, scenario: nil, endsAfterFirst: false,
                spsm: BenchPort.spsm)
            server.chooseScenario = { [self] in notifies.withLock { $0 } ? .send : nil }
            try? await server.run(name: name)
        }
    }
}
