import BLE

/// Values that a device sends by itself, kept until somebody waits for them.
///
/// What comes between `subscribe` and `wait` is not lost; beyond the capacity the oldest are, and are counted.
actor ValueMailbox {
    struct Arrival: Sendable {
        var characteristic: Characteristic
        var value: Notifications.Value
    }

    private enum Event: Sendable {
        case arrival(Arrival)
        /// The device declared the characteristic void (Core 5.4, Vol 3, Part G, 7.1).
        case voided(Characteristic)
        case ended(Failure)
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
    private var end: Failure?

    init(_ peripheral: Peripheral) {
        (stream, continuation) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(Self.capacity))
        let continuation = continuation
        tasks.append(
            Task {
                guard let reason = try? await peripheral.waitForDisconnection() else { return }
                continuation.yield(.ended(Failure(AdapterError.host(.linkLost(reason)))))
            })
    }

    deinit {
        for task in tasks { task.cancel() }
        for task in subscriptions.values { task.cancel() }
        continuation.finish()
    }

    /// Whether the values of a characteristic come here already.
    func collects(_ characteristic: Characteristic) -> Bool { handles.contains(characteristic.valueHandle) }

    /// Takes everything that comes of a subscription.
    func collect(_ notifications: Notifications, of characteristic: Characteristic) {
        handles.insert(characteristic.valueHandle)
        let continuation = continuation
        subscriptions[characteristic.valueHandle] =
            Task {
                do {
                    for try await value in notifications {
                        continuation.yield(.arrival(Arrival(characteristic: characteristic, value: value)))
                    }
                } catch AdapterError.host(.gatt(.notSubscribed)) {
                    continuation.yield(.voided(characteristic))
                } catch {
                    // The end of the link is told once, by the link itself.
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

    /// Asks the device to tell when its services change, once: one that has no way to tell never changes them.
    func watchChanges(of peripheral: Peripheral) async {
        guard !isWatchingChanges else { return }
        isWatchingChanges = true
        guard let changes = try? await peripheral.serviceChanges() else { return }
        // The engine acts on what comes: it is only to be kept coming.
        tasks.append(Task { do { for try await _ in changes {} } catch {} })
    }

    /// Hands over what came and comes.
    /// - Parameters:
    ///   - count: ends after so many; `nil`: no limit.
    ///   - duration: ends after so long; `nil`: no limit.
    ///   - renew: subscribes again to what the device declared void.
    /// - Throws: what `renew` throws, and `Failure` when the link ends, and when the time is over or the task is cancelled before `count` is
    ///   reached.
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
            case .ended(let failure):
                end = failure
                throw failure
            case .timeOver(let number) where number == waitCount:
                guard let count, let duration else { return }
                throw Failure("\(taken) of \(count) values arrived within \(duration.secondsText) s", code: .timeout)
            case .timeOver: break
            }
        }
        // Whoever asked for no number got what there was.
        if count != nil { throw Failure.interrupted }
    }
}
