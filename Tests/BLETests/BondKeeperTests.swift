import Dispatch
import Synchronization
import Testing

@testable import BLE

@Suite("Bonds on their way to the store")
struct BondKeeperTests {
    private static let known = Bond(identity: DeviceAddress(value: 0xC0FF_EE00_0042, kind: .random))

    /// The known bond with what its client configured, told apart by a number.
    private static func configured(_ number: UInt8) -> Bond {
        var bond = known
        bond.clientRecord = GATTClientRecord(configurations: [], features: number, knownTable: 0)
        return bond
    }

    @Test("saving a client's configuration delays nothing, and only its newest state is kept")
    func recordsHoldNothingUp() async throws {
        let feed = try Feed(Self.known)
        defer { feed.loop.stop() }
        let told = await feed.deliver([
            .bondChanged(Self.configured(1)), .bondChanged(Self.configured(2)), .bondChanged(Self.configured(3)),
            .stopped,
        ])
        #expect(told == ["record 1", "record 2", "record 3", "stopped"])
        #expect(await feed.isKeeping)
        feed.store.permission.signal()
        feed.store.permission.signal()
        await feed.waitUntilKept()
        #expect(feed.store.saved == ["record 1", "record 3"])
    }

    @Test("a new key is reported once it is saved, and no older record overtakes it")
    func keysAreKeptFirst() async throws {
        let feed = try Feed(Self.known)
        defer { feed.loop.stop() }
        var renewed = Self.configured(3)
        renewed.localKey = LongTermKey(key: Key128(rawValue: 7))
        let told = await feed.deliver([
            .bondChanged(Self.configured(1)), .bondChanged(Self.configured(2)), .bondChanged(renewed), .stopped,
        ])
        #expect(told == ["record 1", "record 2"])
        feed.store.permission.signal()
        feed.store.permission.signal()
        await feed.waitUntilKept()
        #expect(await feed.told == ["record 1", "record 2", "record 3 with a key", "stopped"])
        #expect(feed.store.saved == ["record 1", "record 3 with a key"])
    }

    /// The known bond after so many signed writes of its device.
    private static func signed(_ count: UInt32) -> Bond {
        var bond = known
        bond.peerSigningKey = SigningKey(key: Key128(rawValue: 9), counter: count)
        return bond
    }

    @Test("signed writes that gather while the store saves one are saved with one change")
    func signedWritesGather() async throws {
        let feed = try Feed(Self.signed(0))
        defer { feed.loop.stop() }
        // Each number comes before the write that it belongs to.
        var writes: [HostEvent] = []
        for number in 1...UInt32(300) {
            writes.append(.bondChanged(Self.signed(number)))
            writes.append(.recovering(.reset))
        }
        writes.append(.stopped)
        #expect(await feed.deliver(Array(writes[..<2])).isEmpty)
        #expect(await feed.deliver(Array(writes[2...])).isEmpty)
        for _ in 0..<2 { feed.store.permission.signal() }
        while await feed.told.last != "stopped" { await feed.waitUntilKept() }
        // Two changes of the store for 300 writes, none of which was told before its number was kept.
        #expect(feed.store.saved == ["record 0 signed 1", "record 0 signed 300"])
        let told = await feed.told
        #expect(told.count == 303)
        let first: [String] = Array(told.prefix(3))
        #expect(first == ["record 0 signed 1", "another", "record 0 signed 300"])
        #expect(told.last == "stopped")
    }

