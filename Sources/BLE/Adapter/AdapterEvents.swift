import BLEHost
import BLEPackets

/// Changes of the controller and its links. Most are not requested here: the peer or one of the controllers caused
/// them.
public enum AdapterEvent: Equatable, Sendable {
    /// The controller failed and is being recovered, first by a reset, then by reopening the transport. Links are lost;
    /// scans, advertising and pending connections continue after `ready`.
    case recovering(RecoveryStep)
    /// The controller can be used again.
    case ready(ControllerInformation)
    /// The parameters of a link in either role changed.
    case connectionParametersChanged(LinkID, ConnectionParameters)
    /// The PHYs of a link in either role were negotiated.
    case phyChanged(LinkID, transmit: PHY, receive: PHY)
    /// A link in either role uses another share of its connection events.
    case subrateChanged(LinkID, LinkSubrate)
    /// What was measured on a link in either role, or is missing on it. Requested with
    /// `Adapter.reportTransmitPower(_:local:remote:)`, `monitorPathLoss(_:zones:)` and
    /// `setAuthenticatedPayloadTimeout(_:for:)`.
    case linkReport(LinkID, LinkReport)
    /// The longest packets of a link in either role changed.
    case dataLengthChanged(LinkID, DataLength)
    /// A device with a bonded address sent unencrypted data that only the bonded device may send; the data was dropped.
    /// Reported once per link. Either the device has lost its half of the bond, or another device uses its address.
    case cleartextRefused(LinkID, DeviceAddress)
}

/// The events of an adapter, as a sequence. They are collected from the creation of the sequence on. A sequence can be
/// iterated once.
public struct AdapterEvents: AsyncSequence, Sendable {
    public typealias Element = AdapterEvent

    /// The number of events that can wait; beyond it the oldest are dropped.
    public static let capacity = 1024

    let stream: AsyncThrowingStream<AdapterEvent, any Error>

    /// Create only one iterator: a second one would take events from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeAsyncIterator()) }

    /// Returns the events in their order until the adapter is lost or closed.
    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncThrowingStream<AdapterEvent, any Error>.Iterator

        /// - Throws: `BLEError` when the adapter is lost or closed.
        public mutating func next() async throws(BLEError) -> AdapterEvent? {
            // Nothing else ends the sequence: see `Source.end`.
            do { return try await base.next() } catch { throw error as? BLEError ?? .closed }
        }
    }

    /// Receives the adapter's events.
    struct Source: Observer {
        let continuation: AsyncThrowingStream<AdapterEvent, any Error>.Continuation

        func deliver(_ event: AdapterEvent) -> Bool {
            continuation.yield(event)
            return true
        }

        func end(with error: BLEError) { continuation.finish(throwing: error) }
    }
}

extension Adapter {
    /// Starts collecting events of the controller and its links.
    ///
    ///     let events = await adapter.events()
    ///     let peripheral = try await adapter.connect(to: address)
    ///     for try await case .phyChanged(peripheral.link, let transmit, _) in events { … }
    public func events() -> AdapterEvents {
        let (stream, continuation) = AsyncThrowingStream<AdapterEvent, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(AdapterEvents.capacity))
        let token = addObserver(AdapterEvents.Source(continuation: continuation))
        continuation.onTermination = { _ in Task { await self.removeObserver(token) } }
        return AdapterEvents(stream: stream)
    }
}
