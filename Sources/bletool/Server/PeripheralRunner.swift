import BLE
import Synchronization

/// Advertises, and serves a profile if there is one, until it is cancelled, its time is over, or the adapter is lost.
///
/// All events go through one queue and are handled in turn, so that values are sent in the order in which they were
/// written.
struct PeripheralRunner: Sendable {
    private enum Input: Sendable {
        case event(ServerEvent)
        case tick(AttributeHandle)
    }

    private let adapter: Adapter
    private let console: Console
    private let request: AdvertiseRequest?
    private let packed: PackedAdvertisement
    private let sets: [AdvertisingSetRequest]
    private let transfersTrains: Bool
    private let duration: Duration?

    /// - Parameters:
    ///   - request: the advertisement that all clients of the controller share; `nil` for none.
    ///   - transfersTrains: whether the trains of the sets are transferred to each device that connects.
    ///   - duration: how long at most; `nil`: no limit.
    init(
        _ adapter: Adapter, console: Console, request: AdvertiseRequest?, packed: PackedAdvertisement,
        sets: [AdvertisingSetRequest] = [], transfersTrains: Bool = false, duration: Duration? = nil
    ) {
        self.duration = duration
        self.sets = sets
        self.transfersTrains = transfersTrains
        self.adapter = adapter
        self.console = console
        self.request = request
        self.packed = packed
    }

    /// - Throws: `BLEError` when the adapter is lost, or refuses to publish or to advertise.
    func run(_ profile: ServedProfile?) async throws {
        let events = await adapter.serverEvents()
        var values = ServedValues()
        let timers = try await publish(profile, into: &values)
        let (inputs, queue) = AsyncStream<Input>.makeStream()
        let waitingTicks = WaitingTicks()
        let (dealtWith, eventIsDealtWith) = AsyncStream<Void>.makeStream()
        let state = ServingState(
            adapter: adapter,
            log: PeripheralLog(
                console: console, target: request?.target, isConnectable: request?.isConnectable ?? true),
            values: values,
            packed: packed)
        let (adapter, request) = (adapter, request)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                // One at a time: waiting events are in a bounded queue.
                var dealtWith = dealtWith.makeAsyncIterator()
                for try await event in events {
                    queue.yield(.event(event))
                    await dealtWith.next()
                }
                if !Task.isCancelled { throw BLEError.closed }
            }
            if let request {
                group.addTask {
                    do { try await adapter.advertise(request) } catch {
                        if !Task.isCancelled { throw error }
                    }
                }
            }
            let (sets, isAlone) = (
                AdvertisingSetRunner(
                    adapter: adapter, console: console, requests: sets, transfersTrains: transfersTrains),
                request == nil
            )
            if !sets.requests.isEmpty {
                group.addTask {
                    try await sets.run()
                    // Nothing is left to do.
                    if isAlone, profile == nil { throw CancellationError() }
                }
            }
            if let duration {
                group.addTask {
                    try await Task.sleep(for: duration)
                    throw CancellationError()
                }
            }
            for (handle, interval) in timers {
                group.addTask {
                    while !Task.isCancelled {
                        try? await Task.sleep(for: interval)
                        if waitingTicks.insert(handle) { queue.yield(.tick(handle)) }
                    }
                }
            }
            group.addTask {
                var state = state
                for await input in inputs {
                    switch input {
                    case .event(let event):
                        await state.receive(event)
                        eventIsDealtWith.yield()
                    case .tick(let handle):
                        waitingTicks.remove(handle)
                        await state.tick(handle)
                    }
                }
            }
            // The first that fails ends all; `waitForAll` would wait for the others.
            do { while try await group.next() != nil {} } catch is CancellationError { group.cancelAll() }
        }
    }

    /// - Returns: which values are sent again and again, and how often.
    private func publish(
        _ profile: ServedProfile?, into values: inout ServedValues
    ) async throws -> [(AttributeHandle, Duration)] {
        var timers: [(AttributeHandle, Duration)] = []
        var places: [BluetoothUUID: AttributeHandle] = [:]
        for service in profile?.services ?? [] {
            let included = service.includes.compactMap { places[$0] }
            let published = try await adapter.publish(service.definition(including: included))
            // Of several with one UUID, the first is included.
            places[service.uuid] = places[service.uuid] ?? published.range.first
            for (characteristic, place) in zip(service.characteristics, published.characteristics) {
                values[place.valueHandle] = ServedValues.Entry(
                    uuid: characteristic.uuid, octets: characteristic.value,
                    isSent: characteristic.isNotifying || characteristic.isBroadcast,
                    answerAfter: characteristic.answerAfter)
                if characteristic.isBroadcast { await adapter.updateValue(characteristic.value, of: place.valueHandle) }
                if let interval = characteristic.notifyEvery { timers.append((place.valueHandle, interval)) }
            }
        }
        return timers
    }

    /// Values that are due and have not been sent: at most one tick waits for each.
    private final class WaitingTicks: Sendable {
        private let handles = Mutex<Set<AttributeHandle>>([])

        /// - Returns: whether none waited.
        func insert(_ handle: AttributeHandle) -> Bool { handles.withLock { $0.insert(handle).inserted } }
        func remove(_ handle: AttributeHandle) { handles.withLock { _ = $0.remove(handle) } }
    }
}
