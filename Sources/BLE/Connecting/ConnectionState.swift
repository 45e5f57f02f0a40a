import BLEHost
import BLEPackets

/// The state of a connection that is established again whenever it is lost.
public enum ConnectionState: Sendable {
    /// The adapter waits for the device, without a time limit. The first attempt is number 1.
    case connecting(attempt: Int)
    /// The device can be used. Earlier `Peripheral` values for it, with their services and subscriptions, are no longer
    /// valid.
    case connected(Peripheral)
    /// The link has ended. Another attempt follows, unless this side ended it: then the sequence ends.
    case disconnected(DisconnectionReason)
    /// An attempt failed; another one follows after a pause.
    case failed(BLEError)
}

extension ConnectionState: CustomStringConvertible {
    public var description: String {
        switch self {
        case .connecting(let attempt): attempt == 1 ? "connecting" : "connecting, attempt \(attempt)"
        case .connected(let peripheral): "connected to \(peripheral.address)"
        case .disconnected(let reason): "disconnected: \(reason)"
        case .failed(let error): "failed: \(error)"
        }
    }
}

extension Adapter {
    /// Connects to a device and connects again whenever the link is lost, until the loop ends.
    ///
    ///     for await state in adapter.reconnecting(to: address) {
    ///         if case .connected(let sensor) = state { try await subscribe(to: sensor) }
    ///     }
    ///
    /// The sequence ends when this side disconnects, when its task is cancelled, or with the adapter. Leaving the loop
    /// disconnects.
    /// - Parameter pause: the shortest and the longest pause after a failed attempt; it doubles with each further
    ///   failure. Waiting for the device is not a failure.
    nonisolated public func reconnecting(
        to peer: DeviceAddress, pause: ClosedRange<Duration> = Duration.seconds(1)...Duration.seconds(60)
    ) -> AsyncStream<ConnectionState> {
        let (states, continuation) = AsyncStream<ConnectionState>.makeStream()
        let work = Task {
            await self.stayConnected(to: peer, pause: pause) { continuation.yield($0) }
            continuation.finish()
        }
        continuation.onTermination = { _ in work.cancel() }
        return states
    }

    nonisolated private func stayConnected(
        to peer: DeviceAddress, pause: ClosedRange<Duration>, _ report: @escaping @Sendable (ConnectionState) -> Void
    ) async {
        var attempt = 0
        var wait = pause.lowerBound
        while !Task.isCancelled {
            attempt += 1
            report(.connecting(attempt: attempt))
            do {
                let peripheral = try await connect(to: peer)
                (attempt, wait) = (0, pause.lowerBound)
                do {
                    // The receiver may end the link at once; the reason must not be missed.
                    let reason = try await peripheral.waitForDisconnection { report(.connected(peripheral)) }
                    report(.disconnected(reason))
                    if reason == .releasedByClient { return }
                } catch {
                    // The caller has left the loop.
                    return await release(peripheral)
                }
            } catch let error as BLEError {
                report(.failed(error))
                guard error.allowsRetry else { return }
                do { try await sleep(for: wait) } catch { return }
                wait = min(wait * 2, pause.upperBound)
            } catch {
                // Nothing else is thrown but the cancellation of the task.
                return
            }
        }
    }
}