    @Test("another change of a bond, and the bonds of others, keep their order among signed writes")
    func signedWritesAndKeys() async throws {
        let feed = try Feed(Self.signed(0))
        defer { feed.loop.stop() }
        var renewed = Self.signed(2)
        renewed.localKey = LongTermKey(key: Key128(rawValue: 7))
        var later = renewed
        later.peerSigningKey?.counter = 3
        #expect(
            await feed.deliver([
                .bondChanged(Self.signed(1)), .bondChanged(Self.signed(2)), .bondChanged(renewed), .bondChanged(later),
            ]).isEmpty)
        for _ in 0..<4 { feed.store.permission.signal() }
        while await feed.told.count < 3 { await feed.waitUntilKept() }
        // The first may have been kept with the second; the key is a change of its own.
        let expected: [String] = ["record 0 signed 2", "record 0 with a key signed 2", "record 0 with a key signed 3"]
        let saved: [String] = feed.store.saved.suffix(3)
        #expect(saved == expected)
    }

    @Test("a record that could not be saved is reported again, with the reason")
    func failure() async throws {
        let feed = try Feed(Self.known, error: .busy(path: "lock"))
        defer { feed.loop.stop() }
        #expect(await feed.deliver([.bondChanged(Self.configured(1))]) == ["record 1"])
        feed.store.permission.signal()
        await feed.waitUntilKept()
        #expect(await feed.told == ["record 1", "record 1 (busy)"])
    }
}

/// A keeper on a loop of its own, with an engine that has told certain events.
private final class Feed: Sendable {
    let loop: EventLoop
    let store: GatedStore
    // Touched on the loop alone.
    private nonisolated(unsafe) let keeper: BondKeeper
    private nonisolated(unsafe) var untold: ArraySlice<HostEvent> = []
    private nonisolated(unsafe) var heard: [String] = []
    private let kept = AsyncStream<Void>.makeStream()

    init(_ bond: Bond, error: BondStoreError? = nil) throws {
        store = GatedStore(bond, error: error)
        loop = try EventLoop(name: "keeper")
        var configuration = HostConfiguration()
        unsafe keeper = try BondKeeper(store, into: &configuration, on: loop)
        unsafe keeper.onKept = { [unowned self] in
            drain()
            if unsafe !keeper.isKeeping { kept.continuation.yield() }
        }
        try loop.start()
    }

    /// Texts of all that was told.
    var told: [String] { get async { await onLoop { unsafe $0.heard } } }
    var isKeeping: Bool { get async { await onLoop { unsafe $0.keeper.isKeeping } } }

    func deliver(_ events: [HostEvent]) async -> [String] {
        await onLoop {
            unsafe $0.untold += events
            $0.drain()
            return unsafe $0.heard
        }
    }

    func waitUntilKept() async {
        for await _ in kept.stream { return }
    }

    private func drain() {
        while let event = unsafe keeper.nextEvent({ unsafe untold.popFirst() }) {
            let isBusy = unsafe keeper.takeStoreError() != nil
            unsafe heard.append(event.text + (isBusy ? " (busy)" : ""))
        }
    }

    private func onLoop<Value: Sendable>(_ body: @escaping @Sendable (Feed) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            loop.run { continuation.resume(returning: body(self)) }
        }
    }
}

/// A store with one bond that keeps each change only when it is allowed to.
private final class GatedStore: BondStore {
    let permission = DispatchSemaphore(value: 0)
    private let bond: Bond
    private let error: BondStoreError?
    private let texts = Mutex<[String]>([])

    var saved: [String] { texts.withLock { $0 } }

    init(_ bond: Bond, error: BondStoreError?) {
        self.bond = bond
        self.error = error
    }

    func load() throws(BondStoreError) -> StoredBonds {
        StoredBonds(bonds: [bond], identityResolvingKey: Key128(rawValue: 7))
    }

    func save(_ bond: Bond) throws(BondStoreError) {
        permission.wait()
        if let error { throw error }
        texts.withLock { $0.append(HostEvent.bondChanged(bond).text) }
    }

    func remove(_ identity: DeviceAddress) throws(BondStoreError) -> Bool { true }
}

extension HostEvent {
    fileprivate var text: String {
        switch self {
        case .bondChanged(let bond):
            "record \(bond.clientRecord?.features ?? 0)" + (bond.localKey == nil ? "" : " with a key")
                + (bond.peerSigningKey.map { " signed \($0.counter)" } ?? "")
        case .stopped: "stopped"
        default: "another"
        }
    }
}
