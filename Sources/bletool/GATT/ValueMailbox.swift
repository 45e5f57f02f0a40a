import BLE

/// Notified and indicated values, kept until a step waits for them.
///
/// Values between `subscribe` and `wait` are not lost; beyond the capacity the oldest are dropped and counted.
actor ValueMailbox {
    struct Arrival: Sendable {
        var characteristic: Characteristic
        var value: Notifications.Value
    }

    private enum Event: Sendable {
        case arrival(Arrival)
        /// The device has invalidated the characteristic (Core 5.4, Vol 3, Part G, 7.1).
        case voided(Characteristic)
        case ended(any Error)
        case timeOver(Int)
    }

    private static let capacity = 65536

    private let stream: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private var tasks: [Task<Void, Never>] = []
    private var handles: Set<AttributeHandle> = []
    private var subscriptions: [AttributeHandle: Task<Void, Never>] = [:]
    private var isWatchingChanges = false
    private var waitCount = 0
    private var end: (any Error)?

    init(_ peripheral: Peripheral) {
        (stream, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(Self.capacity))
        let continuation = continuation
        tasks.append(
            Task {
                guard let reason = try? await peripheral.waitForDisconnection() else { return }
                let error = BLEError.linkLost(reason)
                // Also where this side ended it: for the one who waits, the link is gone.
                continuation.yield(
                    .ended(reason == .controllerLost ? error : Failure(error.description, code: .linkLost)))
            })
    }

    deinit {
        for task in tasks { task.cancel() }
        for task in subscriptions.values { task.cancel() }
        continuation.finish()
    }

    /// Whether the values of a characteristic are collected already.
    func collects(_ characteristic: Characteristic) -> Bool { handles.contains(characteristic.valueHandle) }

    /// Collects all values of a subscription.
    func collect(_ notifications: Notifications, of characteristic: Characteristic) {
        handles.insert(characteristic.valueHandle)
        let continuation = continuation
        subscriptions[characteristic.valueHandle] =
            Task {
                do {
                    for try await value in notifications {
                        continuation.yield(.arrival(Arrival(characteristic: characteristic, value: value)))
                    }
                } catch BLEError.notSubscribed {
                    continuation.yield(.voided(characteristic))
                } catch {
                    // The link itself reports its end, once.
                }
            }
    }

    /// Ends a subscription.
    /// - Returns: `false` where there is none.
    func drop(_ characteristic: Characteristic) -> Bool {
        guard handles.remove(characteristic.valueHandle) != nil else { return false }
        subscriptions.removeValue(forKey: characteristic.valueHandle)?.cancel()
        return true
    }

    /// Subscribes to Service Changed, once: a device without it never changes its services.
    func watchChanges(of peripheral: Peripheral) async {
        guard !isWatchingChanges else { return }
        isWatchingChanges = true
        guard let changes = try? await peripheral.serviceChanges() else { return }
        // The engine handles the values; the sequence only keeps the subscription.
        tasks.append(Task { do { for try await _ in changes {} } catch {} })
    }

    /// Delivers the collected and the following values.
    /// - Parameters:
    ///   - count: ends after this many; `nil` for no limit.
    ///   - duration: ends after this time; `nil` for no limit.
    ///   - renew: subscribes again to an invalidated characteristic.
    /// - Throws: the errors of `renew`, and an error when the link ends, and `Failure` when the time is over or the task is
    ///   cancelled before `count` is reached.
    func wait(
        count: Int?, duration: Duration?, renew: @Sendable (Characteristic) async throws -> Void,
        _ take: @Sendable (Arrival) -> Void
    ) async throws {
        if let end { throw end }
        waitCount += 1
        let number = waitCount
        let timer = duration.map { [continuation] duration in
            Task {
                try await Task.sleep(for: duration)
                continuation.yield(.timeOver(number))
            }
        }
        defer { timer?.cancel() }
        var taken = 0
        for await event in stream {
            switch event {
            case .arrival(let arrival):
                take(arrival)
                taken += 1
                if taken == count { return }
            case .voided(let characteristic):
                handles.remove(characteristic.valueHandle)
                try await renew(characteristic)
            case .ended(let error):
                end = error
                throw error
            case .timeOver(let number) where number == waitCount:
                guard let count, let duration else { return }
                throw Failure("\(taken) of \(count) values arrived within \(duration.secondsText) s", code: .timeout)
            case .timeOver: break
            }
        }
        // Without a count, any number of values is enough.
        if count != nil { throw Failure.interrupted }
    }
}
