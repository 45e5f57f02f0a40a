import BLEHost
import BLEPackets

/// An advertising set that this app has started, and what happens to it, as a sequence.
///
///     var request = AdvertisingSetRequest(data: advertisement)
///     request.primaryPHY = .leCoded
///     request.secondaryPHY = .leCoded
///     let set = try await adapter.advertiseSet(request)
///     for try await event in set { print(event) }
///
/// The set is advertised until the sequence and its iterator are gone, the task of the loop is cancelled, or its
/// duration is over; in this case the sequence ends.
public struct AdvertisingSet: AsyncSequence, Sendable {
    public typealias Element = AdvertisingSetEvent

    /// The number of events that can wait; beyond it the oldest are dropped.
    public static let capacity = 64

    let adapter: Adapter
    let operation: OperationID
    let stream: BoundedStream<AdvertisingSetEvent>

    /// Changes the set. It keeps running if only data change, at most 251 octets each.
    /// - Throws: `BLEError.invalidRequest`, and `BLEError.cancelled` if the set is no longer advertised.
    public func change(to request: AdvertisingSetRequest) async throws {
        _ = try await adapter.result(of: .radio(.changeAdvertisingSet(operation, request)))
    }

    /// Stops advertising; the sequence ends.
    public func stop() async { await adapter.endSequence(operation) }

    /// Tells the peer of a link how to follow the periodic advertising of this set (Core 5.4, Vol 3, Part C, 9.5.5).
    /// - Parameter serviceData: a number for the peer's host.
    /// - Throws: `BLEError.notConnected`, or the controller's error.
    public func transferTrain(to link: LinkID, serviceData: UInt16 = 0) async throws {
        _ = try await adapter.result(of: .radio(.transferTrain(operation, to: link, serviceData: serviceData)))
    }

    /// Create only one iterator: a second one would take events from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeIterator()) }

    /// Returns the events in their order until the set is no longer advertised.
    public struct Iterator: AsyncIteratorProtocol {
        var base: BoundedStream<AdvertisingSetEvent>.Iterator

        /// - Throws: `BLEError` when the controller refuses the set or the adapter is lost.
        public mutating func next() async throws(BLEError) -> AdvertisingSetEvent? { try await base.next() }
    }
}

/// Periodic advertising that this app follows, as a sequence of reports.
///
///     let train = try await adapter.follow(TrainRequest([.init(address: sensor, identifier: 1)]))
///     for try await case .report(let report) in train { print(report.data) }
///
/// The train is followed until the sequence and its iterator are gone or the task of the loop is cancelled.
public struct Train: AsyncSequence, Sendable {
    public typealias Element = TrainEvent

    /// The number of events that can wait, with 1 MiB in all; beyond that the oldest are dropped.
    public static let capacity = 1024

    let adapter: Adapter
    let operation: OperationID
    let stream: BoundedStream<TrainEvent>
    let dropped: DropCounter

    /// Events that were dropped because they were not consumed in time.
    public var droppedCount: Int { dropped.value }

    /// Stops following; the sequence ends.
    public func stop() async { await adapter.endSequence(operation) }

    /// Tells the peer of a link how to follow this train, too (Core 5.4, Vol 3, Part C, 9.5.5).
    /// - Parameter serviceData: a number for the peer's host.
    /// - Throws: `BLEError.notConnected`; `BLEError.invalidRequest` while the train is not found; the controller's error.
    public func transfer(to link: LinkID, serviceData: UInt16 = 0) async throws {
        _ = try await adapter.result(of: .radio(.transferTrain(operation, to: link, serviceData: serviceData)))
    }

    /// Create only one iterator: a second one would take events from the first.
    public func makeAsyncIterator() -> Iterator { Iterator(base: stream.makeIterator()) }

    /// Returns the events in their order until the train is no longer followed.
    public struct Iterator: AsyncIteratorProtocol {
        var base: BoundedStream<TrainEvent>.Iterator

        /// - Throws: `BLEError` when the controller cannot follow the train or the adapter is lost.
        public mutating func next() async throws(BLEError) -> TrainEvent? { try await base.next() }
    }
}
