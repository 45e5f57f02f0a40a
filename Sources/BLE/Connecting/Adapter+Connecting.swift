import BLEHost
import BLEPackets
import BLEText
import Synchronization

extension Adapter {
    /// Connects to a device by its address; for a bonded device, its identity address is enough.
    /// - Parameter timeout: how long the device may take to come into range; `nil` waits without limit (SPEC CEN-9).
    /// - Throws: `BLEError.timedOut`, and the errors of `connect(to:)` without a limit.
    nonisolated public func connect(to peer: DeviceAddress, timeout: Duration?) async throws -> Peripheral {
        try await withTimeout(timeout) { try await self.connect(to: peer) }
    }

    /// Connects to a device that was discovered.
    /// - Throws: `BLEError.noAddress` for an anonymous advertisement, and the errors of `connect(to:timeout:)`.
    nonisolated public func connect(
        to discovery: Discovery, timeout: Duration? = nil
    ) async throws -> Peripheral {
        guard let address = discovery.address else { throw BLEError.noAddress }
        return try await connect(to: address, timeout: timeout)
    }

    /// Scans for a connectable device with this name, and connects to it.
    /// - Parameters:
    ///   - name: the complete or the shortened name that the device advertises.
    ///   - timeout: for the search and the connection together; `nil` waits without limit.
    /// - Throws: `BLEError.nameNotHeard` with the names of those that advertised instead, the errors of
    ///   `connect(to:timeout:)` and of a scan.
    nonisolated public func connect(
        to name: String, timeout: Duration? = nil
    ) async throws -> Peripheral {
        let search = NameSearch(for: name)
        // A search without a limit needs no name of other devices, so nothing wakes it for them.
        let request = ScanRequest(name: timeout == nil ? name : nil)
        do {
            return try await withTimeout(timeout) {
                for try await discovery in self.scan(request) where search.finds(discovery) {
                    guard discovery.isConnectable, let address = discovery.address else { continue }
                    return try await self.connect(to: address)
                }
                // Only the end of its task ends a scan without an error.
                throw CancellationError()
            }
        } catch BLEError.timedOut(let limit) {
            throw search.others.map { BLEError.nameNotHeard(name, within: limit, heard: $0) }
                ?? BLEError.timedOut(limit)
        }
    }

    // MARK: Links that end by themselves

    /// Connects to a device, calls `body`, and disconnects, even if `body` throws.
    ///
    ///     let level = try await adapter.withConnection(to: address, timeout: .seconds(10)) { sensor in
    ///         try await sensor.read(sensor.findCharacteristic(.batteryLevel))
    ///     }
    /// - Throws: the errors of `connect(to:timeout:)`, and the error of `body`.
    nonisolated public func withConnection<Value: Sendable>(
        to peer: DeviceAddress, timeout: Duration? = nil, _ body: @Sendable (Peripheral) async throws -> Value
    ) async throws -> Value {
        try await work(with: try await connect(to: peer, timeout: timeout), body)
    }

    /// Like `withConnection(to:timeout:_:)` with an address, for a discovered device.
    nonisolated public func withConnection<Value: Sendable>(
        to discovery: Discovery, timeout: Duration? = nil, _ body: @Sendable (Peripheral) async throws -> Value
    ) async throws -> Value {
        try await work(with: try await connect(to: discovery, timeout: timeout), body)
    }

    /// Like `withConnection(to:timeout:_:)` with an address, for the device with this name.
    nonisolated public func withConnection<Value: Sendable>(
        to name: String, timeout: Duration? = nil, _ body: @Sendable (Peripheral) async throws -> Value
    ) async throws -> Value {
        try await work(with: try await connect(to: name, timeout: timeout), body)
    }

    nonisolated private func work<Value: Sendable>(
        with peripheral: Peripheral, _ body: @Sendable (Peripheral) async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await body(peripheral)
            await release(peripheral)
            return value
        } catch {
            await release(peripheral)
            throw error
        }
    }

    /// Disconnects, even if the task is cancelled; does nothing if the link has ended.
    nonisolated func release(_ peripheral: Peripheral) async {
        await Task { _ = try? await peripheral.disconnect() }.value
    }

    // MARK: Timeouts

    /// Cancels an operation after this time.
    nonisolated func withTimeout<Value: Sendable>(
        _ limit: Duration?, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let limit else { return try await body() }
        let work = Task { try await body() }
        let flag = TimeoutFlag()
        let timer = Task {
            do { try await sleep(for: limit) } catch { return }
            flag.isOver.store(true, ordering: .relaxed)
            work.cancel()
        }
        let result = await withTaskCancellationHandler {
            await work.result
        } onCancel: {
            work.cancel()
        }
        timer.cancel()
        // An operation that succeeded at the last moment counts as a success.
        if case .failure = result, flag.isOver.load(ordering: .relaxed) { throw BLEError.timedOut(limit) }
        return try result.get()
    }
}

private final class TimeoutFlag: Sendable {
    let isOver = Atomic(false)
}

/// Looks for a device by its name, and remembers the names of the others that advertise.
private final class NameSearch: Sendable {
    private let name: String
    private let state: Mutex<(isFound: Bool, others: HeardNames)>

    init(for name: String) {
        self.name = Self.withoutPadding(name)
        state = Mutex((false, HeardNames(near: name)))
    }

    /// Whether the device has the name.
    func finds(_ discovery: Discovery) -> Bool {
        guard let heard = discovery.advertisingData.localNameWithoutPadding else { return false }
        return state.withLock { state in
            guard Self.withoutPadding(heard) != name else {
                state.isFound = true
                return true
            }
            state.others.add(heard)
            return false
        }
    }

    /// Without the spaces and zeros at the end, as in a scan for a name.
    private static func withoutPadding(_ name: String) -> String {
        var octets = Array(name.utf8)
        while octets.last == 0 || octets.last == UInt8(ascii: " ") { octets.removeLast() }
        return String(decoding: octets, as: UTF8.self)
    }

    /// The names that were received; `nil` if the one that was looked for is among them.
    var others: [String]? { state.withLock { $0.isFound ? nil : $0.others.names } }
}
